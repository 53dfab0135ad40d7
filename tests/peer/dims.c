/* SPDX-License-Identifier: MIT
 *
 * How an MPI library splits every number up to 30,000 into 3 to 7 dimensions, as text: a line for
 * each.
 */
#include <mpi.h>
#include <stdio.h>

int
main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	for (int n = 3; n <= 7; n++) {
		for (int nodes = 1; nodes <= 30000; nodes++) {
			int dims[7] = {0};

			MPI_Dims_create(nodes, n, dims);
			printf("%d:", nodes);
			for (int i = 0; i < n; i++)
				printf(" %d", dims[i]);
			printf("\n");
		}
	}
	MPI_Finalize();
	return 0;
}
