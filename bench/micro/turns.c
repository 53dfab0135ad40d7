/* SPDX-License-Identifier: MIT
 *
 * What it costs to let the next rank of a core run: all ranks do nothing else, so that each gets
 * its turn again when all others of its core had one. No collective of ranks that share cores can
 * be faster than one such turn of each. usage: turns [--rounds N]
 */
#include <mpi.h>
#include <atoll/kcalls.h>
#include "micro.h"

#define WARM 10

static void
give_turns(long rounds)
{
	for (long i = 0; i < rounds; i++)
		kthread_yield();
}

int
main(int argc, char **argv)
{
	long rounds = number(argc, argv, "--rounds", 1000);
	double start, each;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	give_turns(WARM);
	start = MPI_Wtime();
	give_turns(rounds);
	each = (MPI_Wtime() - start) / (double)rounds;
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		row("turns", each * 1e6, "us", "");
	MPI_Finalize();
	return 0;
}
