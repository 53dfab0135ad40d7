/* SPDX-License-Identifier: MIT
 *
 * Standard input for all ranks.
 */
#ifndef MPI_EXEC_INPUT_H
#define MPI_EXEC_INPUT_H

/* Start a process that copies our standard input to `count` pipes, which it takes, and ends with the input, its readers or us. */
void input_copy(const int *pipes, int count);

#endif
