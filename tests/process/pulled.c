/* SPDX-License-Identifier: MIT
 *
 * Long messages while a rank computes: what a rank does outside of MPI must not stop others that
 * are inside. A rank "computes" until a file is there, which another rank makes.
 *
 *	pulled line FILE	rank 0 sends to 1, which has asked for the data and computes, and
 *				to 2
 *	pulled early FILE	rank 1 receives a message whose sender waits, and computes
 */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES (1 << 20)
#define LONG_TAG 1
#define SHORT_TAG 2

static char data[2][BYTES];

static void
compute_until(const char *file)
{
	while (access(file, F_OK) != 0)
		sched_yield();
}

static void
finish_computing(const char *file)
{
	FILE *f = fopen(file, "w");

	if (f == NULL || fclose(f) != 0)
		MPI_Abort(MPI_COMM_WORLD, 3);
}

static void
check_data(const char *d)
{
	for (int i = 0; i < BYTES; i++)
		if (d[i] != (char)(i * 7)) {
			printf("byte %d is wrong\n", i);
			MPI_Abort(MPI_COMM_WORLD, 4);
		}
}

static void
short_message(int from, int to, int rank)
{
	if (rank == from)
		MPI_Send(NULL, 0, MPI_BYTE, to, SHORT_TAG, MPI_COMM_WORLD);
	else
		MPI_Recv(NULL, 0, MPI_BYTE, from, SHORT_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The short messages order things: rank 1 has asked, and rank 0 has sent what it could. */
static void
line_sender(void)
{
	MPI_Request r[2];

	MPI_Isend(data[0], BYTES, MPI_BYTE, 1, LONG_TAG, MPI_COMM_WORLD, &r[0]);
	short_message(0, 1, 0);
	short_message(1, 0, 0);
	MPI_Isend(data[1], BYTES, MPI_BYTE, 2, LONG_TAG, MPI_COMM_WORLD, &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void
line(int rank, const char *file)
{
	MPI_Request r;

	if (rank == 0) {
		line_sender();
		return;
	}
	MPI_Irecv(data[0], BYTES, MPI_BYTE, 0, LONG_TAG, MPI_COMM_WORLD, &r);
	if (rank == 1) {
		short_message(0, 1, 1);
		short_message(1, 0, 1);
		compute_until(file);
	}
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	if (rank == 2)
		finish_computing(file);
	check_data(data[0]);
}

static void
early(int rank, const char *file)
{
	MPI_Request r;

	if (rank == 0) {
		MPI_Send(data[0], BYTES, MPI_BYTE, 1, LONG_TAG, MPI_COMM_WORLD);
		finish_computing(file);
		return;
	}
	MPI_Probe(0, LONG_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Irecv(data[0], BYTES, MPI_BYTE, 0, LONG_TAG, MPI_COMM_WORLD, &r);
	compute_until(file);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	check_data(data[0]);
}

int
main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		for (int i = 0; i < BYTES; i++)
			data[0][i] = data[1][i] = (char)(i * 7);
	if (argc == 3 && strcmp(argv[1], "line") == 0)
		line(rank, argv[2]);
	else if (argc == 3)
		early(rank, argv[2]);
	MPI_Finalize();
	printf("rank %d is done\n", rank);
	return 0;
}
