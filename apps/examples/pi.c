/* SPDX-License-Identifier: MIT
 *
 * Pi as the integral of 4 / (1 + x * x) from 0 to 1, midpoint rule. usage: pi [STEPS]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	int rank, ranks;
	long steps = argc > 1 ? atol(argv[1]) : 1000000;
	double sum = 0, pi = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Bcast(&steps, 1, MPI_LONG, 0, MPI_COMM_WORLD);
	for (long i = rank; i < steps; i += ranks) {
		double x = ((double)i + 0.5) / (double)steps;

		sum += 4 / (1 + x * x);
	}
	MPI_Reduce(&sum, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("pi is about %.12f (%ld steps, %d ranks)\n", pi / (double)steps, steps,
			ranks);
	MPI_Finalize();
	return 0;
}
