/* SPDX-License-Identifier: MIT
 *
 * All ranks meet: a barrier, and an allreduce of one number. usage: barrier [--rounds N]
 */
#include <mpi.h>
#include "micro.h"

#define WARM 10

static double
barriers(long rounds)
{
	double start = MPI_Wtime();

	for (long i = 0; i < rounds; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	return (MPI_Wtime() - start) / (double)rounds;
}

static double
allreduces(long rounds)
{
	double start = MPI_Wtime();
	double one = 1, sum;

	for (long i = 0; i < rounds; i++)
		MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return (MPI_Wtime() - start) / (double)rounds;
}

int
main(int argc, char **argv)
{
	long rounds = number(argc, argv, "--rounds", 1000);
	double barrier, allreduce;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	barriers(WARM);
	barrier = barriers(rounds);
	allreduces(WARM);
	allreduce = allreduces(rounds);
	if (rank == 0) {
		row("barrier", barrier * 1e6, "us", "");
		row("allreduce", allreduce * 1e6, "us", "");
	}
	MPI_Finalize();
	return 0;
}
