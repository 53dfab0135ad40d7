/* SPDX-License-Identifier: MIT
 *
 * Sync points of all clusters, one rank each: all signal cluster 0, and it signals all. usage: sync
 * [--rounds N]. Source: seed 000 III-B, seed 002 4.1.1. Windows: label 16: all wait already,
 * cluster 0 signals, until all have gone on and signalled it.
 */
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <hal/perf.h>
#include <mpi.h>
#include "micro.h"

#define GATHER 0		/* ports */
#define RELEASE 1
#define NS 1e-9

static uint8_t list[CLUSTERS_MAX];
static int gather, release;

static int
points_open(int rank, uint32_t clusters)
{
	for (uint32_t i = 0; i < clusters; i++)
		list[i] = (uint8_t)i;
	if (rank == 0) {
		gather = (int)ksync_create(SYNC_ALL_TO_ONE, GATHER, list, clusters);
		release = (int)ksync_open(SYNC_ONE_TO_ALL, RELEASE, list, clusters);
	} else {
		gather = (int)ksync_open(SYNC_ALL_TO_ONE, GATHER, list, clusters);
		release = (int)ksync_create(SYNC_ONE_TO_ALL, RELEASE, list, clusters);
	}
	return gather > 0 && release > 0 ? 0 : -1;
}

/* Long enough for all to wait again. */
static int
settle(void)
{
	uint64_t now;

	kclock(&now);
	return kthread_sleep(1, now + 200000) == -E_TIMEDOUT ? 0 : -1;
}

static int
one_round(int rank)
{
	int wrong;

	if (rank != 0)
		return (int)(ksync_wait(release, FOREVER) | ksync_signal(gather));
	wrong = settle();
	hal_mark(LABEL);
	hal_mark(MARK_BEGIN);
	wrong |= (int)(ksync_signal(release) | ksync_wait(gather, FOREVER));
	hal_mark(MARK_END);
	return wrong;
}

int
main(int argc, char **argv)
{
	long rounds = number(argc, argv, "--rounds", 10);
	struct cluster_info info;
	int rank, wrong = 0;
	double begun;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	kcluster_info(&info);
	if ((int)info.cluster != rank || points_open(rank, info.clusters) != 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Barrier(MPI_COMM_WORLD);
	begun = MPI_Wtime();
	for (long n = 0; n < rounds && wrong == 0; n++)
		wrong = one_round(rank);
	if (wrong != 0)
		MPI_Abort(MPI_COMM_WORLD, 2);
	if (rank == 0)
		row("sync", (MPI_Wtime() - begun) / NS / (double)rounds, "ns", "");
	khandle_close(gather);
	khandle_close(release);
	MPI_Finalize();
	return 0;
}
