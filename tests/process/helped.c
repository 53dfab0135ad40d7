/* SPDX-License-Identifier: MIT
 *
 * Ranks that wait, and are not in a deadlock: `helped WAY`. Someone who belongs to rank 0 ends the
 * wait when the standard input has a line: another thread, or a child.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char byte;

static void
wait_for_line(void)
{
	char line[10];

	if (fgets(line, sizeof(line), stdin) == NULL)
		exit(9);
}

static void *
tell(void *unused)
{
	wait_for_line();
	MPI_Send(unused, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF);
	return NULL;
}

/* another thread sends what this one waits for */
static void
while_a_thread_reads(void)
{
	pthread_t t;

	pthread_create(&t, NULL, tell, &byte);
	MPI_Recv(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	pthread_join(t, NULL);
}

static void
leave(int signal)
{
	(void)signal;
	_exit(0);
}

/* a child ends the wait by a signal, and with it the rank */
static void
while_a_child_reads(void)
{
	pid_t parent = getpid();

	signal(SIGUSR1, leave);
	if (fork() == 0) {
		wait_for_line();
		kill(parent, SIGUSR1);
		_exit(0);
	}
	MPI_Recv(&byte, 1, MPI_CHAR, 1, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int
main(int argc, char **argv)
{
	int threads = strcmp(argv[1], "thread") == 0, rank, level;

	level = threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
	MPI_Init_thread(&argc, &argv, level, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
		puts("ready");
		fflush(stdout);
		if (threads)
			while_a_thread_reads();
		else
			while_a_child_reads();
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
