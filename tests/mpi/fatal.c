/* SPDX-License-Identifier: MIT
 *
 * An error under the default handler ends the job, with a message that names the function.
 * Expected: exit status 1.
 */
#include "check.h"

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	int x = 0;

	if (c.rank == 0)
		MPI_Send(&x, 1, MPI_INT, c.size, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	return 0;
}
