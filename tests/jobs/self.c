/* SPDX-License-Identifier: MIT
 *
 * What a program asks about itself, on riscv64: nothing here knows of Atoll.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unaware.h"

/* There are two then: the child can have none, nor a higher limit. */
static int
has_a_child(void)
{
	struct rlimit more = {3, 3};
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(fork() == -1 && errno == EAGAIN && setrlimit(RLIMIT_NPROC, &more) == -1 &&
			errno == EPERM ? 7 : 8);
	return pid > 0 && waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7;
}

static void
limits(void)
{
	struct rlimit r = {1, 1};

	expect(getrlimit(RLIMIT_NOFILE, &r), 0, "getrlimit");
	expect((long)r.rlim_cur, 256, "descriptors");
	expect(getrlimit(RLIMIT_STACK, &r), 0, "getrlimit of the stack");
	expect(r.rlim_cur >= 16384 && r.rlim_cur % 4096 == 0, 1, "bytes of the stack");
	expect(getrlimit(RLIMIT_CPU, &r) == 0 && r.rlim_cur == RLIM_INFINITY, 1, "no limit");
	expect(setrlimit(RLIMIT_CPU, &r), 0, "setrlimit");
	r = (struct rlimit){100, 300};
	expect(setrlimit(RLIMIT_NOFILE, &r) == -1 && errno == EPERM, 1, "more than there are");
	r = (struct rlimit){1, 2};
	expect(setrlimit(RLIMIT_NPROC, &r), 0, "one process");
	expect(fork() == -1 && errno == EAGAIN, 1, "fork of one more");
	r = (struct rlimit){2, 2};
	expect(setrlimit(RLIMIT_NPROC, &r), 0, "two processes");
	expect(has_a_child(), 1, "one more, which has none");
	r = (struct rlimit){2, 3};
	expect(setrlimit(RLIMIT_NPROC, &r) == -1 && errno == EPERM, 1, "more than the most");
	expect(getrlimit(99, &r) == -1 && errno == EINVAL, 1, "a limit that is none");
	expect(prlimit(999999, RLIMIT_CPU, NULL, &r) == -1 && errno == ESRCH, 1, "of another");
}

static void
machine(void)
{
	struct sysinfo s;
	cpu_set_t set;

	expect(sysinfo(&s), 0, "sysinfo");
	expect(s.mem_unit == 4096 && s.freeram < s.totalram && s.procs > 0, 1, "memory");
	expect(sched_getaffinity(0, sizeof(set), &set), 0, "sched_getaffinity");
	expect(CPU_COUNT(&set), sysconf(_SC_NPROCESSORS_ONLN), "cores");
	expect(CPU_COUNT(&set) > 0 && !CPU_ISSET(0, &set), 1, "cores for programs");
}

static void
own_path(void)
{
	char path[64] = "";

	expect(readlink("/proc/self/exe", path, sizeof(path) - 1), 9, "the own program");
	expect(strcmp(path, "/bin/self"), 0, path);
	memset(path, 0, sizeof(path));
	expect(readlink("/proc/self/exe", path, 4), 4, "a part of it");
	expect(strcmp(path, "/bin"), 0, path);
	expect(readlink("/", path, 4) == -1 && errno == EINVAL, 1, "what is no link");
	expect(umask(077), 022, "the first mask");
	expect(umask(022), 077, "the mask");
}

int
main(void)
{
	limits();
	machine();
	own_path();
	return verdict("self");
}
