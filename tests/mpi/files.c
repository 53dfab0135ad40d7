/* SPDX-License-Identifier: MIT
 *
 * Files of a machine that has no other: what one rank writes another reads, in any cluster; libc's
 * streams, directories, renaming; what goes wrong says so with the right number. With an argument:
 * also that the memory ends.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "check.h"

static struct check state;

#define check(condition) CHECK(&state, condition)

/* Each rank writes a file of its own, and reads its neighbour's. */
static void
neighbours(void)
{
	char name[32], line[32];
	int rank = state.rank, next = (rank + 1) % state.size, n = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/of/%d", rank);
	f = fopen(name, "w");
	check(f != NULL);
	for (int i = 0; i < 500; i++)
		fprintf(f, "%d %d\n", rank, i);
	check(fclose(f) == 0);
	MPI_Barrier(MPI_COMM_WORLD);
	snprintf(name, sizeof(name), "of/%d", next);
	f = fopen(name, "r");
	check(f != NULL);
	while (fgets(line, sizeof(line), f) != NULL) {
		int who = -1, what = -1;

		check(sscanf(line, "%d %d", &who, &what) == 2 && who == next && what == n);
		n++;
	}
	check(n == 500 && feof(f) && fclose(f) == 0);
}

static void
positions(const char *name)
{
	char got[16] = {0};
	struct stat s;
	int fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0666), other;
	struct iovec v[2] = {{(char[]){"ab"}, 2}, {(char[]){"cdef"}, 4}};

	check(fd >= 3 && writev(fd, v, 2) == 6 && lseek(fd, 0, SEEK_CUR) == 6);
	check(lseek(fd, -2, SEEK_END) == 4 && read(fd, got, 9) == 2 && memcmp(got, "ef", 2) == 0 &&
		read(fd, got, 9) == 0);
	check(pwrite(fd, "XY", 2, 1) == 2 && pread(fd, got, 4, 0) == 4 &&
		memcmp(got, "aXYd", 4) == 0);
	other = dup(fd);
	check(other >= 3 && other != fd && lseek(fd, 1, SEEK_SET) == 1 &&
		read(other, got, 2) == 2 && lseek(fd, 0, SEEK_CUR) == 3);
	check(close(fd) == 0 && fstat(other, &s) == 0 && S_ISREG(s.st_mode) && s.st_size == 6);
	check(ftruncate(other, 2) == 0 && ftruncate(other, 8000) == 0 &&
		lseek(other, 0, SEEK_END) == 8000);
	check(pread(other, got, 4, 1) == 4 && memcmp(got, "X\0\0\0", 4) == 0);
	check(lseek(other, -9000, SEEK_CUR) == -1 && errno == EINVAL && isatty(other) == 0);
	check(close(other) == 0 && close(other) == -1 && errno == EBADF);
	fd = open(name, O_WRONLY | O_APPEND);
	check(fd >= 0 && write(fd, "end", 3) == 3 && read(fd, got, 1) == -1 && errno == EBADF &&
		close(fd) == 0);
	check(stat(name, &s) == 0 && s.st_size == 8003 && truncate(name, 1) == 0 &&
		stat(name, &s) == 0 && s.st_size == 1);
	check(open(name, O_RDWR | O_CREAT | O_EXCL, 0666) == -1 && errno == EEXIST &&
		unlink(name) == 0 && access(name, F_OK) == -1);
}

/* More bytes than a message has, by two descriptors of one description, and by two that append. */
static void
shared(const char *name)
{
	static char text[5000], got[5000];
	int fd = open(name, O_RDWR | O_CREAT | O_APPEND, 0666), other, same = dup(fd);

	memset(text, 'x', sizeof(text));
	other = open(name, O_WRONLY | O_APPEND);
	check(fcntl(fd, F_GETFL) == (O_RDWR | O_APPEND) && fcntl(other, F_GETFL) ==
		(O_WRONLY | O_APPEND));
	check(write(fd, text, 5000) == 5000 && write(other, "end", 3) == 3);
	check(lseek(same, 0, SEEK_CUR) == 5000 && lseek(same, 10, SEEK_SET) == 10);
	check(read(fd, got, 4000) == 4000 && lseek(same, 0, SEEK_CUR) == 4010 &&
		read(same, got, 5000) == 993 && memcmp(got + 988, "xxend", 5) == 0 &&
		read(fd, got, 1) == 0);
	check(fcntl(same, F_SETFL, 0) == 0 && fcntl(fd, F_GETFL) == O_RDWR &&
		lseek(fd, 4998, SEEK_SET) == 4998 && write(same, "END", 3) == 3 &&
		pread(fd, got, 9, 4997) == 6 && memcmp(got, "xENDnd", 6) == 0);
	check(close(fd) == 0 && lseek(same, 0, SEEK_CUR) == 5001 && close(same) == 0 &&
		close(other) == 0 && unlink(name) == 0);
}

static void
directories(const char *name)
{
	char path[64], there[64], cwd[8];
	struct dirent *e;
	int found = 0;
	DIR *d;

	check(mkdir(name, 0777) == 0 && mkdir(name, 0777) == -1 && errno == EEXIST);
	for (int i = 0; i < 20; i++) {
		snprintf(path, sizeof(path), "%s/%d", name, i);
		check(close(open(path, O_CREAT | O_WRONLY, 0666)) == 0);
	}
	d = opendir(name);
	check(d != NULL);
	while ((e = readdir(d)) != NULL)
		found |= e->d_name[0] == '.' ? 0 : 1 << atoi(e->d_name);
	check(found == (1 << 20) - 1 && closedir(d) == 0);
	snprintf(there, sizeof(there), "%s/moved", name);
	check(rename(path, there) == 0 && access(path, F_OK) == -1 && errno == ENOENT &&
		access(there, F_OK) == 0);
	check(rmdir(name) == -1 && errno == ENOTEMPTY && unlink(name) == -1 && errno == EISDIR);
	check(open(name, O_WRONLY) == -1 && errno == EISDIR &&
		open("/none/x", O_CREAT | O_WRONLY, 0666) == -1 && errno == ENOENT);
	check(open(there, O_RDONLY | O_DIRECTORY) == -1 && errno == ENOTDIR &&
		getcwd(cwd, sizeof(cwd)) != NULL && strcmp(cwd, "/") == 0);
	check(unlink(there) == 0);
	for (int i = 0; i < 19; i++) {
		snprintf(path, sizeof(path), "%s/%d", name, i);
		check(unlink(path) == 0);
	}
	check(rmdir(name) == 0);
}

/* Standard output goes to a file and comes back. */
static void
redirected(const char *name)
{
	char got[8] = {0};
	int saved = dup(1), fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0666);

	fflush(stdout);
	check(saved >= 3 && fd >= 3 && dup2(fd, 1) == 1);
	printf("caught");
	fflush(stdout);
	check(dup2(saved, 1) == 1 && close(saved) == 0);
	check(pread(fd, got, 7, 0) == 6 && strcmp(got, "caught") == 0 && close(fd) == 0 &&
		unlink(name) == 0);
}

static void
too_many(void)
{
	static int fd[1000];
	int n = 0;

	while (n < 1000 && (fd[n] = open("/of", O_RDONLY)) >= 0)
		n++;
	check(n > 50 && n < 1000 && errno == EMFILE);
	while (n > 0)
		check(close(fd[--n]) == 0);
	check(close(open("/of", O_RDONLY)) == 0);
}

static void
fill(void)
{
	char got = 1;
	int fd = open("/big", O_RDWR | O_CREAT, 0666);

	check(pwrite(fd, "x", 1, 1l << 40) == -1 && errno == EFBIG);
	check(pwrite(fd, "x", 1, 1l << 36) == -1 && errno == ENOSPC && lseek(fd, 0, SEEK_END) == 0);
	check(pwrite(fd, "x", 1, 100000) == 1 && lseek(fd, 0, SEEK_END) == 100001 &&
		pread(fd, &got, 1, 50000) == 1 && got == 0);
	check(close(fd) == 0 && unlink("/big") == 0);
}

int
main(int argc, char **argv)
{
	char name[32];

	state = check_begin(&argc, &argv);
	if (state.rank == 0)
		check(mkdir("/of", 0777) == 0);
	MPI_Barrier(MPI_COMM_WORLD);
	neighbours();
	snprintf(name, sizeof(name), "/at%d", state.rank);
	positions(name);
	shared(name);
	directories(name);
	redirected(name);
	MPI_Barrier(MPI_COMM_WORLD);
	if (state.rank == 0)
		too_many();
	if (state.rank == 0 && argc > 1)
		fill();
	return check_end(&state);
}
