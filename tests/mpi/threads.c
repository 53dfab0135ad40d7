/* SPDX-License-Identifier: MIT
 *
 * Several threads of a rank in MPI at the same time: each thread talks to the thread of its number
 * at the neighbours, with its own tag and, every other one, its own communicator; blocking,
 * non-blocking, probing and collective calls.
 *
 * usage: threads [ROUNDS]
 */
#include <pthread.h>
#include "check.h"

#define THREADS 4
#define LONG 30000

struct worker {
	struct check check;
	MPI_Comm comm;
	int number;
	pthread_t thread;
};

static int rounds = 60;

static int
length_of(int round)
{
	static const int lengths[] = {0, 8, 97, 5000, LONG};

	return lengths[round % 5];
}

/* What arrives from the neighbour is what its thread of this number sent in this round. */
static void
receive(struct worker *w, int round, unsigned char *data)
{
	int before = (w->check.rank + w->check.size - 1) % w->check.size, count;
	MPI_Message message;
	MPI_Status status;

	if (round % 3 == 0) {
		MPI_Recv(data, LONG, MPI_BYTE, before, w->number, w->comm, &status);
	} else if (round % 3 == 1) {
		MPI_Mprobe(MPI_ANY_SOURCE, w->number, w->comm, &message, &status);
		MPI_Mrecv(data, LONG, MPI_BYTE, &message, &status);
	} else {
		int flag = 0;

		while (!flag)
			MPI_Iprobe(before, w->number, w->comm, &flag, &status);
		MPI_Recv(data, LONG, MPI_BYTE, before, w->number, w->comm, &status);
	}
	MPI_Get_count(&status, MPI_BYTE, &count);
	CHECK(&w->check, count == length_of(round) && status.MPI_SOURCE == before &&
		status.MPI_TAG == w->number);
	CHECK(&w->check, check_same(data, (size_t)count, before, round * THREADS + w->number));
}

static void *
work(void *arg)
{
	struct worker *w = arg;
	int next = (w->check.rank + 1) % w->check.size;
	unsigned char *out = malloc(LONG), *in = malloc(LONG);

	for (int round = 0; round < rounds; round++) {
		int sum = 0, one = 1;
		MPI_Request request;

		check_fill(out, (size_t)length_of(round), w->check.rank,
			round * THREADS + w->number);
		MPI_Isend(out, length_of(round), MPI_BYTE, next, w->number, w->comm, &request);
		receive(w, round, in);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		if (w->comm != MPI_COMM_WORLD && round % 10 == 0) {
			MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, w->comm);
			CHECK(&w->check, sum == w->check.size);
		}
	}
	free(out);
	free(in);
	return NULL;
}

/* One thread waits for what another one of the same rank sends later. */
static void *
send_to_self(void *arg)
{
	struct worker *w = arg;
	int value = 17;

	MPI_Send(&value, 1, MPI_INT, 0, 99, MPI_COMM_SELF);
	CHECK(&w->check, value == 17);
	return NULL;
}

static void
test_a_thread_waits_for_another_one_of_its_rank(struct check *c)
{
	struct worker w = {.check = *c};
	int value = 0;

	for (int i = 0; i < 100; i++) {
		pthread_create(&w.thread, NULL, send_to_self, &w);
		MPI_Recv(&value, 1, MPI_INT, 0, 99, MPI_COMM_SELF, MPI_STATUS_IGNORE);
		pthread_join(w.thread, NULL);
		CHECK(c, value == 17);
	}
}

static void
test_threads_do_not_get_in_each_others_way(struct check *c)
{
	struct worker workers[THREADS];

	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.check = {c->rank, c->size, 0}, .comm = MPI_COMM_WORLD,
			.number = i};
		if (i % 2)
			MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		c->errors += workers[i].check.errors;
		if (i % 2)
			MPI_Comm_free(&workers[i].comm);
	}
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int relayed;

/* Passes a number on from rank to rank, and tells the first thread. */
static void *
relay(void *arg)
{
	struct worker *w = arg;
	int next = (w->check.rank + 1) % w->check.size,
		before = (w->check.rank + w->check.size - 1) % w->check.size, number = 1;

	if (w->check.rank > 0)
		MPI_Recv(&number, 1, MPI_INT, before, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	number++;
	if (w->check.rank < w->check.size - 1)
		MPI_Send(&number, 1, MPI_INT, next, 77, MPI_COMM_WORLD);
	pthread_mutex_lock(&mutex);
	relayed = number;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* While first threads wait in libc, ranks that share their cores go on. */
static void
test_a_thread_ends_while_the_first_one_waits_for_it(struct check *c)
{
	struct worker w = {.check = *c};

	for (int i = 0; i < 10; i++) {
		relayed = 0;
		pthread_create(&w.thread, NULL, relay, &w);
		pthread_mutex_lock(&mutex);
		while (relayed == 0)
			pthread_cond_wait(&changed, &mutex);
		pthread_mutex_unlock(&mutex);
		pthread_join(w.thread, NULL);
		CHECK(c, relayed == c->rank + 2);
	}
}

int
main(int argc, char **argv)
{
	struct check c = {0};
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &c.size);
	CHECK(&c, provided == MPI_THREAD_MULTIPLE);
	if (argc > 1)
		rounds = atoi(argv[1]);
	MPI_Query_thread(&provided);
	CHECK(&c, provided == MPI_THREAD_MULTIPLE);
	test_a_thread_waits_for_another_one_of_its_rank(&c);
	test_threads_do_not_get_in_each_others_way(&c);
	test_a_thread_ends_while_the_first_one_waits_for_it(&c);
	return check_end(&c);
}
