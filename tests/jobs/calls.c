/* SPDX-License-Identifier: MIT
 *
 * Calls that programs use seldom, each for what it is for: vectors at offsets, copies between
 * descriptors, files without names, ranges of descriptors, memory that stays, orders, names. The
 * same here and on Linux.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unaware.h"

#define MANY 10000
#define PAGE 4096
#define CLOEXEC_RANGE 4

static char bytes[MANY], have[MANY];

static int
made(const char *name, const char *text)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);

	expect(fd >= 0, 1, name);
	expect(write(fd, text, strlen(text)), (long)strlen(text), name);
	return fd;
}

static void
expect_text(int fd, const char *want, const char *what)
{
	ssize_t n = pread(fd, have, sizeof(have), 0);

	expect(n, (long)strlen(want), what);
	expect(n < 0 ? 1 : memcmp(have, want, (size_t)n), 0, what);
}

static void
vectors(void)
{
	char a[4] = {0}, b[8] = {0};
	struct iovec in[2] = {{a, 3}, {b, 5}}, out[2] = {{"XY", 2}, {"Z", 1}};
	int fd = made("vectors", "0123456789");

	expect(preadv(fd, in, 2, 1), 8, "preadv");
	expect(strcmp(a, "123") + strcmp(b, "45678"), 0, "what it read");
	expect(preadv(fd, in, 2, 5), 5, "preadv up to the end");
	expect(preadv(fd, in, 2, 50), 0, "preadv behind the end");
	expect(pwritev(fd, out, 2, 4), 3, "pwritev");
	expect(lseek(fd, 0, SEEK_CUR), 10, "neither moves the offset");
	expect_text(fd, "0123XYZ789", "what it wrote");
	lseek(fd, 2, SEEK_SET);
	expect(syscall(SYS_preadv2, fd, in, 1, -1L, 0, 0), 3, "preadv2 at the offset");
	expect(lseek(fd, 0, SEEK_CUR), 5, "which moves");
	expect(syscall(SYS_pwritev2, fd, out, 2, -1L, 0, 0), 3, "pwritev2 there");
	expect_text(fd, "0123XXYZ89", "what that wrote");
	close(fd);
}

static void
copies(void)
{
	int from = made("from", ""), to = made("to", "abc"), ends[2], pair[2];
	off_t at = 9000;
	loff_t in = 2, out = 1;

	for (int i = 0; i < MANY; i++)
		bytes[i] = (char)('a' + i % 26);
	expect(write(from, bytes, MANY), MANY, "bytes");
	lseek(from, 100, SEEK_SET);
	expect(sendfile(to, from, NULL, 9000), 9000, "sendfile to a file");
	expect(lseek(from, 0, SEEK_CUR), 9100, "moves what is read");
	expect(pread(to, have, MANY, 3), 9000, "and what is written");
	expect(memcmp(have, bytes + 100, 9000), 0, "the bytes");
	expect(sendfile(to, from, &at, 5000), 1000, "up to the end");
	expect(at, MANY, "of the offset");
	expect(lseek(from, 0, SEEK_CUR), 9100, "and not of the file's");
	expect(pipe(ends), 0, "pipe");
	at = 0;
	expect(sendfile(ends[1], from, &at, 500), 500, "sendfile to a pipe");
	expect(read(ends[0], have, MANY), 500, "in one piece");
	expect(memcmp(have, bytes, 500), 0, "its bytes");
	expect(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0, "socketpair");
	expect(sendfile(pair[0], from, &at, 300), 300, "sendfile to a socket");
	expect(read(pair[1], have, MANY), 300, "what comes");
	expect(memcmp(have, bytes + 500, 300), 0, "are the next ones");
	expect(copy_file_range(from, &in, to, &out, 700, 0), 700, "copy_file_range");
	expect(in * 10000 + out, 7020701, "both offsets");
	expect(pread(to, have, 701, 0), 701, "what is there");
	expect(memcmp(have + 1, bytes + 2, 700) + (have[0] != 'a'), 0, "of it");
	lseek(from, 0, SEEK_SET);
	lseek(to, 0, SEEK_SET);
	expect(copy_file_range(from, NULL, to, NULL, 10, 0), 10, "at their own offsets");
	expect(lseek(from, 0, SEEK_CUR) + lseek(to, 0, SEEK_CUR), 20, "which move");
	for (int i = 0; i < 2; i++) {
		close(ends[i]);
		close(pair[i]);
	}
	close(from);
	close(to);
}

static void
nameless(void)
{
	int fd = memfd_create("name", MFD_CLOEXEC), other = memfd_create("name", 0), status = -1;
	struct stat s;
	char *p;

	expect(fd >= 0 && other >= 0 && fd != other, 1, "memfd_create");
	expect(fcntl(fd, F_GETFD) == FD_CLOEXEC && fcntl(other, F_GETFD) == 0, 1, "their flags");
	expect(write(fd, "text", 4), 4, "written");
	expect_text(fd, "text", "and read");
	expect_text(other, "", "the other one has nothing");
	expect(fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_nlink == 0, 1, "it has no name");
	expect(ftruncate(fd, PAGE), 0, "ftruncate");
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	expect(p != MAP_FAILED && memcmp(p, "text", 4) == 0, 1, "mmap");
	if (fork() == 0) {
		memcpy(p, "ours", 4);
		_exit(write(other, "more", 4) != 4);
	}
	expect(wait(&status) > 0, 1, "a child");
	expect(status, 0, "which writes, too");
	expect(memcmp(p, "ours", 4), 0, "to the same memory");
	expect_text(other, "more", "and the same file");
	munmap(p, PAGE);
	close(fd);
	close(other);
	fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	expect(fd >= 0 && write(fd, "x", 1) == 1, 1, "O_TMPFILE");
	expect(open("/tmp", O_TMPFILE | O_RDONLY, 0600), -1, "to be read only");
	expect(errno, EINVAL, "makes no sense");
	close(fd);
}

static void
ranges(void)
{
	int fd = made("ranges", "");

	for (int i = 40; i < 50; i++)
		expect(dup2(fd, i), i, "dup2");
	expect(syscall(SYS_close_range, 43, 46, 0), 0, "close_range");
	for (int i = 40; i < 50; i++)
		expect(fcntl(i, F_GETFD), i < 43 || i > 46 ? 0 : -1, "which are open");
	expect(syscall(SYS_close_range, 48, ~0u, CLOEXEC_RANGE), 0, "for exec");
	for (int i = 47; i < 50; i++)
		expect(fcntl(i, F_GETFD), i == 47 ? 0 : FD_CLOEXEC, "they stay until then");
	expect(syscall(SYS_close_range, 40, ~0u, 0), 0, "all above");
	expect(fcntl(49, F_GETFD), -1, "are closed");
	expect(fcntl(fd, F_GETFD), 0, "not those below");
	expect(fallocate(fd, 0, 100, 5000), 0, "fallocate");
	expect(lseek(fd, 0, SEEK_END), 5100, "makes it longer");
	expect(fallocate(fd, 0, 0, 10), 0, "fallocate inside");
	expect(lseek(fd, 0, SEEK_END), 5100, "does not");
	expect(posix_fallocate(fd, 0, 6000), 0, "posix_fallocate");
	expect(syscall(SYS_fchmodat2, AT_FDCWD, "ranges", 0600, 0), 0, "fchmodat2");
	close(fd);
}

static void
memory(void)
{
	unsigned char there[3] = {0};
	char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	expect(p != MAP_FAILED, 1, "mmap");
	expect(mlock(p + 10, PAGE), 0, "mlock");
	expect(mlock(p, 3 * PAGE), 0, "mlock of all");
	expect(mincore(p, 3 * PAGE, there), 0, "mincore");
	expect(there[0] & there[1] & there[2] & 1, 1, "all are there");
	expect(munlock(p, 3 * PAGE), 0, "munlock");
	expect(munmap(p + PAGE, PAGE), 0, "munmap");
	expect(mlock(p, 3 * PAGE), -1, "mlock over a hole");
	expect(errno, ENOMEM, "says that");
	expect(mincore(p, 3 * PAGE, there), -1, "mincore, too");
	expect(errno, ENOMEM, "says so");
	expect(mlockall(MCL_CURRENT | MCL_FUTURE) + munlockall(), 0, "mlockall");
}

/* What is asked for is what is there then, also of a child. */
static void
cores(void)
{
	cpu_set_t all, one, now;
	int first = -1, status = -1;

	expect(sched_getaffinity(0, sizeof(all), &all), 0, "sched_getaffinity");
	for (int i = 0; i < CPU_SETSIZE && first < 0; i++)
		if (CPU_ISSET(i, &all))
			first = i;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	expect(sched_setaffinity(0, sizeof(one), &one), 0, "sched_setaffinity to one");
	expect(sched_getaffinity(0, sizeof(now), &now), 0, "sched_getaffinity");
	expect(CPU_EQUAL(&now, &one), 1, "it is that one");
	expect(sched_getcpu(), first, "where it runs");
	expect(sched_setaffinity(0, sizeof(all), &all), 0, "sched_setaffinity to all");
	expect(sched_getaffinity(0, sizeof(now), &now), 0, "sched_getaffinity");
	expect(CPU_EQUAL(&now, &all), 1, "it is all");
	CPU_ZERO(&one);
	expect(sched_setaffinity(0, sizeof(one), &one), -1, "to none");
	expect(errno, EINVAL, "is wrong");
	if (fork() == 0)
		_exit(sched_getaffinity(0, sizeof(now), &now) != 0 || !CPU_EQUAL(&now, &all));
	expect(wait(&status) > 0, 1, "a child");
	expect(status, 0, "has them, too");
}

static void
orders(void)
{
	struct sched_param p = {.sched_priority = 77};
	struct timespec turn = {-1, -1};
	int status = -1;

	expect(syscall(SYS_sched_getscheduler, 0), SCHED_OTHER, "sched_getscheduler");
	expect(syscall(SYS_sched_getparam, getpid(), &p), 0, "sched_getparam");
	expect(p.sched_priority, 0, "which is 0");
	expect(syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &p), 0, "sched_setscheduler");
	p.sched_priority = 1;
	expect(syscall(SYS_sched_setparam, 0, &p), -1, "sched_setparam");
	expect(errno, EINVAL, "to another one");
	expect(syscall(SYS_sched_rr_get_interval, 0, &turn), 0, "sched_rr_get_interval");
	expect(turn.tv_sec == 0 && turn.tv_nsec >= 0, 1, "is short");
	expect(getpriority(PRIO_PROCESS, 0), 0, "getpriority");
	expect(setpriority(PRIO_PROCESS, getpid(), 5), 0, "setpriority");
	expect(getpriority(PRIO_PROCESS, 0), 5, "is what was set");
	expect((long)umask(027), 022, "the mask of modes");
	expect(getpriority(PRIO_PROCESS, 0), 5, "is another matter");
	expect((long)umask(022), 027, "and the mask");
	expect(setpriority(PRIO_PROCESS, 0, 100), 0, "more than there is");
	expect(getpriority(PRIO_PROCESS, 0), 19, "is the most");
	if (fork() == 0)
		_exit(getpriority(PRIO_PROCESS, 0) != 19);
	expect(wait(&status) > 0, 1, "a child");
	expect(status, 0, "is as nice");
	expect(setpriority(PRIO_PROCESS, 0, -3), 0, "less nice");
	expect(getpriority(PRIO_PROCESS, 0), -3, "it is");
	expect(setpriority(PRIO_PROCESS, 0, 0), 0, "as at first");
}

static void *
named(void *name)
{
	char now[16];

	expect(prctl(PR_SET_NAME, name), 0, "PR_SET_NAME");
	expect(prctl(PR_GET_NAME, now), 0, "PR_GET_NAME");
	expect(strncmp(now, name, 15) + (now[15] != 0), 0, "is its first letters");
	return NULL;
}

static void
names(void)
{
	char now[16];
	pthread_t t;
	struct timeval tv = {-1, -1};
	int signal = -1;

	named("main");
	expect(pthread_create(&t, NULL, named, "a name of many letters"), 0, "pthread_create");
	pthread_join(t, NULL);
	expect(prctl(PR_GET_NAME, now) + strcmp(now, "main"), 0, "each thread has its own");
	expect(prctl(PR_GET_PDEATHSIG, &signal) + signal, 0, "no signal of a parent's death");
	expect(prctl(PR_GET_DUMPABLE), 1, "PR_GET_DUMPABLE");
	expect(syscall(SYS_gettimeofday, &tv, NULL), 0, "gettimeofday");
	expect(tv.tv_sec >= 0 && tv.tv_usec >= 0 && tv.tv_usec < 1000000, 1, "is a time");
	expect(syscall(SYS_membarrier, 0, 0, 0) >= 0, 1, "membarrier says what it can do");
}

int
main(void)
{
	umask(022);
	vectors();
	copies();
	nameless();
	ranges();
	memory();
	cores();
	orders();
	names();
	return verdict("calls");
}
