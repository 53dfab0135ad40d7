/* SPDX-License-Identifier: MIT
 *
 * What a program asks about itself and the machine: its limits, names, users and memory.
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
#define GROUPS_MAX 65536
#define LINUX_ENODATA 61
#define PR_SET_PDEATHSIG 1
#define PR_GET_PDEATHSIG 2
#define PR_GET_DUMPABLE 3
#define PR_SET_NAME 15
#define PR_GET_NAME 16

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
	uint32_t was = __atomic_load_n(&kept.umask_changed, __ATOMIC_RELAXED) & MODE_BITS,
		now = ((uint32_t)arg(c, 0) & MODE_BITS) ^ UMASK_FIRST;

	__atomic_fetch_xor(&kept.umask_changed, was ^ now, __ATOMIC_RELAXED);
	return (long)was ^ UMASK_FIRST;
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

/* What the program is called: its file, until the thread has another name. */
static void
name_get(const struct thread_record *r, char *to)
{
	const char *name = (const char *)personality_info.program;

	for (const char *p = name; *p != 0; p++)
		if (*p == '/')
			name = p + 1;
	str_copy(to, THREAD_NAME, r->name[0] != 0 ? r->name : name);
}

/* What a process could ask to be told, or lose, is refused. */
static long
self_control(const struct handler_event *c)
{
	uint64_t at = arg(c, 1);
	char name[THREAD_NAME] = {0};

	switch ((int32_t)arg(c, 0)) {
	case PR_SET_NAME:
		if (reach_text(at) == -E_FAULT)
			return -E_FAULT;
		str_copy(thread_record(c)->name, THREAD_NAME, (const char *)at);
		return 0;
	case PR_GET_NAME:
		if (reach_write(at, THREAD_NAME) != 0)
			return -E_FAULT;
		name_get(thread_record(c), name);
		memcpy((void *)at, name, THREAD_NAME);
		return 0;
	case PR_GET_PDEATHSIG:
		if (reach_write(at, sizeof(uint32_t)) != 0)
			return -E_FAULT;
		*(uint32_t *)at = 0;
		return 0;
	case PR_SET_PDEATHSIG: return at == 0 ? 0 : -E_INVAL;
	case PR_GET_DUMPABLE: return 1;
	default: return -E_INVAL;
	}
}

/* Of its commands there is the one that asks which there are: none. */
static long
self_barrier(const struct handler_event *c)
{
	return arg(c, 0) != 0 || arg(c, 1) != 0 ? -E_INVAL : 0;
}

/* There is no other group that one could be in. */
static long
self_groups(const struct handler_event *c, bool is_set)
{
	int32_t count = (int32_t)arg(c, 0);

	if (count < 0 || (is_set && count > GROUPS_MAX))
		return -E_INVAL;
	return !is_set || count == 0 ? 0 : -E_PERM;
}

/* No file has attributes with names, and none can get one. */
static long
self_attributes(unsigned long nr)
{
	return nr <= SYS_fsetxattr ? -FILE_EOPNOTSUPP :
		nr >= SYS_listxattr && nr <= SYS_flistxattr ? 0 : -LINUX_ENODATA;
}

long
self_call(const struct handler_event *c, unsigned long nr)
{
	if (nr <= SYS_fremovexattr)
		return self_attributes(nr);
	switch (nr) {
	case SYS_prctl: return self_control(c);
	case SYS_membarrier: return self_barrier(c);
	case SYS_getgroups:
	case SYS_setgroups: return self_groups(c, nr == SYS_setgroups);
	case SYS_umask: return self_umask(c);
	case SYS_prlimit64: return limits_call(c);
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
