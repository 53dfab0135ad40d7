/* SPDX-License-Identifier: MIT
 *
 * Meetings: the ranks of a cluster come to a counter in shared memory; when all have come, one of
 * them opens the doors. No messages.
 *
 * What a rank wrote before it came, the one that opens can read; what that one wrote before it
 * opened, all can read after. Nobody is at the next meeting before the doors of this one are open,
 * and nobody opens the next one while somebody has not left this one.
 */
#ifndef MPI_COLL_MEET_H
#define MPI_COLL_MEET_H

#include <stdbool.h>
#include <mpi/core/rank.h>
#include <mpi/transport/sync.h>

struct meeting {
	struct mpi_rank *self;
	struct sync *sync;
	uint32_t ranks;
	/* ranks that share a core with this one, itself included, their number, and how many such sets there are */
	uint32_t lane_ranks;
	uint32_t lane;
	uint32_t lanes;
	uint32_t epoch;			/* while it goes on */
	bool (*there)(const struct meeting *m);
	/* of those who wait for a word of their own kind */
	const uint32_t *word;
	uint32_t value;
};

/*
 * A barrier of all ranks of the job, if they are in one cluster: their place is there from the
 * beginning. False: not so, or c is not the world.
 */
bool mpi_meet_all(struct mpi_rank *self, const struct comm *c);

/* Where barriers of c's ranks meet; NULL: there is no place yet, or they are in several clusters. */
struct sync *mpi_meet_sync(struct mpi_rank *self, const struct comm *c);

/* Is it worth while to count in two steps? */
static inline bool
mpi_meet_counts_lanes(uint32_t ranks, uint32_t lanes)
{
	return lanes > 1 && ranks >= 2 * lanes;
}

/* The calling rank comes. True: it is the last one. */
bool mpi_meet_come(struct meeting *m);

/*
 * Wait until all have come; for the one that opens, if that is not the last one. The last one must
 * call mpi_meet_wake.
 */
void mpi_meet_wait_for_all(struct meeting *m);
void mpi_meet_wake(struct meeting *m);

/* All have come: let them go. */
void mpi_meet_open(struct meeting *m);

/* Wait until there(m), which looks in total order; who makes it true must call mpi_meet_wake after that. */
void mpi_meet_wait_until(struct meeting *m, bool (*there)(const struct meeting *m));

/* Wait until the doors are open. */
void mpi_meet_wait(struct meeting *m);

#endif
