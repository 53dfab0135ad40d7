/* SPDX-License-Identifier: MIT
 *
 * MPI_THREAD_SERIALIZED: threads of a rank use MPI one after the other, each for itself and while
 * the first one waits for it in libc. Either that works, or less was promised.
 */
#include <pthread.h>
#include "check.h"

#define ROUNDS 8
#define LENGTHS 3
#define LONG 20000

static int
next(const struct check *c)
{
	return (c->rank + 1) % c->size;
}

static int
before(const struct check *c)
{
	return (c->rank + c->size - 1) % c->size;
}

/*
 * What comes from one neighbour goes on to the other; rank 0 begins. Each waits long enough to
 * sleep.
 */
static void
pass_on(struct check *c, int round)
{
	static const int lengths[LENGTHS] = {8, 700, LONG};
	int length = lengths[round % LENGTHS];
	unsigned char *data = malloc(LONG);

	if (c->rank == 0) {
		check_fill(data, (size_t)length, 0, round);
		MPI_Send(data, length, MPI_BYTE, next(c), round, MPI_COMM_WORLD);
		memset(data, 0, (size_t)length);
	}
	MPI_Recv(data, length, MPI_BYTE, before(c), round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CHECK(c, check_same(data, (size_t)length, 0, round));
	if (c->rank != 0)
		MPI_Send(data, length, MPI_BYTE, next(c), round, MPI_COMM_WORLD);
	free(data);
}

static void *
work(void *arg)
{
	struct check *c = arg;
	int sum = 0;

	for (int round = 0; c->size > 1 && round < ROUNDS; round++)
		pass_on(c, round);
	MPI_Allreduce(&c->rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	CHECK(c, sum == c->size * (c->size - 1) / 2);
	MPI_Barrier(MPI_COMM_WORLD);
	return NULL;
}

static void
in_another_thread(struct check *c)
{
	pthread_t thread;

	CHECK(c, pthread_create(&thread, NULL, work, c) == 0);
	pthread_join(thread, NULL);
}

int
main(int argc, char **argv)
{
	struct check c = {0};
	int provided, lowest;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &c.size);
	CHECK(&c, provided >= MPI_THREAD_FUNNELED);
	MPI_Allreduce(&provided, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	for (int i = 0; lowest >= MPI_THREAD_SERIALIZED && i < 3; i++) {
		in_another_thread(&c);
		work(&c);
	}
	return check_end(&c);
}
