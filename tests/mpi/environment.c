/* SPDX-License-Identifier: MIT
 *
 * Start and end of the library, versions, names and time.
 */
#include "check.h"

int
main(int argc, char **argv)
{
	int flag = -1, provided = -1, version = 0, subversion = 0, len = 0, is_main = 0;
	char *text = malloc(MPI_MAX_LIBRARY_VERSION_STRING), name[MPI_MAX_PROCESSOR_NAME];
	struct check c = {0};
	double t;

	MPI_Initialized(&flag);
	CHECK(&c, flag == 0);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	CHECK(&c, provided == MPI_THREAD_FUNNELED);
	MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &c.size);
	MPI_Initialized(&flag);
	CHECK(&c, flag == 1);
	MPI_Finalized(&flag);
	CHECK(&c, flag == 0);
	MPI_Is_thread_main(&is_main);
	CHECK(&c, is_main == 1);
	MPI_Get_version(&version, &subversion);
	CHECK(&c, version == MPI_VERSION && subversion == MPI_SUBVERSION);
	MPI_Get_library_version(text, &len);
	CHECK(&c, len > 0 && len == (int)strlen(text));
	MPI_Get_processor_name(name, &len);
	CHECK(&c, len > 0 && len == (int)strlen(name));
	t = MPI_Wtime();
	while (MPI_Wtime() == t)
		;
	CHECK(&c, MPI_Wtime() > t && MPI_Wtick() > 0 && MPI_Wtick() < 1);
	free(text);
	flag = check_end(&c);
	MPI_Finalized(&is_main);
	return flag != 0 || is_main != 1;
}
