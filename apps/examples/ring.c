/* SPDX-License-Identifier: MIT
 *
 * A token goes round all ranks; each adds its number. usage: ring [ROUNDS]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	int rank, ranks, rounds = argc > 1 ? atoi(argv[1]) : 3;
	long token = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < rounds && ranks > 1; i++) {
		if (rank != 0)
			MPI_Recv(&token, 1, MPI_LONG, rank - 1, i, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
		token += rank;
		MPI_Send(&token, 1, MPI_LONG, (rank + 1) % ranks, i, MPI_COMM_WORLD);
		if (rank == 0)
			MPI_Recv(&token, 1, MPI_LONG, ranks - 1, i, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
	}
	if (rank == 0)
		printf("the token went %d times round %d ranks and came back with %ld\n", rounds,
			ranks, token);
	MPI_Finalize();
	return ranks > 1 && rank == 0 && token != (long)rounds * ranks * (ranks - 1) / 2;
}
