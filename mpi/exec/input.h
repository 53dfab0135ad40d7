/* SPDX-License-Identifier: MIT
 *
 * Standard input for ranks that cannot have ours itself: all of them, or those that are not of our
 * terminal's session.
 */
#ifndef MPI_EXEC_INPUT_H
#define MPI_EXEC_INPUT_H

/*
 * Start a process that copies our standard input to `count` pipes (0: none), which it takes, and
 * ends with the input, its readers or us.
 */
void input_copy(int *pipes, int count);

#endif
