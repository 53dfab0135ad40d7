/* SPDX-License-Identifier: MIT
 *
 * Files that are memory of one cluster: the ranks of that map them, those of others read and write
 * them, and learn by ENODEV that they cannot map them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "check.h"

#define PAGE 4096

static struct check state;

#define check(condition) CHECK(&state, condition)

/* Each rank has a file, which it has mapped, and others use as their place allows. */
static void
look_at_other(int rank, int other, MPI_Comm near, int near_ranks)
{
	char name[32], text[16] = "", *at;
	int fd, far = MPI_UNDEFINED, world = other;
	MPI_Group all, those;

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Comm_group(near, &those);
	MPI_Group_translate_ranks(all, 1, &world, those, &far);
	MPI_Group_free(&all);
	MPI_Group_free(&those);
	snprintf(name, sizeof(name), "/dev/shm/of-%d", other);
	fd = open(name, O_RDWR);
	check(fd >= 0 && pread(fd, text, 8, PAGE) == 8 && memcmp(text, "stored ", 7) == 0 &&
		text[7] == '0' + other);
	text[0] = (char)('a' + rank);
	check(pwrite(fd, text, 1, rank) == 1);
	at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (far == MPI_UNDEFINED) {
		check(at == MAP_FAILED && errno == ENODEV);
	} else {
		check(at != MAP_FAILED && near_ranks > 0 && at[rank] == 'a' + rank);
		check(munmap(at, 2 * PAGE) == 0);
	}
	check(close(fd) == 0);
}

int
main(int argc, char **argv)
{
	char name[32], *at;
	int rank, ranks, near_ranks, fd;
	MPI_Comm near;

	state = check_begin(&argc, &argv);
	rank = state.rank;
	ranks = state.size;
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
	MPI_Comm_size(near, &near_ranks);
	snprintf(name, sizeof(name), "/dev/shm/of-%d", rank);
	fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	check(fd >= 0 && ftruncate(fd, 2 * PAGE) == 0);
	at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	check(at != MAP_FAILED);
	snprintf(at + PAGE, 16, "stored %d", rank);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < ranks; i++)
		if (i != rank)
			look_at_other(rank, i, near, near_ranks);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < ranks; i++)
		check(at[i] == (i != rank ? 'a' + i : 0));
	check(munmap(at, 2 * PAGE) == 0 && close(fd) == 0 && unlink(name) == 0);
	MPI_Comm_free(&near);
	return check_end(&state);
}
