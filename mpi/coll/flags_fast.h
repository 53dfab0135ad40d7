/* SPDX-License-Identifier: MIT
 *
 * The fast path of small blocking collectives among few ranks that work with flags: what
 * coll/flags_coll.c does with data that fits on the line of a flag, in fewer steps. Ranks need not
 * take the same way, as the rounds and what lies on the flags are the same.
 *
 * For calls whose arguments are right and simple: basic types, elements side by side, a
 * communicator of one group whose flags are there already. Whatever is not so is refused, without a
 * trace.
 */
#ifndef MPI_COLL_FLAGS_FAST_H
#define MPI_COLL_FLAGS_FAST_H

#include <mpi/coll/choose.h>
#include <mpi/coll/flags.h>

struct fast_call {
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
bool mpi_flags_fast_barrier(const struct fast_call *s);
bool mpi_flags_fast_bcast(const struct fast_call *s);
bool mpi_flags_fast_gather(const struct fast_call *s);
bool mpi_flags_fast_scatter(const struct fast_call *s);
bool mpi_flags_fast_allgather(const struct fast_call *s);
bool mpi_flags_fast_alltoall(const struct fast_call *s);
bool mpi_flags_fast_reduce(const struct fast_call *s);
bool mpi_flags_fast_allreduce(const struct fast_call *s);
bool mpi_flags_fast_reduce_scatter(const struct fast_call *s);
bool mpi_flags_fast_scan(const struct fast_call *s);
bool mpi_flags_fast_exscan(const struct fast_call *s);

#endif
