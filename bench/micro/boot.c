/* SPDX-License-Identifier: MIT
 *
 * Boot: how long after the machine's start the program runs. Beside it the front command measures
 * the whole run from outside.
 */
#include <atoll/kcalls.h>
#include <mpi.h>
#include "micro.h"

int
main(int argc, char **argv)
{
	uint64_t ns = 0;
	int rank;

	kclock(&ns);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		row("boot_to_main", (double)ns / 1e6, "ms", "");
	MPI_Finalize();
	return 0;
}
