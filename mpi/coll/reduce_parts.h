/* SPDX-License-Identifier: MIT
 *
 * Operands that are laid beside signs part by part.
 */
#ifndef MPI_COLL_REDUCE_PARTS_H
#define MPI_COLL_REDUCE_PARTS_H

#include <mpi/coll/signs.h>

struct parts {
	struct operation op;
	MPI_Count left;			/* elements after this part */
	MPI_Count count;		/* of this part */
	size_t bytes;
	const char *in;			/* own operand, and where the result goes; the same if in place */
	char *out;
};

/* Operands that may be copied as bytes, elements that are not too large? The same answer on all ranks. */
bool mpi_parts_fit(const struct mpi_rank *self, const struct collective *k);

void mpi_parts_begin(struct parts *p, struct mpi_rank *self, const struct collective *k);

/* Go on to the next part; false: that was the last one. */
bool mpi_parts_next(struct parts *p, const struct signs *g);

/* Bytes of an operand. */
size_t mpi_parts_bytes(const struct collective *k);

/*
 * to = elements first .. first + count - 1 of all ranks, combined in the order of the ranks. All
 * others have shown the round; the own operand is read where it was, so that `to` must not lie in
 * it.
 */
void mpi_parts_combine(const struct signs *g, const struct parts *p, char *to, MPI_Count first, MPI_Count count);

#endif
