/* SPDX-License-Identifier: MIT
 *
 * The fast path of central barriers: barriers, and allreduces of a few bytes, of many ranks that
 * share cores. What a rank needs for one lies side by side in its communicator, and it runs through
 * as little of its own code as can be: every rank has a copy of the library at addresses of its
 * own, so that each line, page and branch of it is one more for every rank that shares the core.
 *
 * They are central barriers like others (central.h); ranks that come the ordinary way take part in
 * them (central_coll.c). Operands lie side by side, those of ranks that share a core on lines that
 * do not leave it, and what comes out lies beside the word that releases the ranks.
 */
#ifndef MPI_COLL_CENTRAL_FAST_H
#define MPI_COLL_CENTRAL_FAST_H

#include <mpi/coll/locality.h>

/*
 * The calling rank has been at an ordinary central barrier of the communicator: the next ones may
 * be fast, if the table says so.
 */
void mpi_central_fast_cache_topology(struct mpi_rank *self, struct comm *c);

/* The next ones are to be ordinary ones: its hints have changed. */
void mpi_central_fast_forget(struct comm *c);

/*
 * An operation on elements of a type, for the calls that follow. False: they are not both
 * predefined and simple.
 */
bool mpi_central_fast_cache_op(struct central_fast *b, MPI_Datatype datatype, MPI_Op op);

/* If c->fast.barrier says so. */
void mpi_central_fast_barrier(const struct comm *c);

/* Of so many elements of what was learnt, in less than c->fast.below bytes; `in` may be `out`. */
void mpi_central_fast_allreduce(const struct comm *c, const void *in, void *out, size_t count);

/* The releasing rank: combine what lies on the slots, in the order of the ranks. */
void mpi_central_fast_fold(const struct locality *v, const struct operation *op, MPI_Count count,
	size_t bytes);

#endif
