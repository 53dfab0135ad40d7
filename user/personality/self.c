/* SPDX-License-Identifier: MIT
 *
 * What a program asks about itself and the machine: its limits, cores and memory.
 */
#include <abi/layout.h>
#include <abi/startup.h>
#include <base/str.h>
#include <user/personality/files.h>
#include <user/personality/limits.h>
#include <user/personality/process.h>
#include <user/personality/reach.h>
#include <user/personality/usage.h>

#define NS_PER_S 1000000000ull
#define UMASK_FIRST 022
#define MODE_BITS 0777
#define CPU_BITS 64		/* of one word of a set of processors */

/* of asm-generic */
struct linux_sysinfo {
	int64_t uptime;
	uint64_t loads[3], totalram, freeram, sharedram, bufferram, totalswap, freeswap;
	uint16_t procs, pad;
	uint64_t totalhigh, freehigh;
	uint32_t mem_unit;
};

uint32_t
self_mode(unsigned long mode)
{
	uint32_t mask = __atomic_load_n(&kept.umask_changed, __ATOMIC_RELAXED) ^ UMASK_FIRST;

	return (uint32_t)mode & MODE_BITS & ~mask;
}

static long
self_umask(const struct handler_event *c)
{
	uint32_t now = ((uint32_t)arg(c, 0) & MODE_BITS) ^ UMASK_FIRST;

	return (long)__atomic_exchange_n(&kept.umask_changed, now, __ATOMIC_RELAXED) ^ UMASK_FIRST;
}

/* The cores of the cluster but its first, on which the kernel serves calls; bytes of the set. */
static long
self_affinity(const struct handler_event *c)
{
	uint64_t *set = (uint64_t *)arg(c, 2);
	struct cluster_info here;
	unsigned long words;

	kcluster_info(&here);
	words = (here.cores + CPU_BITS - 1) / CPU_BITS;
	if (arg(c, 1) % sizeof(*set) != 0 || arg(c, 1) < words * sizeof(*set))
		return -E_INVAL;
	if (reach_write(arg(c, 2), words * sizeof(*set)) != 0)
		return -E_FAULT;
	memset(set, 0, words * sizeof(*set));
	for (uint32_t i = here.cores > 1; i < here.cores; i++)
		set[i / CPU_BITS] |= 1ull << i % CPU_BITS;
	return (long)(words * sizeof(*set));
}

/* Of users and groups there is number 0 alone, which everybody is. */
static long
self_become(const struct handler_event *c, unsigned long nr)
{
	bool is_one = nr == SYS_setuid || nr == SYS_setgid;
	int count = nr == SYS_setresuid || nr == SYS_setresgid ? 3 : is_one ? 1 : 2;

	for (int i = 0; i < count; i++)
		if (arg(c, i) != 0 && (is_one || (uint32_t)arg(c, i) != UINT32_MAX))
			return -E_INVAL;
	return 0;
}

static long
self_who(const struct handler_event *c)
{
	for (int i = 0; i < 3; i++)
		*(uint32_t *)arg(c, i) = 0;
	return 0;
}

static long
self_core(const struct handler_event *c)
{
	struct cluster_info here;

	kcluster_info(&here);
	if (arg(c, 0) != 0)
		*(uint32_t *)arg(c, 0) = here.core;
	if (arg(c, 1) != 0)
		*(uint32_t *)arg(c, 1) = here.cluster;
	return 0;
}

static long
self_sysinfo(const struct handler_event *c)
{
	struct linux_sysinfo s = {.mem_unit = personality_info.page_bytes};
	uint64_t now = 0, procs = 0;

	kclock(&now);
	s.uptime = (int64_t)(now / NS_PER_S);
	kstats(STATS_FRAMES_TOTAL, &s.totalram);
	kstats(STATS_FRAMES_FREE, &s.freeram);
	kstats(STATS_PROCS, &procs);
	s.procs = (uint16_t)procs;
	memcpy((void *)arg(c, 0), &s, sizeof(s));
	return 0;
}

/* There is one symbolic link. */
static long
self_readlink(const struct handler_event *c)
{
	const char *path = (const char *)arg(c, 1),
		*program = (const char *)personality_info.program;
	char *to = (char *)arg(c, 2);
	uint64_t room = arg(c, 3), len = str_len(program) + 1;

	if ((int32_t)room <= 0)
		return -E_INVAL;
	if (path == NULL || !str_is_equal(path, OWN_PROGRAM))
		return file_call(c, SYS_readlinkat);
	len = len < room ? len : room;
	if (reach_write(arg(c, 2), len) != 0)
		return -E_FAULT;
	to[0] = '/';
	memcpy(to + 1, program, len - 1);
	return (long)len;
}

long
self_call(const struct handler_event *c, unsigned long nr)
{
	switch (nr) {
	case SYS_umask: return self_umask(c);
	case SYS_prlimit64: return limits_call(c);
	case SYS_sched_getaffinity: return self_affinity(c);
	case SYS_times: return usage_times(c);
	case SYS_getrusage: return usage_call(c);
	case SYS_sysinfo: return self_sysinfo(c);
	case SYS_readlinkat: return self_readlink(c);
	case SYS_getcpu: return self_core(c);
	case SYS_getresuid:
	case SYS_getresgid: return self_who(c);
	default: return self_become(c, nr);
	}
}
