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
#include <unistd.h>
#include "unaware.h"

static void
limits(void)
{
	struct rlimit r = {1, 1};

	expect(getrlimit(RLIMIT_NOFILE, &r), 0, "getrlimit");
	expect((long)r.rlim_cur, 256, "descriptors");
	expect(getrlimit(RLIMIT_STACK, &r), 0, "getrlimit of the stack");
	expect(r.rlim_cur >= 16384 && r.rlim_cur % 4096 == 0, 1, "bytes of the stack");
	expect(getrlimit(RLIMIT_CPU, &r) == 0 && r.rlim_cur == RLIM_INFINITY, 1, "no limit");
	expect(setrlimit(RLIMIT_CPU, &r) == -1 && errno == EPERM, 1, "setrlimit");
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
