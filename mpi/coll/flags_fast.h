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
#include <mpi/coll/pattern.h>

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

/* mpi_flags_fast_<collective>. True: it is done. */
#define FLAGS_FAST(name, kind) bool mpi_flags_fast_##name(const struct fast_call *s);
FOR_EACH_PATTERN(FLAGS_FAST)

/*
 * A broadcast on the board of started calls, if it can be over at once: none before it is open, and
 * the root finds room, or the others what it has shown. True: it is over, and *request is a request
 * that is done. False: nothing of it has happened.
 */
bool mpi_flags_start_bcast(const struct fast_call *s, MPI_Request *request);

/*
 * Any other that is started and goes by flags (coll/started_coll.c); `k` says the same. True: it
 * has begun, and *request is its request. False: nothing of it has happened.
 */
bool mpi_flags_start(const struct fast_call *s, const struct collective *k, MPI_Request *request);

#endif
