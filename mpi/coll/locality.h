/* SPDX-License-Identifier: MIT
 *
 * Where the ranks of a communicator are, and the shared memory segment of those in one cluster: a
 * central barrier, a slot for each rank, in which it puts what it gives, and a result buffer. Slots
 * and buffer are there twice and used in turns: a rank that writes its slot for the next central
 * barrier does not disturb one that still reads for this one, and nobody reaches the central
 * barrier after the next before all have left this one.
 *
 * The first rank of a cluster makes the segment, with the first collective that can use it, and
 * frees it when all have left it.
 */
#ifndef MPI_COLL_LOCALITY_H
#define MPI_COLL_LOCALITY_H

#include <mpi/coll/coll.h>
#include <mpi/coll/central.h>

/* shared */
struct coll_segment {
	struct sync sync;
	_Alignas(CACHE_LINE) uint32_t left;	/* ranks that do not need it any more */
	uint32_t has_group;		/* its last part is the tables of the group */
	_Alignas(CACHE_LINE) char slots[];
};

/* of the number of a slot for few bytes; see locality_fast_slot */
#define FAST_LINE_SHIFT 16
#define FAST_PLACE 0xffffu

/*
 * Flags (coll/flags.h), and buffers for larger data, of calls of one sort. A rank counts the rounds
 * for itself; those before `seen` are over on all ranks.
 */
struct board {
	char *flags;			/* NULL: there are none */
	char *buffers;
	uint32_t round;			/* the last one */
	uint32_t seen;
};

/* Memory beside the segment, of which the first rank of the cluster has tried to make some. */
struct shared {
	void *memory;
	bool asked;
};

/*
 * What a rank knows of where the ranks of one of its communicators are, and of the segment of those
 * in its cluster.
 */
struct locality {
	/* what calls with flags read comes first */
	struct coll_segment *segment;	/* NULL: there is none, not even in another cluster */
	struct board waits;		/* of blocking calls */
	int rank;			/* own, among those of the cluster */
	int ranks;
	size_t round_bytes;		/* of a buffer */
	bool asked;			/* ranks have tried to make a segment */
	unsigned users;			/* the communicator, and a group whose tables lie there */
	size_t slot_bytes;
	size_t result_bytes;
	unsigned turn;			/* 0 or 1 */
	int clusters;
	int *leaders;			/* ranks of the communicator: the first of each cluster */
	/* where each begins when all stand cluster by cluster; the end */
	int *first;
	/* from each rank of a cluster to the next, in all clusters */
	int stride;
	/*
	 * without a stride: all ranks, cluster by cluster, each ascending; in memory of its own
	 * until there is a segment, and once for all ranks of the cluster then
	 */
	const int *order;
	int *own_order;
	int cluster;			/* number of the own one */
	struct lanes lanes;		/* see struct central */
	uint32_t cores;			/* on which the ranks of the cluster run */
	uint32_t fast_slot;		/* number of the own slot for few bytes */
	uint32_t *fast_order;		/* those of all members; the releasing rank may read it */
	char *fast_slots;
	int largest;			/* ranks of the cluster that has most */
	bool consecutive;		/* the members of each cluster follow one another */
	bool owner;			/* this rank made the segment */
	void *memory;			/* in which it lies */
	struct board started;		/* of non-blocking calls (coll/started_coll.c) */
	struct over *over;		/* by rank: rounds of these that are over there */
	/* collectives of `started` that are not over here, in order */
	struct list open;
	uint32_t shown;			/* the last round of `started` that this rank has shown */
	/* rounds of `started` that may be over here before it is shown (coll/rounds.h) */
	uint32_t over_most;
	/* the last round whose flags this rank has seen of all; they say what is over, too */
	uint32_t over_round;
	void *spare;			/* memory of one that is over, for the next one */
	struct shared flags;
	struct shared buffers;
	struct locality *next;		/* left, but not by all */
};

/* Who is where; each rank finds out for itself. NULL: no memory. */
struct locality *mpi_locality_survey(struct mpi_rank *self, struct comm *c);

/*
 * The same with a segment, made when asked for the first time, by all ranks of the communicator
 * together.
 */
struct locality *mpi_locality_of(struct mpi_rank *self, struct comm *c);

/*
 * Once there is a segment: more memory for all of the cluster, with so many zeroed bytes, made when
 * asked for the first time. NULL: there is none.
 */
char *mpi_locality_share(struct mpi_rank *self, struct comm *c, struct shared *m, size_t bytes);

/* Rank i of a cluster, ascending; rank i of all, when they stand cluster by cluster. */
static inline int
mpi_locality_member(const struct locality *v, int cluster, int i)
{
	return v->order ? v->order[v->first[cluster] + i] : v->leaders[cluster] + i * v->stride;
}

int mpi_locality_ordered(const struct locality *v, int i);

/* From now on those of the own cluster take part. */
void mpi_locality_among(const struct locality *v, struct sched *s);

/* Number of the cluster of a rank, and its position among the members of the own one, or -1. */
int mpi_locality_cluster(struct mpi_rank *self, const struct comm *c, int rank);
int mpi_locality_position(const struct locality *v, int rank);

/* Are two ranks in one cluster? */
bool mpi_locality_together(struct mpi_rank *self, const struct comm *c, int one, int other);

/* All localities that were left go; at the very end, when nobody can be in one. */
void mpi_locality_exit(struct mpi_rank *self);

/* Bytes from one slot of a fast central barrier to the next. */
static inline size_t
fast_stride(size_t bytes)
{
	return bytes <= 8 ? 8 : bytes <= 16 ? 16 : FAST_BYTES;
}

static inline char *
locality_slot(const struct locality *v, int rank)
{
	size_t turn = (size_t)v->ranks * v->slot_bytes + v->result_bytes;

	return v->segment->slots + v->turn * turn + (size_t)rank * v->slot_bytes;
}

/*
 * Slots for few bytes, of the size that the central barrier needs: those of ranks that share a core
 * lie side by side. A number is a line, where those of a core begin, and a place from there on.
 */
static inline char *
locality_fast_slot(const struct locality *v, uint32_t number, size_t bytes)
{
	return v->fast_slots + (number >> FAST_LINE_SHIFT) * CACHE_LINE + (number & FAST_PLACE) *
		fast_stride(bytes);
}

static inline char *
locality_result(const struct locality *v)
{
	return locality_slot(v, v->ranks);
}

#endif
