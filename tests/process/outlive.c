/* SPDX-License-Identifier: MIT
 *
 * A process that goes on after MPI_Finalize: it says so, waits for a line, and says that it is
 * still there.
 */
#include <mpi.h>
#include <stdio.h>

int
main(int argc, char **argv)
{
	char line[80];

	MPI_Init(&argc, &argv);
	MPI_Finalize();
	puts("finalised");
	fflush(stdout);
	if (fgets(line, sizeof(line), stdin) == NULL)
		return 1;
	puts("still there");
	return 0;
}
