/* SPDX-License-Identifier: MIT
 *
 * Mappings that reach behind the end of their files: zeros up to the end of the last page, SIGBUS
 * beyond it, until the file grows. The same here and on Linux.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "touch.h"

#define PAGE 4096
#define RW (PROT_READ | PROT_WRITE)
#define BYTES 5000		/* of the file: two pages, and not all of the second */

/* Touch a byte: 0, or the signal that came; -1: its address or code is none of Linux. */
static int
touched(char *at, int is_written)
{
	int came = touch(at, is_written);

	return came > 0 && touch_code != (came == SIGBUS ? BUS_ADRERR : SEGV_ACCERR) ? -1 : came;
}

static int
file_of(size_t bytes)
{
	static char text[2 * PAGE];
	char name[] = "/tmp/behindXXXXXX";
	int fd = mkstemp(name);

	expect(fd >= 0, 1, "a file");
	unlink(name);
	memset(text, 'f', sizeof(text));
	expect(write(fd, text, bytes), (long)bytes, "write");
	return fd;
}

static char *
map(int fd, int flags, int prot, int pages, int first)
{
	char *p = mmap(NULL, (size_t)pages * PAGE, prot, flags, fd, (off_t)first * PAGE);

	expect(p != MAP_FAILED, 1, "mmap");
	return p;
}

static int
ends_by(char *p)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGBUS, SIG_DFL);
		(void)*(volatile char *)p;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

static void
look(int flags)
{
	int fd = file_of(BYTES), ends[2];
	char *p = map(fd, flags, RW, 4, 0), *q = map(fd, flags, PROT_READ, 4, 1);

	expect(p[0] == 'f' && p[BYTES - 1] == 'f', 1, "what is in the file");
	expect(p[BYTES] + p[2 * PAGE - 1], 0, "zeros up to the end of its last page");
	expect(touched(p + BYTES, 1), 0, "which can be written");
	for (int i = 0; i < 2; i++) {
		expect(touched(p + 2 * PAGE, i), SIGBUS, "the first page behind it");
		expect(touched(p + 4 * PAGE - 1, i), SIGBUS, "the last page behind it");
	}
	expect(touched(q + PAGE - 1, 0), 0, "from its second page on");
	expect(touched(q + PAGE, 0), SIGBUS, "behind that");
	expect(touched(q + PAGE, 1), SIGSEGV, "written to without the right");
	expect(ends_by(p + 3 * PAGE), SIGBUS, "a child without a handler");
	expect(pipe(ends), 0, "pipe");
	expect(write(ends[1], p + 2 * PAGE, 1) == -1 && errno == EFAULT, 1, "a call with it");
	close(ends[0]);
	close(ends[1]);
	close(fd);
	expect(touched(p + 2 * PAGE, 0), SIGBUS, "when the file is closed");
	/* other memory in its place is memory */
	expect(mmap(p + 3 * PAGE, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		p + 3 * PAGE, 1, "memory in the place of it");
	expect(touched(p + 3 * PAGE, 1), 0, "which can be written");
	expect(touched(p + 2 * PAGE, 1), SIGBUS, "and before it");
	munmap(p, 4 * PAGE);
	munmap(q, 4 * PAGE);
}

/* What it grows into is there. */
static void
grow(void)
{
	int fd = file_of(BYTES);
	char *p = map(fd, MAP_SHARED, RW, 6, 0), text[4] = "";

	expect(touched(p + 2 * PAGE, 0), SIGBUS, "before it grows");
	expect(ftruncate(fd, 3 * PAGE), 0, "ftruncate");
	expect(touched(p + 2 * PAGE, 0), 0, "behind its old end");
	memcpy(p + 2 * PAGE, "abc", 4);
	expect(pread(fd, text, 4, 2 * PAGE), 4, "read");
	expect(strcmp(text, "abc"), 0, "what was stored there");
	expect(touched(p + 3 * PAGE, 1), SIGBUS, "behind its new end");
	expect(pwrite(fd, "xyz", 3, 4 * PAGE + 7), 3, "write behind the end");
	expect(p[4 * PAGE + 7] == 'x' && p[3 * PAGE] == 0, 1, "what was written there");
	expect(touched(p + 4 * PAGE + 10, 1), 0, "the rest of its last page");
	expect(touched(p + 5 * PAGE, 0), SIGBUS, "behind that");
	expect(ends_by(p + 5 * PAGE), SIGBUS, "a child without a handler");
	munmap(p, 6 * PAGE);
	close(fd);
}

static void
nothing_in_it(void)
{
	int fd = file_of(0);
	char *p = map(fd, MAP_SHARED, RW, 1, 0), *q = map(fd, MAP_PRIVATE, RW, 1, 0);

	expect(touched(p, 0), SIGBUS, "an empty file");
	expect(touched(q, 1), SIGBUS, "a copy of nothing");
	expect(pwrite(fd, "a", 1, 0), 1, "write");
	expect(p[0], 'a', "what is in it then");
	munmap(p, PAGE);
	munmap(q, PAGE);
	close(fd);
}

int
main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	touch_begin();
	look(MAP_PRIVATE);
	look(MAP_SHARED);
	grow();
	nothing_in_it();
	return verdict("behind");
}
