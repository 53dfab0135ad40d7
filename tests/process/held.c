/* SPDX-License-Identifier: MIT
 *
 * MPI_Abort while another thread holds a stream, as one does that waits for input: the job ends all
 * the same. Argument: the stream.
 */
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sem_t held;

static void *
hold(void *stream)
{
	flockfile(stream);
	sem_post(&held);
	for (;;)
		pause();
	return NULL;
}

static FILE *
stream_of(const char *name)
{
	if (strcmp(name, "stdin") == 0)
		return stdin;
	return strcmp(name, "stdout") == 0 ? stdout : stderr;
}

int
main(int argc, char **argv)
{
	pthread_t thread;
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	printf("said before");
	sem_init(&held, 0, 0);
	pthread_create(&thread, NULL, hold, stream_of(argv[1]));
	sem_wait(&held);
	MPI_Abort(MPI_COMM_WORLD, 7);
	return 0;
}
