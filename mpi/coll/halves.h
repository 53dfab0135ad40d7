/* SPDX-License-Identifier: MIT
 *
 * Recursive halving: the operands of a power of two of positions are cut in as many blocks; after
 * it, position i holds the result of block i. Shared by what begins with it (Rabenseifner's
 * algorithms). For operations that commute.
 */
#ifndef MPI_COLL_HALVES_H
#define MPI_COLL_HALVES_H

#include <mpi/coll/coll.h>

struct halves {
	struct span sum;		/* what is combined; all blocks */
	int count;			/* positions: the largest power of two within the ranks */
	int folded;			/* pairs of the first ranks in which the odd one stands for both */
	int position;			/* own, or -1: the partner stands for this rank */
};

/* Blocks first .. first + n - 1 of the whole. */
struct span mpi_halves_blocks(const struct halves *h, int first, int n);

/* The rank at a position. */
int mpi_halves_rank(const struct halves *h, int position);

/* Write the folding and the halving for the operand in `sum`, which is overwritten. */
struct halves mpi_halves_write(struct sched *s, struct span sum);

#endif
