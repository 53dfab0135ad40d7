/* SPDX-License-Identifier: MIT
 *
 * Several threads of a rank in MPI, each with a random program of its own. Threads of one number on
 * all ranks (workers) draw the same from `common`, and so know what their partners do; what only
 * concerns a worker itself, like the call by which it waits, comes from `own`.
 *
 * A worker has several operations in flight at a time, which come to an end in any way. Everything
 * is checked: messages for their content, which says who sent it as the how manieth of its channel;
 * each request for coming to an end once. A clerk in each rank ends what has to be ended by another
 * thread: it never waits for anything but the worker who asked.
 */
#ifndef TESTS_MPI_THREADS_STRESS_H
#define TESTS_MPI_THREADS_STRESS_H

#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKERS_MAX 7
#define RANKS_MAX 64
#define LONG 20000
#define FLIGHT_MAX 24
#define PARTS_MAX 6
#define JOBS_MAX 64

/* a channel: a pair of neighbours, a worker, and one of these with a communicator */
enum { RING, RING_OWN, PAIR, PAIR_OWN, PARTS, CHANNELS };
enum { TAG_PAIR = 100, TAG_CANCELLED = 200, TAG_SELF = 300, TAG_PARTS = 400 };

enum kind { SENT, RECEIVED, GENERAL, CANCELLED, BARRIER, BCAST, ALLREDUCE, ALLGATHER, PARTS_OUT,
	PARTS_IN };

/* One operation in flight. */
struct entry {
	enum kind kind;
	int persistent;
	int ended;			/* how often */
	MPI_Status status;
	int source;			/* message: who sends it, as which one of a channel */
	int channel;
	uint32_t number;
	int tag;
	int length;
	unsigned char *data;
	int value;			/* others: what is to come out, and what came */
	int numbers[RANKS_MAX];
};

struct flight {
	int count;
	MPI_Request request[FLIGHT_MAX];	/* side by side, as Waitall and its kin want them */
	struct entry entry[FLIGHT_MAX];
};

struct worker {
	struct stress *all;
	int number;
	int steps;
	uint64_t common, own;
	MPI_Comm comm;			/* of all workers of this number */
	uint32_t sent[CHANNELS];
	uint32_t received[CHANNELS];
	int errors;
	pthread_t thread;
	struct flight flight;
	int left;			/* jobs that the clerk has; under its lock */
	/* for people: what it is doing */
	int step;
	const char *action;
	const char *call;
	uint32_t finished;		/* steps; shared with the watch */
};

struct job {
	enum { COMPLETE, CANCEL, READY, FINISH, SEND } kind;
	MPI_Request request;
	int value;
	int *left;			/* jobs of who asked; under the lock */
};

struct clerk {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct job job[JOBS_MAX];
	int first, jobs;
	int ends;
	int errors;
	uint64_t random;
	pthread_t thread;
	int runs;
};

struct stress {
	int rank;
	int size;
	uint64_t seed;
	int workers;
	struct worker worker[WORKERS_MAX];
	struct clerk clerk;
};

/* Below `below`. */
uint32_t draw(uint64_t *dice, uint32_t below);
int draw_length(struct worker *w);

/* An error, with its place. */
void wrong(struct worker *w, const char *what, long is, long should);

static inline void
expect(struct worker *w, const char *what, long is, long should)
{
	if (is != should)
		wrong(w, what, is, should);
}

static inline int
next(const struct worker *w)
{
	return (w->all->rank + 1) % w->all->size;
}

static inline int
before(const struct worker *w)
{
	return (w->all->rank + w->all->size - 1) % w->all->size;
}

/* The data of a message, and whether it is that. */
void fill(const struct worker *w, unsigned char *data, const struct entry *e);
void expect_message(struct worker *w, const struct entry *e, const MPI_Status *status);

/* flight.c: another operation, its request to be set; bring all to an end and check them. */
struct entry *flight_add(struct worker *w, enum kind kind, MPI_Request **request);
void flight_end(struct worker *w);

/* clerk.c. */
void clerk_begin(struct stress *s);
void clerk_end(struct stress *s);
void clerk_ask(struct worker *w, struct job job);
void clerk_wait(struct worker *w, const int *left);

/* What goes into a flight. */
void add_messages(struct worker *w);
void add_general(struct worker *w);
void add_cancelled(struct worker *w);
void add_collective(struct worker *w);
void add_parts(struct worker *w);

/* Whole actions. */
void take_turns(struct worker *w);
void collectives(struct worker *w);
void duplicate(struct worker *w);
void from_clerk(struct worker *w);
void numbers(struct worker *w);

#endif
