/* SPDX-License-Identifier: MIT
 *
 * Memory of a cluster while a program runs: what the kernel keeps for itself and what is in use.
 * Rank 0 reports about its cluster.
 */
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <mpi.h>
#include "micro.h"

static uint64_t
stat_of(int what)
{
	uint64_t value = 0;

	return kstats(what, &value) < 0 ? 0 : value;
}

int
main(int argc, char **argv)
{
	struct cluster_info info = {0};
	char params[64];
	uint64_t total, free;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	kcluster_info(&info);
	total = stat_of(STATS_FRAMES_TOTAL);
	free = stat_of(STATS_FRAMES_FREE);
	snprintf(params, sizeof(params), "cluster=%u", (unsigned)info.cluster);
	if (rank == 0) {
		row("memory_for_programs", (double)total * info.page_bytes, "B", params);
		row("memory_in_use", (double)(total - free) * info.page_bytes, "B", params);
	}
	MPI_Finalize();
	return 0;
}
