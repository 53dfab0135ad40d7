/* SPDX-License-Identifier: MIT
 *
 * Memory that processes share: anonymous, of files, of /dev/shm. What one stores others see, in
 * memory and in the file; what is written is in memory. Nothing here knows of Atoll.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unaware.h"

#define PAGE 4096
#define NAME "shared.file"

static char name[64];			/* of this run, below /dev/shm */

/* A child does something, and its exit status is 0. */
static void
in_child(void (*what)(void *), void *of, const char *says)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		failures = 0;
		what(of);
		fflush(stdout);
		_exit(failures != 0);
	}
	waitpid(pid, &status, 0);
	expect(status, 0, says);
}

static int
is_wrong(void *at, int error)
{
	return at != MAP_FAILED ? -1 : errno == error ? error : errno;
}

static void
store(void *at)
{
	memcpy(at, "child", 6);
}

static void
anonymous(void)
{
	char *at = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	in_child(store, at + 2 * PAGE, "a child stores");
	expect(strcmp(at + 2 * PAGE, "child"), 0, "what the child stored");
	expect(munmap(at, 3 * PAGE), 0, "munmap");
}

/* Opens the file anew, and looks at and changes what its parent sees. */
static void
open_and_map(void *unused)
{
	int fd = open(NAME, O_RDWR);
	char *at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), got[8] = "";

	(void)unused;
	close(fd);
	expect(strcmp(at, "written"), 0, "a mapping has what was written");
	expect(strcmp(at + PAGE + 10, "stored"), 0, "and what was stored");
	strcpy(at + PAGE + 20, "from below");
	fd = open(NAME, O_RDWR);
	expect(pread(fd, got, 6, PAGE + 10), 6, "pread");
	expect(memcmp(got, "stored", 6), 0, "the file has what was stored");
	expect(pwrite(fd, "W", 1, 0), 1, "pwrite");
	expect(at[0], 'W', "what was written at once");
	_exit(failures != 0);
}

static void
of_a_file(void)
{
	int fd = open(NAME, O_RDWR | O_CREAT | O_TRUNC, 0644);
	char *at, *second, got[32] = "";
	struct stat s;

	expect(write(fd, "written", 8), 8, "write");
	expect(ftruncate(fd, 2 * PAGE), 0, "ftruncate");
	at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	expect(at != MAP_FAILED, 1, "mmap");
	expect(strcmp(at, "written"), 0, "what was there");
	strcpy(at + PAGE + 10, "stored");
	in_child(open_and_map, NULL, "a child that maps it itself");
	expect(at[0], 'W', "what the child wrote");
	expect(strcmp(at + PAGE + 20, "from below"), 0, "what the child stored");
	in_child(store, at, "a child with the parent's mapping");
	expect(pread(fd, got, 6, 0), 6, "read");
	expect(strcmp(got, "child"), 0, "read");
	second = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, PAGE);
	expect(strcmp(second + 10, "stored"), 0, "the second page alone");
	expect(lseek(fd, 100, SEEK_SET), 100, "lseek");
	expect(write(fd, "at the offset", 14), 14, "write");
	expect(strcmp(at + 100, "at the offset"), 0, "write at the offset");
	expect(msync(at, 2 * PAGE, MS_SYNC), 0, "msync");
	expect(munmap(at, PAGE), 0, "munmap of a part");
	expect(strcmp(at + PAGE + 10, "stored"), 0, "the other part");
	expect(munmap(at + PAGE, PAGE), 0, "munmap");
	expect(close(fd), 0, "close");
	expect(unlink(NAME), 0, "unlink");
	expect(strcmp(second + 10, "stored"), 0, "mapped, and without a name");
	expect(munmap(second, PAGE), 0, "munmap");
	expect(stat(NAME, &s), -1, "stat");
}

/* A file grows into what is mapped already, by truncate and by write. */
static void
it_grows(void)
{
	int fd = open(NAME, O_RDWR | O_CREAT | O_TRUNC, 0644);
	char *at, got[4];
	struct stat s;

	expect(ftruncate(fd, 10), 0, "ftruncate");
	at = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	strcpy(at, "abc");
	expect(ftruncate(fd, 2 * PAGE), 0, "ftruncate");
	expect(at[PAGE + 5], 0, "zero");
	at[PAGE + 5] = 'x';
	expect(pread(fd, got, 1, PAGE + 5), 1, "pread");
	expect(got[0], 'x', "in the file");
	expect(pwrite(fd, "yz", 2, 2 * PAGE + 7), 2, "pwrite behind the end");
	expect(at[2 * PAGE + 8], 'z', "in memory");
	fstat(fd, &s);
	expect(s.st_size, 2 * PAGE + 9, "size");
	expect(ftruncate(fd, 2), 0, "ftruncate");
	expect(ftruncate(fd, 3 * PAGE), 0, "ftruncate");
	expect(at[1] == 'b' && at[2] == 0 && at[PAGE + 5] == 0 && at[2 * PAGE + 8] == 0, 1,
		"what was cut off is zero");
	for (int i = 3; i < 40; i++)
		expect(pwrite(fd, "page", 4, i * PAGE), 4, "many pages");
	expect(pread(fd, got, 4, 39 * PAGE), 4, "pread");
	expect(memcmp(got, "page", 4), 0, "the last page");
	expect(munmap(at, 3 * PAGE), 0, "munmap");
	close(fd);
	unlink(NAME);
}

static void
private(void)
{
	int fd = open(NAME, O_RDWR | O_CREAT | O_TRUNC, 0644);
	char *at, got[4], *shared;

	expect(write(fd, "original", 8), 8, "write");
	at = mmap(NULL, 100, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	expect(memcmp(at, "original", 9), 0, "a copy");
	at[0] = 'O';
	expect(pread(fd, got, 1, 0), 1, "pread");
	expect(got[0], 'o', "the file has not changed");
	expect(munmap(at, 100), 0, "munmap");
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	shared[1] = 'R';
	at = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	expect(memcmp(at, "oRiginal", 9), 0, "a copy of what is shared");
	munmap(at, PAGE);
	munmap(shared, PAGE);
	close(fd);
	unlink(NAME);
}

static void
what_is_wrong(void)
{
	int fd = open(NAME, O_RDONLY | O_CREAT | O_TRUNC, 0644), folder = open(".", O_RDONLY), p[2];
	int rw = open(NAME, O_RDWR), w = open(NAME, O_WRONLY);
	char *at;

	ftruncate(rw, PAGE);
	expect(is_wrong(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), EACCES),
		EACCES, "to be written");
	expect(is_wrong(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, w, 0), EACCES), EACCES, "unread");
	expect(is_wrong(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, folder, 0), ENODEV), ENODEV,
		"a directory");
	pipe(p);
	expect(is_wrong(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, p[0], 0), ENODEV), ENODEV,
		"a pipe");
	expect(is_wrong(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, 99, 0), EBADF), EBADF, "closed");
	expect(is_wrong(mmap(NULL, 0, PROT_READ, MAP_SHARED, fd, 0), EINVAL), EINVAL, "nothing");
	expect(is_wrong(mmap(NULL, PAGE, PROT_READ, 0, fd, 0), EINVAL), EINVAL, "neither");
	at = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	expect(mprotect(at, PAGE, PROT_READ | PROT_WRITE) == -1 && errno == EACCES, 1, "mprotect");
	expect(msync(at + 1, 1, MS_SYNC) == -1 && errno == EINVAL, 1, "msync");
	expect(msync(at, PAGE, MS_SYNC | MS_ASYNC) == -1 && errno == EINVAL, 1, "msync");
	munmap(at, PAGE);
	expect(msync(at, PAGE, MS_SYNC) == -1 && errno == ENOMEM, 1, "msync");
	at = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, rw, 0);
	expect(mprotect(at, PAGE, PROT_READ | PROT_WRITE), 0, "mprotect");
	at[0] = 1;
	munmap(at, PAGE);
	close(fd), close(rw), close(w), close(folder), close(p[0]), close(p[1]);
	unlink(NAME);
}

static void
open_by_name(void *unused)
{
	int fd = shm_open(name, O_RDWR, 0);
	int *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	(void)unused;
	expect(fd >= 0, 1, "shm_open in a child");
	__atomic_fetch_add(at, 7, __ATOMIC_SEQ_CST);
}

static void
count_until_killed(int *at)
{
	for (;;)
		__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST);
}

static void
by_name(void)
{
	int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600), status, *at;
	pid_t pid;

	expect(shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600) == -1 && errno == EEXIST, 1, "EXCL");
	expect(ftruncate(fd, PAGE), 0, "ftruncate");
	at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	for (int i = 0; i < 3; i++)
		in_child(open_by_name, NULL, "a child opens it by name");
	expect(*at, 21, "what children have added");
	/* one that is killed at any moment leaves what it has stored */
	pid = fork();
	if (pid == 0)
		count_until_killed(at);
	while (__atomic_load_n(at, __ATOMIC_SEQ_CST) < 1000)
		continue;
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	expect(__atomic_load_n(at, __ATOMIC_SEQ_CST) >= 1000, 1, "who is killed");
	expect(shm_unlink(name), 0, "shm_unlink");
	expect(shm_unlink(name) == -1 && errno == ENOENT, 1, "shm_unlink again");
	expect(shm_open(name, O_RDWR, 0) == -1 && errno == ENOENT, 1, "unlinked");
	fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	ftruncate(fd, PAGE);
	expect(*(int *)mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0), 0, "a new one");
	expect(*at >= 1000, 1, "the old one");
	munmap(at, PAGE);
	close(fd);
	shm_unlink(name);
}

/* Many are made and ended: nothing is left of them. */
static void
many(void)
{
	int wrong = 0;

	for (int i = 0; i < 200; i++) {
		int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
		char *at;

		ftruncate(fd, 8 * PAGE);
		at = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		wrong += at == MAP_FAILED;
		if (at == MAP_FAILED)
			break;
		wrong += at[7 * PAGE] != 0;
		memset(at, i + 1, 8 * PAGE);
		shm_unlink(name);
		close(fd);
		munmap(at, 8 * PAGE);
	}
	expect(wrong, 0, "one after the other");
}

static void
links(void)
{
	int fd = open(NAME, O_RDWR | O_CREAT | O_TRUNC, 0644);
	struct stat s, other;

	unlink("second");
	expect(link(NAME, "second"), 0, "link");
	expect(link(NAME, "second") == -1 && errno == EEXIST, 1, "link again");
	expect(link("nothing", "third") == -1 && errno == ENOENT, 1, "link of nothing");
	stat(NAME, &s), stat("second", &other);
	expect(s.st_ino == other.st_ino && s.st_nlink == 2, 1, "one file");
	expect(unlink(NAME), 0, "unlink");
	expect(stat(NAME, &s), -1, "the first name");
	stat("second", &s);
	expect(s.st_ino == other.st_ino && s.st_nlink == 1, 1, "the second name");
	expect(unlink("second"), 0, "unlink");
	close(fd);
	close(open(NAME, O_RDWR | O_CREAT, 0644));
	stat(NAME, &s);
	expect(s.st_nlink, 1, "links of a new file");
	unlink(NAME);
}

int
main(void)
{
	snprintf(name, sizeof(name), "/shared-%d", getpid());
	anonymous();
	of_a_file();
	it_grows();
	private();
	what_is_wrong();
	by_name();
	many();
	links();
	return verdict("shared");
}
