/* SPDX-License-Identifier: MIT
 *
 * Files are not there: every call says so by its error class, the first one on stderr, too.
 */
#include <mpi.h>
#include <stdio.h>

int
main(int argc, char **argv)
{
	int first, second, class;
	MPI_File f;

	MPI_Init(&argc, &argv);
	first = MPI_File_open(MPI_COMM_WORLD, "name", MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
	second = MPI_File_delete("name", MPI_INFO_NULL);
	MPI_Error_class(first, &class);
	printf("%s\n", first == second && class == MPI_ERR_UNSUPPORTED_OPERATION ? "unsupported" :
		"?");
	MPI_Finalize();
	return 0;
}
