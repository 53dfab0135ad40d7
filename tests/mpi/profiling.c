/* SPDX-License-Identifier: MIT
 *
 * A program may define an MPI function itself and call the library's by its PMPI name.
 */
#include "check.h"

static int sends;

int
MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	sends++;
	return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	int x = c.rank, y = -1, next = (c.rank + 1) % c.size,
		previous = (c.rank - 1 + c.size) % c.size;

	MPI_Send(&x, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
	MPI_Recv(&y, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	PMPI_Barrier(MPI_COMM_WORLD);
	CHECK(&c, y == previous);
	/* nothing inside the library goes through the program's function */
	CHECK(&c, sends == 1);
	return check_end(&c);
}
