/* SPDX-License-Identifier: MIT
 *
 * Mappings at addresses that the program chooses, in the place of others, and statx: the same here
 * and on Linux.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)

static char *area;

static void
say(const char *what, long value)
{
	printf("%s: %ld\n", what, value);
}

static void *
map(int page, int pages, int prot, int flags, int fd, long offset)
{
	return mmap(area + page * PAGE, (size_t)pages * PAGE, prot, flags, fd, offset);
}

static void
say_map(const char *what, const void *have, int page)
{
	if (have == MAP_FAILED)
		printf("%s: %s\n", what, strerror(errno));
	else
		printf("%s: %s\n", what, (const char *)have == area + page * PAGE ? "there" :
			"elsewhere");
}

static sigjmp_buf back;

static void
fault(int sig)
{
	siglongjmp(back, sig);
}

/* What is read, or -1. */
static long
look(int page)
{
	long value = -1;

	if (sigsetjmp(back, 1) == 0)
		value = *(volatile unsigned char *)(area + page * PAGE);
	return value;
}

static void
memory(void)
{
	area = mmap(NULL, 16 * PAGE, PROT_NONE, ANON, -1, 0);
	say("what is reserved", look(3));
	say_map("two pages of it", map(3, 2, RW, ANON | MAP_FIXED, -1, 0), 3);
	memset(area + 3 * PAGE, 7, 2 * PAGE);
	say("before it", look(2));
	say("its first", look(3));
	say("its last", look(4));
	say("behind it", look(5));
	say_map("in its place", map(4, 3, RW, ANON | MAP_FIXED, -1, 0), 4);
	say("what was there", look(4));
	say("beside it", look(3));
	area[4 * PAGE] = 9;
	say_map("to be read", map(3, 1, PROT_READ, ANON | MAP_FIXED, -1, 0), 3);
	say("is nothing", look(3));
	say("beside it", look(4));
	say_map("not in its place", map(4, 2, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0), 4);
	say("it is still there", look(4));
	munmap(area + 8 * PAGE, 2 * PAGE);
	say_map("where nothing is", map(8, 2, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0), 8);
	say("something", look(9));
	say_map("at no page", mmap(area + 5, PAGE, RW, ANON | MAP_FIXED, -1, 0), 0);
	say_map("of no bytes", map(3, 0, RW, ANON | MAP_FIXED, -1, 0), 3);
}

static void
files(void)
{
	int fd = open("placed", O_RDWR | O_CREAT | O_TRUNC, 0644), status = 0;
	char text[2 * PAGE];
	pid_t pid;

	memset(text, 1, PAGE);
	memset(text + PAGE, 2, PAGE);
	if (fd < 0 || write(fd, text, sizeof(text)) != sizeof(text))
		return;
	say_map("a copy", map(3, 2, RW, MAP_PRIVATE | MAP_FIXED, fd, 0), 3);
	say("its first page", look(3));
	say("its second page", look(4));
	area[3 * PAGE] = 5;
	say_map("the file", map(4, 1, RW, MAP_SHARED | MAP_FIXED, fd, PAGE), 4);
	say("its second page", look(4));
	area[4 * PAGE] = 6;
	say("what is read", pread(fd, text, 1, PAGE) == 1 ? text[0] : -1);
	say_map("shared memory", map(5, 1, RW, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0), 5);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		area[3 * PAGE] = area[4 * PAGE] = area[5 * PAGE] = 77;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	say("a child's write to a copy", look(3));
	say("to the file", look(4));
	say("to shared memory", look(5));
	close(fd);
}

static void
status(void)
{
	struct stat s;
	struct statx x;

	stat("placed", &s);
	say("statx", syscall(SYS_statx, AT_FDCWD, "placed", 0, 0x7ff, &x));
	say("size", (long)x.stx_size);
	say("mode", x.stx_mode);
	say("links", x.stx_nlink);
	say("the same file", x.stx_ino == s.st_ino && x.stx_mtime.tv_sec == s.st_mtime &&
		(long)x.stx_blocks == (long)s.st_blocks);
	say("what is known", (x.stx_mask & 0x7ff) == 0x7ff);
	say("of what is open", syscall(SYS_statx, 0, "", AT_EMPTY_PATH, 0x7ff, &x));
	unlink("placed");
}

int
main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGSEGV, fault);
	signal(SIGBUS, fault);
	memory();
	files();
	status();
	printf("ok replaced\n");
	return 0;
}
