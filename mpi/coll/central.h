/* SPDX-License-Identifier: MIT
 *
 * Central barriers: the ranks of a cluster arrive at a counter in shared memory; when all have
 * arrived, one of them releases the others. No messages.
 *
 * What a rank wrote before it came, the releasing rank can read; what that one wrote before it
 * released them, all can read after. Nobody is at the next central barrier before this one is
 * released, and nobody releases the next one while somebody has not left this one.
 *
 * A word that all write, or that all read, costs as many transfers of its cache line, one after the
 * other, as there are cores. So ranks are counted in lanes, and the last one of each lane counts
 * for it: those that share a core, or, if ranks have a core each, as many lanes as a lane has
 * ranks. In the latter case each lane has a line on which it sees the release, too.
 */
#ifndef MPI_COLL_CENTRAL_H
#define MPI_COLL_CENTRAL_H

#include <stdbool.h>
#include <mpi/core/rank.h>
#include <mpi/transport/sync.h>

/* Sets of ranks that are counted among themselves. */
struct lanes {
	uint32_t count;			/* how many there are */
	uint32_t own;			/* the one of this rank */
	uint32_t ranks;			/* in it */
	/* their ranks have cores of their own, as far as cores go */
	bool spread;
};

struct central {
	struct mpi_rank *self;
	struct sync *sync;
	uint32_t ranks;
	struct lanes lanes;
	uint32_t epoch;			/* while it goes on */
	bool (*there)(const struct central *m);
	/* of those who wait for a word of their own kind */
	const uint32_t *word;
	uint32_t value;
};

/*
 * A barrier of all ranks of the job, if they are in one cluster: its words are there from the
 * beginning. False: not so, or c is not the world.
 */
bool mpi_central_world(struct mpi_rank *self, const struct comm *c);

/*
 * The words of barriers of c's ranks; NULL: there is no segment yet, or they are in several
 * clusters.
 */
struct sync *mpi_central_words(struct mpi_rank *self, const struct comm *c);

/* Is it worth while to count in two steps? */
static inline bool
mpi_central_counts_lanes(uint32_t ranks, uint32_t lanes)
{
	return lanes > 1 && ranks >= 2 * lanes;
}

/*
 * The lanes of so many ranks of a cluster with so many cores: a lane for each core that ranks
 * share, if these are not too many; if not, or if ranks have a core each, about the square root of
 * ranks.
 */
struct lanes mpi_central_lanes(uint32_t ranks, uint32_t cores);

/*
 * The lane of a rank that stands at some position among those that arrive, and runs on some core.
 */
static inline uint32_t
mpi_central_lane(const struct lanes *l, uint32_t position, uint32_t core)
{
	return l->spread ? position % l->count : core;
}

/*
 * The calling rank arrives in its lane. True: it is the last one there; the lane counts anew then.
 */
static inline bool
mpi_central_completes_lane(struct sync *sync, uint32_t lane, uint32_t ranks)
{
	uint32_t *arrived = &sync->lane[lane].arrived;

	if (add_total(arrived, 1) + 1 < ranks)
		return false;
	store_relaxed(arrived, 0);
	return true;
}

/* The line on which the calling rank sees the release. */
static inline struct release *
mpi_central_release_line(const struct central *m)
{
	if (m->lanes.spread && mpi_central_counts_lanes(m->ranks, m->lanes.count))
		return &m->sync->lane[m->lanes.own].release;
	return &m->sync->all;
}

/* The calling rank arrives. True: it is the last one. */
bool mpi_central_arrive(struct central *m);

/*
 * Wait until all have come; for the releasing rank, if that is not the last to arrive. The last one
 * must call mpi_central_wake.
 */
void mpi_central_wait_for_all(struct central *m);
void mpi_central_wake(struct central *m);

/* All have arrived: release them. */
void mpi_central_release(struct central *m);

/*
 * Wait until there(m), which looks in total order; who makes it true must call mpi_central_wake
 * after that.
 */
void mpi_central_wait_until(struct central *m, bool (*there)(const struct central *m));

/* Wait until this rank is released. */
void mpi_central_wait(struct central *m);

#endif
