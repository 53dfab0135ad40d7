/* SPDX-License-Identifier: MIT
 *
 * The straight way of small blocking collectives among few ranks that work with signs: what
 * coll/signs_coll.c does with data that fits on the line of a sign, in fewer steps. Ranks need not
 * take the same way, as the rounds and what lies on the signs are the same.
 *
 * For calls whose arguments are right and simple: basic types, elements side by side, a
 * communicator of one group whose signs are there already. Whatever is not so is refused, without a
 * trace.
 */
#ifndef MPI_COLL_STRAIGHT_H
#define MPI_COLL_STRAIGHT_H

#include <mpi/coll/choose.h>
#include <mpi/coll/signs.h>

struct straight {
	struct mpi_rank *self;
	struct comm *comm;
	/* what this rank gives; may be `out` where the standard allows it to be in place */
	const char *in;
	char *out;
	size_t bytes;			/* of a block, or of the operand */
	int root;
	/* reductions: elements of the operand, or of a block, and what combines them */
	size_t count;
	void (*loop)(const void *in, void *inout, size_t n);
};

/* True: it is done. */
bool mpi_straight_barrier(const struct straight *s);
bool mpi_straight_bcast(const struct straight *s);
bool mpi_straight_gather(const struct straight *s);
bool mpi_straight_scatter(const struct straight *s);
bool mpi_straight_allgather(const struct straight *s);
bool mpi_straight_alltoall(const struct straight *s);
bool mpi_straight_reduce(const struct straight *s);
bool mpi_straight_allreduce(const struct straight *s);
bool mpi_straight_reduce_scatter(const struct straight *s);
bool mpi_straight_scan(const struct straight *s);
bool mpi_straight_exscan(const struct straight *s);

#endif
