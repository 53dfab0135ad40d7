/* SPDX-License-Identifier: MIT
 *
 * Everybody floods rank 0 with messages that it does not want yet. It prints by how many KiB it
 * grew: `grew N of M KiB`.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGES 20000
#define LOOKS 20000

/* A line of /proc/self/status, in KiB. */
static long
memory(const char *name)
{
	char line[200];
	FILE *f = fopen("/proc/self/status", "r");
	long n = 0;

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, name, strlen(name)) == 0)
			n = atol(line + strlen(name));
	if (f)
		fclose(f);
	return n;
}

int
main(int argc, char **argv)
{
	int rank, size, bytes = argc > 1 ? atoi(argv[1]) : 1000, flag;
	char *buffer = calloc(1, (size_t)bytes);
	long before, peak;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	before = memory("VmRSS:");
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; rank > 0 && i < MESSAGES; i++)
		MPI_Send(buffer, bytes, MPI_CHAR, 0, i, MPI_COMM_WORLD);
	/* inside the library, so that all that comes is taken in */
	for (int i = 0; rank == 0 && i < LOOKS; i++)
		MPI_Iprobe(MPI_ANY_SOURCE, MESSAGES, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	for (int i = 0; rank == 0 && i < MESSAGES; i++)
		for (int from = size - 1; from > 0; from--)
			MPI_Recv(buffer, bytes, MPI_CHAR, from, i, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
	peak = memory("VmHWM:");
	if (rank == 0)
		printf("grew %ld of %ld KiB\n", peak - before,
			(long)MESSAGES * (size - 1) * bytes / 1024);
	MPI_Finalize();
	free(buffer);
	return 0;
}
