/* SPDX-License-Identifier: MIT
 *
 * Every rank says where it runs; rank 0 prints, so that the lines come in order.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int counter;	/* each rank has its own */

int
main(int argc, char **argv)
{
	char place[MPI_MAX_PROCESSOR_NAME] = "", line[512];
	int rank, ranks, len;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Get_processor_name(place, &len);
	counter += rank;
	snprintf(line, sizeof(line), "hello from rank %d of %d on %s (its counter says %d)", rank,
		ranks, place, counter);
	if (rank != 0) {
		MPI_Send(line, (int)strlen(line) + 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
	} else {
		puts(line);
		for (int i = 1; i < ranks; i++) {
			MPI_Recv(line, sizeof(line), MPI_CHAR, i, 0, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
			puts(line);
		}
	}
	MPI_Finalize();
	return 0;
}
