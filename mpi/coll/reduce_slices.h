/* SPDX-License-Identifier: MIT
 *
 * Reductions whose operands are read where they lie: each rank combines a slice of all of them.
 */
#ifndef MPI_COLL_REDUCE_SLICES_H
#define MPI_COLL_REDUCE_SLICES_H

#include <mpi/coll/pointers.h>

/* Elements, and where they lie in an operand. */
struct slice {
	MPI_Count count;
	size_t from;
	size_t bytes;
};

/* A rank's share of so many elements. */
struct slice mpi_slice_of(const struct pointers *p, int rank, MPI_Count count, MPI_Count extent);

/*
 * to = a slice of what all have named, combined in the order of the ranks; `to` may be where this
 * rank's or the root's operand has that slice.
 */
void mpi_slice_combine(const struct pointers *p, const struct operation *op, struct slice s, char *to);

/* Where a reduction reads its operand, and may it be read there by others? The same answer on all ranks. */
const char *mpi_slice_operand(const struct collective *k);
bool mpi_slices_fit(const struct collective *k);

#endif
