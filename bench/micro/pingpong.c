/* SPDX-License-Identifier: MIT
 *
 * Ping-pong between ranks 0 and 1: half of a round trip. usage: pingpong [--size BYTES] [--rounds
 * N] The library counts messages and kernel calls of the timed rounds (./atoll run --mpi-counts).
 * Window of the instruction counter: label 16, one round trip.
 */
#include <hal/perf.h>
#include <mpi.h>
#include "micro.h"

#define WARM 20
#define WINDOWS 10

static char *buffer;
static int size;

static void
round_trip(int rank)
{
	if (rank == 0) {
		MPI_Send(buffer, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(buffer, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(buffer, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(buffer, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
	}
}

static void
count_instructions(int rank)
{
	hal_mark(LABEL);
	for (int i = 0; i < WINDOWS; i++) {
		if (rank == 0)
			hal_mark(MARK_BEGIN);
		round_trip(rank);
		if (rank == 0)
			hal_mark(MARK_END);
	}
}

/* What a barrier sent to ranks 0 and 1 has arrived when a later message of its sender has. */
static void
settle(int rank, int ranks)
{
	for (int to = 0; to < 2 && rank >= 2; to++)
		MPI_Send(NULL, 0, MPI_BYTE, to, 0, MPI_COMM_WORLD);
	for (int from = 2; from < ranks && rank < 2; from++)
		MPI_Recv(NULL, 0, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank < 2)
		round_trip(rank);
}

/*
 * The other ranks wait until rank 0 is done: their end would send it messages, which are counted.
 */
static void
hold_others(int rank, int ranks)
{
	for (int i = 2; i < ranks && rank == 0; i++)
		MPI_Send(NULL, 0, MPI_BYTE, i, 0, MPI_COMM_WORLD);
	if (rank >= 2)
		MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int
main(int argc, char **argv)
{
	long rounds = number(argc, argv, "--rounds", 10000);
	double start;
	int rank, ranks;

	size = (int)number(argc, argv, "--size", 8);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	buffer = calloc(1, size > 0 ? (size_t)size : 1);
	if (ranks < 2 || buffer == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 0; i < WARM && rank < 2; i++)
		round_trip(rank);
	if (rank < 2)
		count_instructions(rank);
	MPI_Barrier(MPI_COMM_WORLD);
	settle(rank, ranks);
	MPI_Pcontrol(1);
	start = MPI_Wtime();
	for (long i = 0; i < rounds && rank < 2; i++)
		round_trip(rank);
	start = MPI_Wtime() - start;
	MPI_Pcontrol(0);
	hold_others(rank, ranks);
	if (rank == 0) {
		row("half_round_trip", start / (double)rounds / 2 * 1e9, "ns", "");
		if (size > 0)
			row("bandwidth", (double)size * (double)rounds * 2 / start / 1e6, "MB/s",
				"");
	}
	MPI_Finalize();
	return 0;
}
