/* SPDX-License-Identifier: MIT
 *
 * Init and finalize: what it costs to start a job.
 */
#include <mpi.h>

int
main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Finalize();
	return 0;
}
