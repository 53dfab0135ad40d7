/* SPDX-License-Identifier: MIT
 *
 * On which cores a thread runs, and in which order. There is one way to take turns, Linux's
 * SCHED_OTHER; how nice a process is, is kept and changes nothing.
 */
#include <abi/layout.h>
#include <base/str.h>
#include <user/personality/process.h>
#include <user/personality/reach.h>
#include <user/personality/signal.h>

#define CPU_BITS 64		/* of one word of a set of processors */
#define CPUS_MAX 1024
#define TURN_NS 10000000	/* the kernel's quantum */
#define SCHED_OTHER 0
#define SCHED_FIFO 1
#define SCHED_RR 2
#define SCHED_DEADLINE 6
#define REALTIME_MOST 99
#define NICE_SHIFT 16		/* in the word of the mask of modes */
#define NICE_MOST 20		/* -20 is the least that there is, 19 the most */
#define PRIO_KINDS 3		/* a process, its group, its user */

/* Of a thread of this process, 0 or the process's number: this one. NULL: there is none. */
static struct thread_record *
scheduled(const struct handler_event *c, int32_t tid)
{
	return tid == 0 || tid == personality_info.pid ? thread_record(c) : signal_thread(tid);
}

/* --- cores --- */

/* The cores of the cluster but its first, on which the kernel serves calls; bytes of the set. */
static long
get_cores(const struct handler_event *c, const struct thread_record *r)
{
	uint64_t *set = (uint64_t *)arg(c, 2);
	struct cluster_info here;
	unsigned long words;
	uint32_t first, count;

	kcluster_info(&here);
	words = (here.cores + CPU_BITS - 1) / CPU_BITS;
	if (arg(c, 1) % sizeof(*set) != 0 || arg(c, 1) < words * sizeof(*set))
		return -E_INVAL;
	if (r == NULL)
		return -E_SRCH;
	if (reach_write(arg(c, 2), words * sizeof(*set)) != 0)
		return -E_FAULT;
	memset(set, 0, words * sizeof(*set));
	first = r->cores > 0 ? r->first_core : here.cores > 1;
	count = r->cores > 0 ? r->cores : here.cores - first;
	for (uint32_t i = first; i < first + count; i++)
		set[i / CPU_BITS] |= 1ull << i % CPU_BITS;
	return (long)(words * sizeof(*set));
}

/* Those of the set that the cluster has: they are to lie in a row. */
static long
set_cores(const struct handler_event *c, struct thread_record *r)
{
	const uint64_t *set = (const uint64_t *)arg(c, 2);
	uint64_t bits = arg(c, 1) < CPUS_MAX / 8 ? arg(c, 1) * 8 : CPUS_MAX;
	struct cluster_info here;
	uint32_t first = 0, count = 0;
	long result;

	kcluster_info(&here);
	if (r == NULL)
		return -E_SRCH;
	if (reach_read(arg(c, 2), bits / 8) != 0)
		return -E_FAULT;
	for (uint32_t i = here.cores > 1; i < here.cores && i < bits; i++) {
		if ((set[i / CPU_BITS] >> i % CPU_BITS & 1) == 0)
			continue;
		if (count > 0 && first + count != i)
			return -E_INVAL;
		first = count++ == 0 ? i : first;
	}
	if (count == 0)
		return -E_INVAL;
	if (count + (here.cores > 1) == here.cores)
		result = kthread_cores(r->tid, 0, (int)here.cores);
	else
		result = kthread_cores(r->tid, (int)first, (int)count);
	if (result == 0) {
		r->first_core = (uint16_t)first;
		r->cores = (uint16_t)count;
	}
	return result;
}

/* --- the order --- */

static long
set_order(const struct handler_event *c, uint32_t policy, uint64_t at)
{
	uint32_t priority = at != 0 ? *(const uint32_t *)at : 0;
	bool is_realtime = policy == SCHED_FIFO || policy == SCHED_RR;

	if (at == 0 || (int32_t)arg(c, 0) < 0)
		return -E_INVAL;
	if (scheduled(c, (int32_t)arg(c, 0)) == NULL)
		return -E_SRCH;
	if (policy >= SCHED_DEADLINE || priority > (is_realtime ? REALTIME_MOST : 0) ||
		(is_realtime && priority == 0))
		return -E_INVAL;
	return policy == SCHED_OTHER ? 0 : -E_PERM;
}

/* What an order allows; of Linux's there are 0 to 6, but 4. */
static long
bounds(uint64_t policy, long realtime)
{
	return policy == SCHED_FIFO || policy == SCHED_RR ? realtime :
		policy > SCHED_DEADLINE || policy == 4 ? -E_INVAL : 0;
}

/* What is there to be asked is one for all. */
static long
get_order(const struct handler_event *c, unsigned long nr)
{
	bool is_span = nr == SYS_sched_rr_get_interval;

	if ((int32_t)arg(c, 0) < 0 || (nr == SYS_sched_getparam && arg(c, 1) == 0))
		return -E_INVAL;
	if (scheduled(c, (int32_t)arg(c, 0)) == NULL)
		return -E_SRCH;
	if (nr == SYS_sched_getparam)
		*(uint32_t *)arg(c, 1) = 0;
	if (is_span) {
		((uint64_t *)arg(c, 1))[0] = 0;
		((uint64_t *)arg(c, 1))[1] = TURN_NS;
	}
	return SCHED_OTHER;
}

/* --- how nice --- */

static long
nice_call(const struct handler_event *c, bool is_set)
{
	int32_t who = (int32_t)arg(c, 1), to = (int32_t)arg(c, 2);
	uint32_t word = __atomic_load_n(&kept.umask_changed, __ATOMIC_RELAXED);

	if (arg(c, 0) >= PRIO_KINDS)
		return -E_INVAL;
	if (who != 0 && (arg(c, 0) != 0 || scheduled(c, who) == NULL))
		return -E_SRCH;
	if (!is_set)
		return NICE_MOST - ((int32_t)word >> NICE_SHIFT);
	to = to < -NICE_MOST ? -NICE_MOST : to >= NICE_MOST ? NICE_MOST - 1 : to;
	__atomic_fetch_xor(&kept.umask_changed, (word ^ (uint32_t)to << NICE_SHIFT) &
		UINT32_MAX << NICE_SHIFT, __ATOMIC_RELAXED);
	return 0;
}

long
schedule_call(const struct handler_event *c, unsigned long nr)
{
	switch (nr) {
	case SYS_sched_getaffinity: return get_cores(c, scheduled(c, (int32_t)arg(c, 0)));
	case SYS_sched_setaffinity: return set_cores(c, scheduled(c, (int32_t)arg(c, 0)));
	case SYS_sched_setscheduler: return set_order(c, (uint32_t)arg(c, 1), arg(c, 2));
	case SYS_sched_setparam: return set_order(c, SCHED_OTHER, arg(c, 1));
	case SYS_sched_get_priority_max: return bounds(arg(c, 0), REALTIME_MOST);
	case SYS_sched_get_priority_min: return bounds(arg(c, 0), 1);
	case SYS_getpriority:
	case SYS_setpriority: return nice_call(c, nr == SYS_setpriority);
	default: return get_order(c, nr);
	}
}
