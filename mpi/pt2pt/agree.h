/* SPDX-License-Identifier: MIT
 *
 * Agreements on the number of a new communicator. All members take part, each with the numbers that
 * are free there; the proposals are combined up a binomial tree, between two groups exchanged by
 * the leaders, and the result goes down again. If no number is free everywhere, the next window of
 * numbers is tried. An agreement advances whenever progress is made, so that it may go on beside
 * the program.
 *
 * Cost: n members, a = time of one message: 2 ceil(log2 n) a, one a more between two groups, for
 * each window.
 */
#ifndef MPI_PT2PT_AGREE_H
#define MPI_PT2PT_AGREE_H

#include <stdbool.h>
#include <stdint.h>
#include <base/list.h>
#include <mpi/core/ids.h>
#include <mpi/core/rank.h>
#include <mpi/core/request.h>

/* What members tell each other; fits into a packet. */
struct proposal {
	uint32_t next;			/* the first later window where something is free */
	int32_t agrees;			/* 0: a member cannot go on */
	int32_t ours;			/* a number that the leader of a group brings along */
	int32_t theirs;			/* that of the other group's */
	uint64_t free[IDS_WORDS];
};

/* Who agrees. */
struct circle {
	/* intracommunicator through which the members of a group talk */
	struct comm *comm;
	const struct group *members;	/* NULL: all of comm */
	int32_t context;		/* of their messages */
	int tag;
	int leader;			/* a member */
	/* through which the leaders of two groups talk; NULL: there is only one */
	struct comm *bridge;
	int32_t bridge_context;
	int bridge_tag;
	int bridge_peer;		/* the other leader's rank there */
};

struct agreement {
	struct list link;
	struct circle circle;
	int step;
	int size;			/* of the group */
	int position;			/* in the tree; 0: the leader */
	int bit;			/* distance to the partner of this step */
	uint32_t window;
	uint64_t offered[IDS_WORDS];
	struct proposal mine;
	struct proposal in;
	struct request send;
	struct request recv;
	bool sending;
	bool receiving;
	bool done;
	int error;			/* class, when done */
	/* the number, when done without error; it is in use from now on */
	int32_t id;
	void (*then)(struct mpi_rank *self, struct agreement *a);	/* when done, or NULL */
};

/*
 * Begin. `circle`, `mine.ours` and `mine.agrees` are filled in, all else is zero; stays where it is
 * until it is done.
 */
void mpi_agree_start(struct mpi_rank *self, struct agreement *a);

/* Begin and wait. Error class; MPI_ERR_OTHER if a member could not go on. */
int mpi_agree(struct mpi_rank *self, struct agreement *a);

/* Advance all that go on; true if anything moved. */
bool mpi_agreements_advance(struct mpi_rank *self);

/* Can one advance? (It may be a peer that has made it so, without a message.) */
bool mpi_agreements_are_ready(const struct mpi_rank *self);

/* The circle of all members of a communicator, of one group or two. */
struct circle mpi_circle_of(struct comm *c);

#endif
