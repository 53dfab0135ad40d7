/* SPDX-License-Identifier: MIT
 *
 * The library is open as long as somebody uses it: the world of MPI_Init, and each session. What
 * was opened stays until the program ends (a message of a peer may be on its way while this rank
 * has no user), so that it can be used again.
 */
#ifndef MPI_API_LIBRARY_H
#define MPI_API_LIBRARY_H

#include <stdbool.h>

struct mpi_rank;

/* One user more, who wants a thread level; what it gets goes to *provided. Error class. */
int library_enter(struct mpi_rank *self, int required, int *provided);

/* One user less. The last one waits until all that this rank has sent is on its way. */
void library_leave(struct mpi_rank *self);

/*
 * Is all that the rank (a struct mpi_rank) has sent on its way, and what the program freed before
 * it was done, too?
 */
bool library_is_quiet(const void *rank);

/* Free everything, if there is no user; for the end of the program. */
void library_close(struct mpi_rank *self);

#endif
