/* SPDX-License-Identifier: MIT
 *
 * The place where the ranks of a communicator that are in one cluster meet: a counter, a seat for
 * each rank, on which it lays what it gives, and a table with what came out. Seats and table are
 * there twice and used in turns: a rank that writes its seat for the next meeting does not disturb
 * one that still reads for this one, and nobody reaches the meeting after the next before all have
 * left this one.
 *
 * The first rank of a cluster makes the place, with the first collective that can use it, and frees
 * it when all have left it.
 */
#ifndef MPI_COLL_PLACE_H
#define MPI_COLL_PLACE_H

#include <mpi/coll/coll.h>
#include <mpi/coll/meet.h>

/* shared */
struct place {
	struct sync sync;
	_Alignas(CACHE_LINE) uint32_t left;	/* ranks that do not need it any more */
	_Alignas(CACHE_LINE) char seats[];
};

#define BRIEF_LINE_SHIFT 16		/* of the number of a seat for few bytes; see venue_brief_seat */
#define BRIEF_PLACE 0xffffu

/*
 * Signs (coll/signs.h), and room for larger data, of calls of one sort. A rank counts the rounds for
 * itself; those before `seen` are over on all ranks.
 */
struct board {
	char *signs;			/* NULL: there are none */
	char *rooms;
	uint32_t round;			/* the last one */
	uint32_t seen;
};

/* What a rank knows of where the ranks of one of its communicators are, and of the place of those in its cluster. */
struct venue {
	struct place *place;		/* NULL: there is none, not even in another cluster */
	bool asked;			/* ranks have tried to make one */
	int rank;			/* own, among those of the cluster */
	int ranks;
	size_t seat_bytes;
	size_t table_bytes;
	unsigned turn;			/* 0 or 1 */
	int clusters;
	int room;			/* clusters for which the next two have room */
	int *leaders;			/* ranks of the communicator: the first of each cluster */
	int *first;			/* where each begins when all stand cluster by cluster; the end */
	int stride;			/* from each rank of a cluster to the next, in all clusters */
	/*
	 * without a stride: all ranks, cluster by cluster, each ascending; in memory of its own until
	 * there is a place, and once for all ranks of the cluster then
	 */
	const int *order;
	int *own_order;
	int cluster;			/* number of the own one */
	uint32_t lane;			/* see struct meeting */
	uint32_t lane_ranks;
	uint32_t lanes;
	uint32_t brief_seat;		/* number of the own seat for few bytes */
	uint32_t *brief_order;		/* those of all members; the one that opens may read it */
	char *brief_seats;
	int largest;			/* ranks of the cluster that has most */
	bool consecutive;		/* the members of each cluster follow one another */
	bool owner;			/* this rank made the place */
	void *memory;			/* in which it lies */
	struct board waits;		/* of blocking calls */
	struct board started;		/* of non-blocking calls (coll/started.h) */
	struct over *over;		/* by rank: rounds of these that are over there */
	struct list open;		/* collectives of `started` that are not over here, in order */
	uint32_t shown;			/* the last round of `started` that this rank has shown */
	void *spare;			/* memory of one that is over, for the next one */
	void *signs_memory;
	void *rooms_memory;
	bool signs_asked;
	bool rooms_asked;
	size_t round_bytes;
	struct venue *next;		/* left, but not by all */
};

/* Who is where; each rank finds out for itself. NULL: no memory. */
struct venue *mpi_venue_survey(struct mpi_rank *self, struct comm *c);

/* The same with a place, made when asked for the first time, by all ranks of the communicator together. */
struct venue *mpi_venue_of(struct mpi_rank *self, struct comm *c);

/*
 * The same with so many zeroed bytes for signs, if all ranks are in one cluster: those of blocking
 * calls come first.
 */
struct venue *mpi_venue_with_signs(struct mpi_rank *self, struct comm *c, size_t bytes);

/* Once there are signs: with twice so many bytes as rooms for larger data. */
void mpi_venue_with_rooms(struct mpi_rank *self, struct comm *c, size_t bytes);

/* Rank i of a cluster, ascending; rank i of all, when they stand cluster by cluster. */
static inline int
mpi_venue_member(const struct venue *v, int cluster, int i)
{
	return v->order ? v->order[v->first[cluster] + i] : v->leaders[cluster] + i * v->stride;
}

int mpi_venue_ordered(const struct venue *v, int i);

/* From now on those of the own cluster take part. */
void mpi_venue_among(const struct venue *v, struct sched *s);

/* Number of the cluster of a rank, and its position among the members of the own one, or -1. */
int mpi_venue_cluster(struct mpi_rank *self, const struct comm *c, int rank);
int mpi_venue_position(const struct venue *v, int rank);

/* Are two ranks in one cluster? */
bool mpi_venue_together(struct mpi_rank *self, const struct comm *c, int one, int other);

/* All venues that were left go; at the very end, when nobody can be in one. */
void mpi_venue_exit(struct mpi_rank *self);

/* Bytes from one seat of a brief meeting to the next. */
static inline size_t
brief_stride(size_t bytes)
{
	return bytes <= 8 ? 8 : bytes <= 16 ? 16 : BRIEF_BYTES;
}

static inline char *
venue_seat(const struct venue *v, int rank)
{
	size_t turn = (size_t)v->ranks * v->seat_bytes + v->table_bytes;

	return v->place->seats + v->turn * turn + (size_t)rank * v->seat_bytes;
}

/*
 * Seats for few bytes, of the size that the meeting needs: those of ranks that share a core lie
 * side by side. A number is a line, where those of a core begin, and a place from there on.
 */
static inline char *
venue_brief_seat(const struct venue *v, uint32_t number, size_t bytes)
{
	return v->brief_seats + (number >> BRIEF_LINE_SHIFT) * CACHE_LINE + (number & BRIEF_PLACE) *
		brief_stride(bytes);
}

static inline char *
venue_table(const struct venue *v)
{
	return venue_seat(v, v->ranks);
}

#endif
