/* SPDX-License-Identifier: MIT
 *
 * Processors.
 */
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <mpi/exec/message.h>
#include <mpi/exec/processors.h>

/* where a processor sits */
struct coll_segment {
	int cpu;
	int socket;
	int core;
	int thread;			/* how many of its core come before it */
	int turn;			/* how many of its socket come before it */
};

static long
read_number(const char *path, long otherwise)
{
	FILE *f = fopen(path, "re");
	long n = otherwise;

	if (f == NULL)
		return otherwise;
	if (fscanf(f, "%ld", &n) != 1)
		n = otherwise;
	fclose(f);
	return n;
}

static int
topology(int cpu, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name);
	return (int)read_number(path, 0);
}

/*
 * Processors' worth of time that one control group allows, rounded up; `most` if it sets no limit.
 */
static int
quota_of(const char *group, int most)
{
	char path[4200];
	long quota, period;
	FILE *f;
	int got;

	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", group);
	f = fopen(path, "re");
	if (f == NULL)
		return most;
	got = fscanf(f, "%ld %ld", &quota, &period);
	fclose(f);
	if (got != 2 || quota <= 0 || period <= 0)
		return most;
	quota = (quota + period - 1) / period;
	return quota < most ? (int)quota : most;
}

/* The group we are in, and all above it. */
static int
quota(int most)
{
	char line[4096], *group = NULL;
	FILE *f = fopen("/proc/self/cgroup", "re");

	while (f != NULL && group == NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "0::", 3) == 0)
			group = line + 3;
	if (f != NULL)
		fclose(f);
	if (group == NULL)
		return most;
	group[strcspn(group, "\n")] = '\0';
	for (char *end = group + strlen(group); end >= group; end--) {
		if (*end != '/' && *end != '\0')
			continue;
		*end = '\0';
		most = quota_of(group, most);
	}
	return most;
}

static int
by_core(const void *a, const void *b)
{
	const struct coll_segment *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread - y->thread;
	if (x->socket != y->socket)
		return x->socket - y->socket;
	return x->core != y->core ? x->core - y->core : x->cpu - y->cpu;
}

static int
by_socket(const void *a, const void *b)
{
	const struct coll_segment *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread - y->thread;
	if (x->turn != y->turn)
		return x->turn - y->turn;
	return x->socket - y->socket;
}

/* First one hardware thread of each core, then the next of each. */
static void
sort(struct processors *p, enum map map)
{
	static struct coll_segment place[PROCESSORS_MAX];

	for (int i = 0; i < p->allowed; i++) {
		struct coll_segment *me = &place[i];

		*me = (struct coll_segment){p->cpu[i], topology(p->cpu[i], "physical_package_id"),
			topology(p->cpu[i], "core_id"), 0, 0};
		for (int j = 0; j < i; j++)
			me->thread += place[j].socket == me->socket && place[j].core == me->core;
		for (int j = 0; j < i; j++)
			me->turn += place[j].socket == me->socket && place[j].thread == me->thread;
	}
	qsort(place, (size_t)p->allowed, sizeof(place[0]), map == MAP_SOCKET ? by_socket : by_core);
	for (int i = 0; i < p->allowed; i++)
		p->cpu[i] = place[i].cpu;
}

/*
 * Hold the name of a processor until this process ends: a descriptor, or -1 if another job has it.
 */
static int
claim(int cpu)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int len = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "atoll-processor-%d", cpu);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&a,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Claim `wanted` processors; they come first in the list then. All or none. */
static bool
claim_some(struct processors *p, int wanted)
{
	static int held[PROCESSORS_MAX];
	int have = 0;

	for (int i = 0; i < p->allowed && have < wanted; i++) {
		int fd = claim(p->cpu[i]), cpu = p->cpu[i];

		if (fd < 0)
			continue;
		memmove(p->cpu + have + 1, p->cpu + have, (size_t)(i - have) * sizeof(p->cpu[0]));
		p->cpu[have] = cpu;
		held[have++] = fd;
	}
	if (have == wanted)
		return true;
	while (have > 0)
		close(held[--have]);
	return false;
}

static void
list_allowed(struct processors *p)
{
	cpu_set_t set;

	*p = (struct processors){.count = 1};
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &set))
				p->cpu[p->allowed++] = cpu;
}

/* Is the core (or socket) of a processor that of one before it in the list? */
static bool
is_seen(const struct processors *p, int at, enum unit unit)
{
	for (int i = 0; i < at; i++)
		if (topology(p->cpu[i], "physical_package_id") == topology(p->cpu[at],
			"physical_package_id") &&
		    (unit == UNIT_SOCKET || topology(p->cpu[i], "core_id") == topology(p->cpu[at],
		    "core_id")))
			return true;
	return false;
}

int
processors_units(enum unit unit)
{
	struct processors p;
	int count = 0;

	list_allowed(&p);
	for (int i = 0; i < p.allowed && unit != UNIT_NODE; i++)
		count += !is_seen(&p, i, unit);
	return count > 0 ? count : 1;
}

void
processors_report(const struct processors *p, int ranks)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	for (int r = 0; r < ranks; r++) {
		int cpu = p->bound ? p->cpu[r % p->bound_count] : -1;

		if (p->bound)
			message("rank %d on %s is bound to processor %d (socket %d, core %d)", r,
				host, cpu, topology(cpu, "physical_package_id"),
				topology(cpu, "core_id"));
		else
			message("rank %d on %s is not bound: it runs on any of %d processors", r,
				host, p->allowed);
	}
}

void
processors_find(struct processors *p, const struct options *o)
{
	int wanted;

	list_allowed(p);
	if (p->allowed > 0)
		p->count = quota(p->allowed);
	sort(p, o->map);
	wanted = o->ranks < p->count ? o->ranks : p->count;
	if (o->bind == BIND_NONE || p->allowed == 0 ||
		(o->bind == BIND_IF_FREE && o->ranks > p->count))
		return;
	/*
	 * who has a share of the time of all processors, as containers do, shares each of them with
	 * others whose claims are not seen here
	 */
	if (o->bind == BIND_IF_FREE && p->count < p->allowed)
		return;
	p->bound = claim_some(p, wanted);
	p->bound_count = wanted;
	if (!p->bound && o->bind == BIND_CORE && !o->quiet)
		message("other jobs have bound to the cores: the ranks run unbound");
}
