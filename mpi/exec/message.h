/* SPDX-License-Identifier: MIT
 *
 * What mpiexec itself says: one line on stderr.
 */
#ifndef MPI_EXEC_MESSAGE_H
#define MPI_EXEC_MESSAGE_H

struct sink;

/* From now on messages go here, and nobody waits for whoever reads them. */
void message_through(struct sink *s);

void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The command line is wrong: say why, exit with 2. */
void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* The system refuses what mpiexec needs: say what and why, exit with 1. */
void system_error(const char *what) __attribute__((noreturn));

#endif
