/* SPDX-License-Identifier: MIT
 *
 * Schedules: a collective as this rank sees it, a list of steps in rounds. The messages of a round
 * travel at the same time; when all are done, its local steps run in order, then the next round
 * begins. An algorithm writes a schedule and never waits; whoever makes progress drives it. A step
 * that fails (a message too long, a dead peer) does not stop the others: peers count on them.
 *
 * Messages travel in the communicator's second context. Their tag is the number of the collective
 * in the communicator, so that several may be on their way; within one collective, messages between
 * two ranks stay in order.
 */
#ifndef MPI_COLL_SCHED_H
#define MPI_COLL_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <mpi/coll/span.h>
#include <mpi/core/op.h>
#include <mpi/core/rank.h>

struct request;
struct scratch;

/*
 * tags: the number of the collective; of a persistent one, which may be started in any order;
 * within the own group of two
 */
#define TAG_NUMBER 0x1fffffff
#define TAG_LOCAL 0x20000000
#define TAG_PERSISTENT 0x40000000

enum step_kind { STEP_SEND, STEP_RECV, STEP_COPY, STEP_ROWS, STEP_REDUCE };

struct step {
	uint8_t kind;
	bool last;			/* of its round */
	bool local;			/* the peer is in the own group */
	int peer;
	struct span span;		/* what is sent, or the target */
	/* copy and reduce: the source; rows: where they are described */
	struct span from;
};

/*
 * Rows of bytes: row i is at `to` + to_step * (to_at ? to_at[i] : i), and likewise from where it
 * comes. Lists are memory of the communicator.
 */
struct rows {
	char *to;
	const char *from;
	size_t bytes;			/* of a row */
	int count;
	size_t to_step;
	size_t from_step;
	const int *to_at;
	const int *from_at;
};

struct sched {
	struct pending pending;		/* while it runs */
	struct mpi_rank *self;
	struct comm *c;
	/*
	 * who takes part in what is being written: map[0 .. size-1], or without a map `size` ranks
	 * of the communicator from `first` on, each `stride` after the one before
	 */
	int rank;
	int size;
	const int *map;
	int first;
	int stride;
	bool local;			/* intercommunicator: peers are in the own group */
	struct operation op;		/* of its reductions */
	struct scratch *scratch;
	int broken;			/* class: it could not be written */
	int error;			/* class: what came out of the last run */
	int32_t tag;
	bool blocking;			/* the program waits for it */
	bool keep;			/* it is started again */
	bool done;
	/* steps */
	struct step *steps;
	unsigned count;
	unsigned capacity;
	/* where the round that is being written, or that runs, begins */
	unsigned round;
	unsigned next;			/* while it runs: where the next one begins */
	/*
	 * messages: of the round being written, the most of any round; while it runs: how many, and
	 * how many of them are done for sure
	 */
	unsigned messages;
	unsigned most;
	unsigned finished;
	struct request *requests;
	unsigned request_capacity;
	struct request *outer;		/* the program's, or NULL */
	const struct type **held;	/* derived types that it needs */
	unsigned held_count;
	struct sched *next_spare;
};

/* A schedule to write, for the next collective of c. NULL: no memory. */
struct sched *mpi_sched_new(struct mpi_rank *self, struct comm *c);

/* Give it back: it is over, or was never started. */
void mpi_sched_free(struct sched *s);

/*
 * Steps. Peers are positions among those who take part. Memory of spans stays as it is until the
 * schedule is over.
 */
void mpi_sched_send(struct sched *s, struct span data, int peer);
void mpi_sched_recv(struct sched *s, struct span room, int peer);
void mpi_sched_copy(struct sched *s, struct span to, struct span from);

/* What goes one way in one collective, and the other way in another. */
static inline void
mpi_sched_move(struct sched *s, bool sends, struct span data, int peer)
{
	if (sends)
		mpi_sched_send(s, data, peer);
	else
		mpi_sched_recv(s, data, peer);
}

static inline void
mpi_sched_copy_way(struct sched *s, bool to_first, struct span first, struct span second)
{
	if (to_first)
		mpi_sched_copy(s, first, second);
	else
		mpi_sched_copy(s, second, first);
}

/* The first of those who take part deals out what lies in `all`: `counts` elements to each. */
void mpi_sched_deal(struct sched *s, struct span out, struct span all, const MPI_Count *counts);

void mpi_sched_rows(struct sched *s, const struct rows *rows);
/* inout = in op inout */
void mpi_sched_reduce(struct sched *s, struct span in, struct span inout);

/* The round is written; the next step belongs to the next one. */
void mpi_sched_round(struct sched *s);

/* Room until the end of the schedule, or NULL, which makes it fail as a whole. */
void *mpi_sched_scratch(struct sched *s, size_t bytes);
struct span mpi_sched_room(struct sched *s, MPI_Count count, const struct type *type);

/*
 * From now on, only these take part: map[size] are ranks of the communicator, ascending, which stay
 * as long as the schedule is written; rank is the own position, < 0 if this rank does not take part
 * (it must then write no steps). Or ranks at equal distances. mpi_sched_all undoes it.
 */
void mpi_sched_among(struct sched *s, const int *map, int size, int rank);
void mpi_sched_among_every(struct sched *s, int first, int stride, int size, int rank);
void mpi_sched_all(struct sched *s);

/* Between two groups: from now on peers are in the own group (or not). */
void mpi_sched_local(struct sched *s, bool local);

/* A derived type lives until the schedule is over. */
void mpi_sched_hold(struct sched *s, const struct type *type);

/* Run to the end. Error class. The schedule is freed. */
int mpi_sched_run(struct sched *s);

/*
 * Start it; it may be over on return. `outer` (NULL: none) is complete when it is, and the schedule
 * freed then unless `keep`.
 */
void mpi_sched_start(struct sched *s, struct request *outer);

/* Free what the collectives of this rank have kept. */
void mpi_sched_exit(struct mpi_rank *self);

#endif
