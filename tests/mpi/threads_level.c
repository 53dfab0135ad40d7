/* SPDX-License-Identifier: MIT
 *
 * What MPI_Init_thread promises is kept where room for threads is short: either a thread of the
 * program communicates while the first one waits for it, or less than MPI_THREAD_MULTIPLE was
 * promised.
 */
#include <mpi.h>
#include <pthread.h>
#include "check.h"

static void *
send_to_next(void *arg)
{
	struct check *c = arg;
	int from = -1;

	MPI_Sendrecv(&c->rank, 1, MPI_INT, (c->rank + 1) % c->size, 0, &from, 1, MPI_INT,
		(c->rank + c->size - 1) % c->size, 0, MPI_COMM_WORLD,
		MPI_STATUS_IGNORE);
	CHECK(c, from == (c->rank + c->size - 1) % c->size);
	return NULL;
}

int
main(int argc, char **argv)
{
	struct check c = {0};
	int provided, lowest;
	pthread_t thread;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &c.size);
	CHECK(&c, provided == MPI_THREAD_MULTIPLE || provided == MPI_THREAD_FUNNELED);
	MPI_Allreduce(&provided, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (lowest == MPI_THREAD_MULTIPLE) {
		CHECK(&c, pthread_create(&thread, NULL, send_to_next, &c) == 0);
		pthread_join(thread, NULL);
	}
	return check_end(&c);
}
