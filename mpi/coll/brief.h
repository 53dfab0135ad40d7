/* SPDX-License-Identifier: MIT
 *
 * Brief meetings: barriers, and allreduces of a few bytes, of many ranks that share cores. What a
 * rank needs for one lies side by side in its communicator, and it runs through as little of its
 * own code as can be: every rank has a copy of the library at addresses of its own, so that each
 * line, page and branch of it is one more for every rank that shares the core.
 *
 * They are meetings like others (meet.h); ranks that come the ordinary way take part in them
 * (meet_coll.c). Operands lie side by side, those of ranks that share a core on lines that do not
 * leave it, and what comes out lies beside the word that opens the doors.
 */
#ifndef MPI_COLL_BRIEF_H
#define MPI_COLL_BRIEF_H

#include <mpi/coll/place.h>

/*
 * The calling rank has been at an ordinary meeting of the communicator: the next ones may be brief,
 * if the table says so.
 */
void mpi_brief_know(struct mpi_rank *self, struct comm *c);

/* The next ones are to be ordinary ones: its hints have changed. */
void mpi_brief_forget(struct comm *c);

/* An operation on elements of a type, for the calls that follow. False: they are not both predefined and simple. */
bool mpi_brief_learn(struct brief *b, MPI_Datatype datatype, MPI_Op op);

/* If c->brief.barrier says so. */
void mpi_brief_barrier(const struct comm *c);

/* Of so many elements of what was learnt, in less than c->brief.below bytes; `in` may be `out`. */
void mpi_brief_allreduce(const struct comm *c, const void *in, void *out, size_t count);

/* The one that opens: combine what lies on the seats, in the order of the ranks. */
void mpi_brief_fold(const struct venue *v, const struct operation *op, MPI_Count count, size_t bytes);

#endif
