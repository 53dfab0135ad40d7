/* SPDX-License-Identifier: MIT
 *
 * Ranks that wait for ever inside MPI for one that does not come: `block WAY VICTIM [END
 * [STATUS]]`. WAY says in which function they wait, END how the victim ends: `wait` for a signal,
 * `abort` by abort(), `mpi` by MPI_Abort with STATUS, `leave` by exit(STATUS) without MPI_Finalize.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONG 300000

static int victim;
static char out[LONG], in[LONG];

static void
wait_in(const char *way)
{
	MPI_Request r[2];
	int flag = 0;

	if (strcmp(way, "recv") == 0)
		MPI_Recv(in, LONG, MPI_CHAR, victim, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else if (strcmp(way, "send") == 0)
		MPI_Send(out, LONG, MPI_CHAR, victim, 1, MPI_COMM_WORLD);
	else if (strcmp(way, "ssend") == 0)
		MPI_Ssend(out, 1, MPI_CHAR, victim, 1, MPI_COMM_WORLD);
	else if (strcmp(way, "probe") == 0)
		MPI_Probe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else if (strcmp(way, "iprobe") == 0)
		while (!flag)
			MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	else if (strcmp(way, "barrier") == 0)
		MPI_Barrier(MPI_COMM_WORLD);
	else if (strcmp(way, "allreduce") == 0)
		MPI_Allreduce(out, in, LONG, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
	else if (strcmp(way, "dup") == 0)
		MPI_Comm_dup(MPI_COMM_WORLD, &(MPI_Comm){MPI_COMM_NULL});
	else if (strcmp(way, "finalize") == 0)
		MPI_Finalize();
	MPI_Irecv(in, 1, MPI_CHAR, victim, 2, MPI_COMM_WORLD, &r[0]);
	MPI_Isend(out, LONG, MPI_CHAR, victim, 2, MPI_COMM_WORLD, &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

int
main(int argc, char **argv)
{
	const char *end = argc > 3 ? argv[3] : "wait";
	int rank, status = argc > 4 ? atoi(argv[4]) : 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	victim = atoi(argv[2]);
	/* something in every piece of memory that ranks share */
	MPI_Sendrecv(out, LONG, MPI_CHAR, rank, 0, in, LONG, MPI_CHAR, rank, 0, MPI_COMM_WORLD,
		MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	if (rank != victim)
		wait_in(argv[1]);
	else if (strcmp(end, "abort") == 0)
		abort();
	else if (strcmp(end, "mpi") == 0)
		MPI_Abort(MPI_COMM_WORLD, status);
	else if (strcmp(end, "leave") == 0)
		exit(status);
	for (;;)
		pause();
}
