/* SPDX-License-Identifier: MIT
 *
 * Reading and writing a file of the file server, and the shortest request, its size, from the last
 * rank's cluster. usage: fileio [FILE]. Windows of the last rank: label 16: read 4096 bytes; 17:
 * write 4096 bytes; 18: fstat.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <hal/perf.h>
#include <mpi.h>
#include "micro.h"

#define BYTES 4096
#define WINDOWS 10

static char text[BYTES];

static void
expect_all(ssize_t bytes)
{
	if (bytes != BYTES)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

static void
windows(int fd)
{
	struct stat s;

	hal_mark(LABEL);
	for (int n = 0; n < WINDOWS; n++) {
		hal_mark(MARK_BEGIN);
		expect_all(pread(fd, text, BYTES, 0));
		hal_mark(MARK_END);
	}
	hal_mark(LABEL + 1);
	for (int n = 0; n < WINDOWS; n++) {
		hal_mark(MARK_BEGIN);
		expect_all(pwrite(fd, text, BYTES, 0));
		hal_mark(MARK_END);
	}
	hal_mark(LABEL + 2);
	for (int n = 0; n < WINDOWS; n++) {
		hal_mark(MARK_BEGIN);
		if (fstat(fd, &s) != 0 || s.st_size != BYTES)
			MPI_Abort(MPI_COMM_WORLD, 1);
		hal_mark(MARK_END);
	}
}

int
main(int argc, char **argv)
{
	int rank, ranks, fd;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (rank < ranks - 1) {
		sleep(1);	/* the others execute nothing meanwhile */
	} else {
		fd = open(argc > 1 ? argv[1] : "/file", O_RDWR | O_CREAT, 0666);
		expect_all(pwrite(fd, text, BYTES, 0));
		windows(fd);
		close(fd);
	}
	MPI_Finalize();
	return 0;
}
