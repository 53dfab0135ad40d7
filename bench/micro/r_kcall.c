/* SPDX-License-Identifier: MIT
 *
 * R-Kcall: a kernel call without effect that the kernel core serves, and how it holds when several
 * cores call at once: each rank is a caller. usage: r_kcall [--calls N]. Source: seed 000 IV-A.
 *
 * Windows of the instruction counter: label 16, one call with nobody else about (1 rank); label 16
 * + ranks, CROWD calls of every rank with a barrier before and after, which the description's `per`
 * spreads over the calls.
 */
#include <atoll/kcalls.h>
#include <hal/perf.h>
#include <mpi.h>
#include "micro.h"

#define WINDOWS 10
#define CROWD 200

/* Numbers of callers whose windows have a label of their own: markers are constants. */
static void
label_crowd(int ranks)
{
	switch (ranks) {
	case 1:
		hal_mark(LABEL + 1);
		break;
	case 2:
		hal_mark(LABEL + 2);
		break;
	case 4:
		hal_mark(LABEL + 4);
		break;
	case 8:
		hal_mark(LABEL + 8);
		break;
	case 15:
		hal_mark(LABEL + 15);
		break;
	default:
		hal_mark(LABEL + 99);
	}
}

static void
call(long n)
{
	while (n-- > 0)
		kvoid_remote();
}

static void
alone(void)
{
	hal_mark(LABEL);
	for (int i = 0; i < WINDOWS; i++) {
		hal_mark(MARK_BEGIN);
		kvoid_remote();
		hal_mark(MARK_END);
	}
}

static void
crowd(int rank, int ranks)
{
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		label_crowd(ranks);
		hal_mark(MARK_BEGIN);
	}
	call(CROWD);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		hal_mark(MARK_END);
}

int
main(int argc, char **argv)
{
	long calls = number(argc, argv, "--calls", 20000);
	double seconds, longest;
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (rank == 0)
		wait_for_servers();
	call(WINDOWS);
	if (ranks == 1)
		alone();
	crowd(rank, ranks);
	MPI_Barrier(MPI_COMM_WORLD);
	seconds = MPI_Wtime();
	call(calls);
	seconds = MPI_Wtime() - seconds;
	MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (rank == 0) {
		row("r_kcall", longest / (double)calls * 1e9, "ns", "");
		row("r_kcall_rate", (double)calls * ranks / longest, "calls/s", "");
	}
	MPI_Finalize();
	return 0;
}
