/* SPDX-License-Identifier: MIT
 *
 * A program that knows nothing of roles computes on an AC. That gets a role without programs, so
 * the program goes on where it was on a TC, which another program has, too; and it is brought back
 * when the core is an AC again. It computes in slices of the same work. usage: fallback [--slices
 * N] [--unit N]: how many in each of the three places at least, of so many additions. Windows:
 * label 17: each slice that began and ended on one core. riscv64. Source: seed 004 4 ("it will
 * simply move back to a TC").
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <hal/perf.h>
#include "roles.h"

static struct shared {
	uint64_t seen;		/* core where the last slice ended; how many in a row were there */
	uint32_t may_go;
} *shared;

static long slices, unit;

/* --- the program: C and Linux's calls --- */

static void
slice_was_on(int from, int to)
{
	uint64_t seen = shared->seen, row = from != to ? 0 : seen >> 32 == (uint64_t)to ?
		(uint32_t)seen + 1 : 1;

	__atomic_store_n(&shared->seen, (uint64_t)to << 32 | row, __ATOMIC_RELEASE);
}

static _Noreturn void
computes(void)
{
	while (__atomic_load_n(&shared->may_go, __ATOMIC_ACQUIRE) == 0)
		continue;
	for (;;) {
		int core = sched_getcpu();

		hal_mark(LABEL + 1);
		hal_mark(MARK_BEGIN);
		for (long n = 0; n < unit; n++)
			__asm__ volatile("" : "+r"(n));
		hal_mark(MARK_END);
		slice_was_on(core, sched_getcpu());
	}
}

static _Noreturn void
computes_for_ever(void)
{
	for (;;)
		continue;
}

/* --- who moves it --- */

static void
tell(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		role_fail(path, fd);
	close(fd);
}

static void
place(pid_t pid, int core)
{
	char path[48], text[32];

	snprintf(path, sizeof(path), "/proc/%d/ctl", pid);
	snprintf(text, sizeof(text), "core %d\n", core);
	tell(path, text);
}

static pid_t
start(void (*program)(void), int core)
{
	pid_t pid = fork();

	if (pid < 0)
		role_fail("no other process", pid);
	if (pid == 0)
		program();
	place(pid, core);
	return pid;
}

static void
give_role(int core, const char *role)
{
	char text[48];

	snprintf(text, sizeof(text), "core %d role %s\n", core, role);
	tell("/dev/cores", text);
}

static void
end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Until so many slices in a row have begun and ended on a core. */
static void
see(int core)
{
	uint64_t seen;

	do {
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
		seen = __atomic_load_n(&shared->seen, __ATOMIC_ACQUIRE);
	} while (seen >> 32 != (uint64_t)core || (long)(uint32_t)seen < slices);
}

int
main(int argc, char **argv)
{
	int ac = role_core(ROLE_AC), tc = role_core(ROLE_TC);
	pid_t program, beside;

	slices = number(argc, argv, "--slices", 100);
	unit = number(argc, argv, "--unit", 50000);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		-1, 0);
	if (shared == MAP_FAILED)
		role_fail("no memory", -1);
	tell("/dev/cores", "provision off\n");
	program = start(computes, ac);
	__atomic_store_n(&shared->may_go, 1, __ATOMIC_RELEASE);
	see(ac);
	beside = start(computes_for_ever, tc);
	give_role(ac, "idle");
	see(tc);
	end(beside);
	give_role(ac, "ac");
	place(program, ac);
	see(ac);
	end(program);
	return 0;
}
