/* SPDX-License-Identifier: MIT
 *
 * Memory without rights: who touches it gets SIGSEGV, or EFAULT in a call; it keeps what it has;
 * children have it so, too; and the guards of threads' stacks are such pages. The same here and on
 * Linux.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "touch.h"

#define PAGE 4096
#define PAGES 8
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW (PROT_READ | PROT_WRITE)
#define STACK 65536

/* Touch a byte: 0, or the code of the SIGSEGV that came; -1: another signal or address. */
static int
touched(char *at, int is_written)
{
	int came = touch(at, is_written);

	return came == SIGSEGV ? touch_code : came == 0 ? 0 : -1;
}

static char *
filled(int flags)
{
	char *p = mmap(NULL, PAGES * PAGE, RW, flags | MAP_ANONYMOUS, -1, 0);

	expect(p != MAP_FAILED, 1, "mmap");
	for (int i = 0; i < PAGES; i++)
		memset(p + i * PAGE, 'a' + i, PAGE);
	return p;
}

static void
calls_say_so(char *p)
{
	int ends[2];

	expect(pipe(ends), 0, "pipe");
	expect(write(ends[1], p, 5) == -1 && errno == EFAULT, 1, "write from there");
	expect(write(ends[1], "12345", 5), 5, "write");
	expect(read(ends[0], p, 5) == -1 && errno == EFAULT, 1, "read to there");
	close(ends[0]);
	close(ends[1]);
}

static void
take_and_give_back(int flags)
{
	char *p = filled(flags);

	expect(mprotect(p + PAGE, 3 * PAGE, PROT_NONE), 0, "take the rights away");
	expect(touched(p, 1) + touched(p + 4 * PAGE, 1), 0, "its neighbours");
	for (int i = 1; i < 4; i++) {
		expect(touched(p + i * PAGE, 0), SEGV_ACCERR, "read");
		expect(touched(p + i * PAGE + 9, 1), SEGV_ACCERR, "write");
	}
	calls_say_so(p + 2 * PAGE);
	expect(mprotect(p + 2 * PAGE, PAGE, PROT_READ), 0, "give one back");
	expect(touched(p + 2 * PAGE, 0), 0, "read it");
	expect(touched(p + 2 * PAGE, 1), SEGV_ACCERR, "write to what can be read");
	expect(mprotect(p, PAGES * PAGE, RW), 0, "give all back");
	for (int i = 1; i < 4; i++)
		for (int at = 0; at < PAGE; at++)
			if (p[i * PAGE + at] != 'a' + i)
				expect(at, PAGE, "what was there");
	expect(touched(p + 3 * PAGE, 1), 0, "write again");
	expect(munmap(p, PAGES * PAGE), 0, "munmap");
	expect(touched(p + PAGE, 0), SEGV_MAPERR, "read what is gone");
}

/* In the place of memory comes what has no rights, and zeros when it gets some. */
static void
replace(void)
{
	char *p = filled(MAP_PRIVATE), *q;

	q = mmap(p + PAGE, 4 * PAGE, PROT_NONE, ANON | MAP_FIXED, -1, 0);
	expect(q == p + PAGE, 1, "in the place of it");
	expect(touched(p + PAGE, 0) + touched(p + 4 * PAGE, 1), 2 * SEGV_ACCERR, "touch");
	expect(mprotect(p + 2 * PAGE, 2 * PAGE, RW), 0, "rights");
	expect(p[2 * PAGE] + p[4 * PAGE - 1], 0, "zeros");
	memset(p + 2 * PAGE, 'n', 2 * PAGE);
	expect(p[3 * PAGE], 'n', "it is memory");
	expect(touched(p + PAGE, 1), SEGV_ACCERR, "what got none");
	expect(p[0] == 'a' && p[5 * PAGE] == 'f', 1, "the rest");
	expect(munmap(p, PAGES * PAGE), 0, "munmap");
	p = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	expect(p != MAP_FAILED, 1, "shared");
	expect(touched(p, 0), SEGV_ACCERR, "shared, read");
	expect(mprotect(p, PAGE, RW), 0, "rights of what is shared");
	expect(touched(p, 1), 0, "write to it");
	munmap(p, PAGES * PAGE);
}

static int
ends_by(char *p, int is_written)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		if (is_written)
			*(volatile char *)p = 1;
		else
			(void)*(volatile char *)p;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

/* A child has no rights either; with them it has its own copy. */
static void
children(void)
{
	char *p = filled(MAP_PRIVATE);
	int status = 0;
	pid_t pid;

	expect(mprotect(p, 2 * PAGE, PROT_NONE), 0, "take the rights away");
	expect(ends_by(p, 0), SIGSEGV, "a child that reads");
	expect(ends_by(p + PAGE, 1), SIGSEGV, "a child that writes");
	expect(ends_by(p + 2 * PAGE, 1), 0, "a child that writes elsewhere");
	pid = fork();
	if (pid == 0) {
		int bad = touched(p, 0) != SEGV_ACCERR || mprotect(p, 2 * PAGE, RW) != 0 ||
			p[0] != 'a' || p[PAGE] != 'b';

		memset(p, 'c', 2 * PAGE);
		_exit(bad || p[PAGE] != 'c');
	}
	waitpid(pid, &status, 0);
	expect(status, 0, "a child with rights");
	expect(touched(p, 0), SEGV_ACCERR, "the parent has none");
	expect(mprotect(p, 2 * PAGE, RW), 0, "but gets some");
	expect(p[0] == 'a' && p[PAGE] == 'b', 1, "and what was there");
	munmap(p, PAGES * PAGE);
}

/* A thread touches the page below its stack. */
static void *
fall(void *at)
{
	static char other[STACK];
	const stack_t alternate = {.ss_sp = other, .ss_size = sizeof(other)};

	sigaltstack(&alternate, NULL);
	return (void *)(long)(touched(at, 0) == SEGV_ACCERR && touched(at, 1) == SEGV_ACCERR);
}

static void
guards(void)
{
	pthread_attr_t attr;
	pthread_t t;
	void *result = NULL;
	char *stack = mmap(NULL, STACK + PAGE, RW, ANON, -1, 0);

	expect(mprotect(stack, PAGE, PROT_NONE), 0, "a guard");
	pthread_attr_init(&attr);
	expect(pthread_attr_setstack(&attr, stack + PAGE, STACK), 0, "a stack");
	expect(pthread_create(&t, &attr, fall, stack + PAGE - 8), 0, "a thread");
	expect(pthread_join(t, &result), 0, "its end");
	expect((long)result, 1, "its guard");
	munmap(stack, STACK + PAGE);
}

int
main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	touch_begin();
	take_and_give_back(MAP_PRIVATE);
	take_and_give_back(MAP_SHARED);
	replace();
	children();
	guards();
	return verdict("protected");
}
