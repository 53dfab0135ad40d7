/* SPDX-License-Identifier: MIT
 *
 * Small blocking collectives without messages.
 */
#ifndef MPI_COLL_MEET_COLL_H
#define MPI_COLL_MEET_COLL_H

#include <mpi/coll/coll.h>

#define MEET_BYTES_MAX 4096

/*
 * Do a collective so, if that can be: all ranks come to the same answer. False: it cannot; else its
 * error class in *err.
 */
bool mpi_meet_coll(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err);

#endif
