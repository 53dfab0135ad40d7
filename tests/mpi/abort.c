/* SPDX-License-Identifier: MIT
 *
 * One rank aborts while the others wait for it: the job ends with its status. Expected: exit status
 * 7.
 */
#include "check.h"

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	int x;

	if (c.rank == c.size - 1)
		MPI_Abort(MPI_COMM_WORLD, 7);
	MPI_Recv(&x, 1, MPI_INT, c.size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return 0;
}
