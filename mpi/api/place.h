/* SPDX-License-Identifier: MIT
 *
 * Where the places of a grid go if they may be reordered: a block of neighbours into each cluster, so that as few neighbours as can be talk
 * from cluster to cluster.
 */
#ifndef MPI_API_PLACE_H
#define MPI_API_PLACE_H

#include <mpi/core/rank.h>

/*
 * The group of the first `ranks` members of c in the order of the grid's places; ndims 0: in their own order. All ranks get the same.
 * NULL: no memory.
 */
struct group *place_grid(struct mpi_rank *self, const struct comm *c, int ndims, const int dims[], int ranks);

#endif
