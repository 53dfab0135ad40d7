/* SPDX-License-Identifier: MIT
 *
 * Collectives below the API: arguments are right and handles resolved. A collective is described by
 * struct collective; mpi_coll_write turns that into a schedule by one of the algorithms;
 * coll/choose.c decides which. Those that send messages from one to all, or from all to one, are in
 * coll/tree.c, the others in coll/<collective>.c, those in two tiers in coll/clusters_<what they
 * move>.c; what works in shared memory, coll/<mechanism>_coll.c, does all collectives. Each says
 * its cost.
 *
 * Costs: n ranks, m bytes per rank, a = time of one message, b = time per byte, g = time to combine
 * a byte.
 */
#ifndef MPI_COLL_COLL_H
#define MPI_COLL_COLL_H

#include <stddef.h>
#include <mpi/coll/sched.h>
#include <mpi/core/numbers.h>
#include <mpi/core/rank.h>

enum coll_kind {
	COLL_BARRIER, COLL_BCAST, COLL_GATHER, COLL_SCATTER, COLL_ALLGATHER, COLL_ALLTOALL,
		COLL_REDUCE, COLL_ALLREDUCE,
	COLL_REDUCE_SCATTER, COLL_SCAN, COLL_EXSCAN, COLL_NEIGHBOR_ALLGATHER,
	COLL_NEIGHBOR_ALLTOALL, COLL_KINDS
};

/* What a rank gives, or gets: one block, or one for each peer. */
struct side {
	void *buffer;			/* NULL with in_place */
	bool in_place;
	MPI_Count count;		/* of a block */
	struct numbers counts;		/* of each block, if array != NULL */
	struct numbers displs;		/* likewise; in extents, with `types` in bytes */
	MPI_Datatype datatype;
	const MPI_Datatype *types;	/* of each block, or NULL */
	const struct type *type;	/* of datatype */
};

struct collective {
	enum coll_kind kind;
	struct side send;		/* bcast: not used */
	struct side recv;
	MPI_Op op;
	int root;
	/* both sides: blocks of the same size one after the other */
	bool even;
};

/* Block i of a side; i = 0 where there is but one. */
static inline struct span
side_block(const struct side *s, int i)
{
	MPI_Count count = s->counts.array ? numbers_at(s->counts, (size_t)i) : s->count;
	const struct type *type = s->types ? mpi_type_find(s->types[i]) : s->type;
	MPI_Count at = s->displs.array ? numbers_at(s->displs, (size_t)i) : i * s->count;

	return (struct span){span_shift(s->buffer, s->types ? at : at * (MPI_Count)type->extent),
		count, type};
}

/* The whole of n blocks that lie one after the other. */
static inline struct span
side_whole(const struct side *s, int n)
{
	return (struct span){s->buffer, n * s->count, s->type};
}

/* A gather or a scatter: the side with a block for each rank, which counts at the root. */
struct rooted {
	const struct side *all;
	const struct side *one;
	bool up;			/* to the root */
};

static inline struct rooted
rooted_of(const struct collective *k)
{
	bool up = k->kind == COLL_GATHER;

	return (struct rooted){up ? &k->recv : &k->send, up ? &k->send : &k->recv, up};
}

/* Write the schedule of a collective. Errors stay in the schedule. */
void mpi_coll_write(struct sched *s, const struct collective *k);

/* Do it, and wait. Error class. */
int mpi_coll_run(struct mpi_rank *self, struct comm *c, const struct collective *k);

/*
 * Start it: `outer` is complete when it is over, perhaps on return. What the program gave stays as
 * it is until then. Error class: it could not be started.
 */
int mpi_coll_start(struct mpi_rank *self, struct comm *c, const struct collective *k,
	struct request *outer);

/* Inside the library: the few that communicators are made with. Error class. */
struct reduction {
	const void *in;			/* may be `out` */
	void *out;
	int count;
	MPI_Datatype type;
	MPI_Op op;
};

int mpi_barrier(struct mpi_rank *self, struct comm *c);
int mpi_bcast(struct mpi_rank *self, struct comm *c, void *buffer, size_t bytes, int root);
int mpi_allreduce(struct mpi_rank *self, struct comm *c, const struct reduction *r);
int mpi_allgather(struct mpi_rank *self, struct comm *c, const void *in, void *out, size_t bytes);

/* Between two groups. */
void mpi_inter_write(struct sched *s, const struct collective *k);

#endif
