/* SPDX-License-Identifier: MIT
 *
 * An error before MPI_Init: whether the program goes on is the initial error handler's choice.
 * Then: which handler the first communicators have, and which of the job's programs this one is.
 */
#include <mpi.h>
#include <stdio.h>

static const char *
name_of(MPI_Errhandler e)
{
	return e == MPI_ERRORS_RETURN ? "return" : e == MPI_ERRORS_ABORT ? "abort" :
		e == MPI_ERRORS_ARE_FATAL ? "fatal" : "?";
}

int
main(int argc, char **argv)
{
	MPI_Session none = MPI_SESSION_NULL;
	MPI_Errhandler world, self;
	int rank, flag = 0, *app;

	if (argc > 1)
		printf("class %d\n", MPI_Session_finalize(&none));
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &world);
	MPI_Comm_get_errhandler(MPI_COMM_SELF, &self);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &flag);
	printf("rank %d: program %d, world %s, self %s\n", rank, flag ? *app : -1, name_of(world),
		name_of(self));
	MPI_Finalize();
	return 0;
}
