/* SPDX-License-Identifier: MIT
 *
 * Every rank writes lines in small pieces, and one that has no end.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINES 300

static void
put(const char *text, size_t len)
{
	while (len > 0) {
		ssize_t done = write(STDOUT_FILENO, text, len < 7 ? len : 7);

		if (done <= 0)
			return;
		text += done;
		len -= (size_t)done;
	}
}

int
main(int argc, char **argv)
{
	static const char letters[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	char line[128];
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < LINES; i++)
		put(line, (size_t)snprintf(line, sizeof(line), "line %d of rank %d: %.*s.\n", i,
			rank, i % 50, letters));
	put("end", 3);
	MPI_Finalize();
	return 0;
}
