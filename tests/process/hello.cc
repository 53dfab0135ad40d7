// SPDX-License-Identifier: MIT
//
// The header as C++ sees it.
#include <mpi.h>
#include <iostream>

int
main(int argc, char **argv)
{
	int rank = -1, size = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm copy = MPI_COMM_NULL;
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_free(&copy);
	std::cout << "hello " << rank << " of " << size << std::endl;
	MPI_Finalize();
	return 0;
}
