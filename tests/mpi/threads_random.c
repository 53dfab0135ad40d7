/* SPDX-License-Identifier: MIT
 *
 * Several threads of a rank in MPI, each in a random order of its own: messages on a communicator that all share, told apart by tags, and
 * messages and collectives on one of its own; matched probes; small data, which goes straight, beside large. The thread that opened the library
 * begins alone, and is in the middle of something when the others come. usage: threads_random [SEED [STEPS]]
 *
 * Threads of one number on all ranks draw the same numbers.
 */
#include <pthread.h>
#include <stdint.h>
#include "check.h"

#define THREADS_MAX 5
#define LONG 20000
#define BURST 6
#define RANKS_MAX 64

struct worker {
	struct check check;
	MPI_Comm own;
	int number;
	int steps;
	uint64_t random;
	unsigned char *out;
	unsigned char *in;
	pthread_t thread;
};

static uint32_t
draw(struct worker *w, uint32_t below)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w->random >> 33) % below;
}

static int
draw_length(struct worker *w)
{
	static const int lengths[] = {0, 1, 8, 32, 33, 64, 700, 5000, LONG};

	return lengths[draw(w, sizeof(lengths) / sizeof(lengths[0]))];
}

/* The shared communicator, or the own one. */
static MPI_Comm
draw_comm(struct worker *w)
{
	return draw(w, 2) ? w->own : MPI_COMM_WORLD;
}

static int
next(const struct worker *w)
{
	return (w->check.rank + 1) % w->check.size;
}

static int
before(const struct worker *w)
{
	return (w->check.rank + w->check.size - 1) % w->check.size;
}

static void
expect(struct worker *w, const MPI_Status *status, int length, int step)
{
	int count;

	MPI_Get_count(status, MPI_BYTE, &count);
	CHECK(&w->check, count == length && status->MPI_SOURCE == before(w) && status->MPI_TAG == w->number);
	CHECK(&w->check, check_same(w->in, (size_t)count, before(w), step));
}

static void
exchange(struct worker *w, int step)
{
	MPI_Comm comm = draw_comm(w);
	int length = draw_length(w);
	MPI_Status status;

	check_fill(w->out, (size_t)length, w->check.rank, step);
	MPI_Sendrecv(w->out, length, MPI_BYTE, next(w), w->number, w->in, LONG, MPI_BYTE, before(w), w->number, comm, &status);
	expect(w, &status, length, step);
}

/* Even ranks send first: a message at a time, with the blocking calls. */
static void
take_turns(struct worker *w, int step)
{
	int partner = w->check.rank ^ 1, length = draw_length(w);
	MPI_Comm comm = draw_comm(w);

	if (partner >= w->check.size)
		return;
	check_fill(w->out, (size_t)length, w->check.rank, step);
	for (int turn = 0; turn < 2; turn++) {
		if ((w->check.rank + turn) % 2 == 0)
			MPI_Send(w->out, length, MPI_BYTE, partner, w->number, comm);
		else
			MPI_Recv(w->in, length, MPI_BYTE, partner, w->number, comm, MPI_STATUS_IGNORE);
	}
	CHECK(&w->check, check_same(w->in, (size_t)length, partner, step));
}

static void
probe(struct worker *w, int step)
{
	MPI_Comm comm = draw_comm(w);
	int length = draw_length(w), blocks = (int)draw(w, 2), flag = 0;
	MPI_Message message;
	MPI_Request request;
	MPI_Status status;

	check_fill(w->out, (size_t)length, w->check.rank, step);
	MPI_Isend(w->out, length, MPI_BYTE, next(w), w->number, comm, &request);
	if (blocks)
		MPI_Mprobe(MPI_ANY_SOURCE, w->number, comm, &message, MPI_STATUS_IGNORE);
	while (!blocks && !flag)
		MPI_Improbe(before(w), w->number, comm, &flag, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv(w->in, LONG, MPI_BYTE, &message, &status);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	expect(w, &status, length, step);
}

/* Many at a time, in order. */
static void
burst(struct worker *w, int step)
{
	MPI_Comm comm = draw_comm(w);
	int n = 1 + (int)draw(w, BURST), out[BURST], in[BURST];
	MPI_Request r[2 * BURST];

	for (int i = 0; i < n; i++) {
		out[i] = w->check.rank * 1000 + step * 10 + i;
		MPI_Isend(&out[i], 1, MPI_INT, next(w), w->number, comm, &r[i]);
	}
	for (int i = 0; i < n; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, before(w), w->number, comm, &r[n + i]);
	MPI_Waitall(2 * n, r, MPI_STATUSES_IGNORE);
	for (int i = 0; i < n; i++)
		CHECK(&w->check, in[i] == before(w) * 1000 + step * 10 + i);
}

static void
reductions(struct worker *w, int step)
{
	int mine[2] = {w->check.rank + step, 1}, all[2], before_me[2], size = w->check.size, rank = w->check.rank;

	MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, w->own);
	CHECK(&w->check, all[0] == size * (size - 1) / 2 + size * step && all[1] == size);
	MPI_Scan(mine, before_me, 2, MPI_INT, MPI_SUM, w->own);
	CHECK(&w->check, before_me[0] == rank * (rank + 1) / 2 + (rank + 1) * step && before_me[1] == rank + 1);
}

static void
blocks(struct worker *w, int step)
{
	int root = (int)draw(w, (uint32_t)w->check.size), all[RANKS_MAX], mine = w->check.rank * 7 + step, value = step;

	MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, w->own);
	for (int i = 0; i < w->check.size; i++)
		CHECK(&w->check, all[i] == i * 7 + step);
	MPI_Bcast(&value, 1, MPI_INT, root, w->own);
	CHECK(&w->check, value == step);
	MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, root, w->own);
	for (int i = 0; w->check.rank == root && i < w->check.size; i++)
		CHECK(&w->check, all[i] == i * 7 + step);
}

static void
large(struct worker *w, int step)
{
	int root = (int)draw(w, (uint32_t)w->check.size), length = draw_length(w);

	if (w->check.rank == root)
		check_fill(w->in, (size_t)length, root, step);
	MPI_Bcast(w->in, length, MPI_BYTE, root, w->own);
	CHECK(&w->check, check_same(w->in, (size_t)length, root, step));
	MPI_Barrier(w->own);
}

static void *
work(void *arg)
{
	static void (*const all[])(struct worker *w, int step) = {exchange, take_turns, probe, burst, reductions, blocks, large};
	struct worker *w = arg;

	for (int step = 0; step < w->steps; step++)
		all[draw(w, sizeof(all) / sizeof(all[0]))](w, step);
	return NULL;
}

static struct worker
worker_new(const struct check *c, uint64_t seed, int number)
{
	struct worker w = {.check = {c->rank, c->size, 0}, .number = number, .random = seed * 1000003 + (uint64_t)number, .out = malloc(LONG),
		.in = malloc(LONG)};

	MPI_Comm_dup(MPI_COMM_WORLD, &w.own);
	return w;
}

/* The first thread is one of them, and is there before the others. */
static void
run(struct check *c, uint64_t seed, int steps)
{
	int threads = 2 + (int)(seed % (THREADS_MAX - 1));
	struct worker w[THREADS_MAX];

	for (int i = 0; i < threads; i++)
		w[i] = worker_new(c, seed, i);
	w[0].steps = steps / 4;
	work(&w[0]);
	for (int i = 1; i < threads; i++) {
		w[i].steps = steps;
		if (pthread_create(&w[i].thread, NULL, work, &w[i]) != 0)
			MPI_Abort(MPI_COMM_WORLD, 1);
	}
	w[0].steps = steps;
	work(&w[0]);
	for (int i = 0; i < threads; i++) {
		if (i > 0)
			pthread_join(w[i].thread, NULL);
		c->errors += w[i].check.errors;
		MPI_Comm_free(&w[i].own);
		free(w[i].out);
		free(w[i].in);
	}
}

int
main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	int steps = argc > 2 ? atoi(argv[2]) : 60, provided;
	struct check c = {0};

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &c.size);
	if (provided != MPI_THREAD_MULTIPLE || c.size > RANKS_MAX)
		MPI_Abort(MPI_COMM_WORLD, 1);
	run(&c, seed, steps);
	return check_end(&c);
}
