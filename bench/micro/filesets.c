/* SPDX-License-Identifier: MIT
 *
 * Files of several clusters at once: the ranks of each write, read and remove small files in
 * PLACE/CLUSTER, of which each may be another server's (run --tree). usage: filesets PLACE. The
 * first rank does nothing but the window: label 16: what all others do.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <hal/perf.h>
#include <mpi.h>
#include "micro.h"

#define BYTES 1024
#define FILES 4
#define ROUNDS 10

static void
expect_true(int is_well)
{
	if (!is_well)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Eleven requests for each file. */
static void
use_files(const char *folder)
{
	static char text[BYTES];
	char path[64];

	for (int i = 0; i < FILES; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/file%d", folder, i);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0666);
		for (int n = 0; n < 4; n++)
			expect_true(write(fd, text, BYTES) == BYTES);
		for (int n = 0; n < 4; n++)
			expect_true(pread(fd, text, BYTES, n * BYTES) == BYTES);
		expect_true(close(fd) == 0 && unlink(path) == 0);
	}
}

int
main(int argc, char **argv)
{
	const char *place = argc > 1 ? argv[1] : "/n";
	int rank;
	char folder[32];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(folder, sizeof(folder), "%s/%d", place, rank);
	mkdir(place, 0755);
	mkdir(folder, 0755);
	if (rank > 0)
		use_files(folder);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		hal_mark(LABEL);
		hal_mark(MARK_BEGIN);
	}
	for (int i = 0; i < ROUNDS && rank > 0; i++)
		use_files(folder);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		hal_mark(MARK_END);
	MPI_Finalize();
	return 0;
}
