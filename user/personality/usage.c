/* SPDX-License-Identifier: MIT
 *
 * See usage.h.
 */
#include <abi/layout.h>
#include <atoll/counts.h>
#include <base/str.h>
#include <servers/proc/client.h>
#include <user/personality/inherit.h>
#include <user/personality/lock.h>
#include <user/personality/process.h>
#include <user/personality/usage.h>

#define NS_PER_S 1000000000ull
#define NS_PER_US 1000ull
#define NS_PER_TICK 10000000ull
#define RUSAGE_CHILDREN (-1)
#define RUSAGE_THREAD 1
/* words of a struct rusage */
#define RUSAGE_FAULTS 8
#define RUSAGE_WAITS 16
#define RUSAGE_PREEMPTED 17
/* of a clock's number that is of a process or a thread: ~its number, and these */
#define CLOCK_KINDS 7
#define CLOCK_OF_PROCESS 2
#define CLOCK_OF_THREAD 6

static struct {
	uint64_t before;		/* of earlier programs of this process */
	uint64_t children;
} usage;

static uint32_t
pack(uint64_t ns)
{
	uint64_t us = ns / NS_PER_US;
	uint32_t shift = 0;

	for (; us >> PROCESS_USED_BITS != 0; us >>= 1)
		shift++;
	return shift << PROCESS_USED_BITS | (uint32_t)us;
}

static uint64_t
unpack(uint32_t used)
{
	uint64_t us = used & ((1u << PROCESS_USED_BITS) - 1);

	return (us << (used >> PROCESS_USED_BITS & 31)) * NS_PER_US;
}

/* --- threads --- */

/* 0 or the kernel's error. */
static long
thread_counts(int32_t tid, struct thread_counts *n)
{
	long result;

	do
		result = kthread_stats(tid, 0, n);
	while (result == -E_AGAIN);
	return result;
}

uint64_t
usage_thread(const struct thread_record *r)
{
	struct thread_counts n;

	return thread_counts(r->tid, &n) < 0 ? 0 : n.run_ns;
}

/* --- processes --- */

struct usage
usage_look(void)
{
	struct thread_counts n;

	return process_counts(SELF, &n) < 0 ? (struct usage){usage.before, 1} :
		(struct usage){usage.before + n.run_ns, n.threads};
}

uint64_t
usage_process(void)
{
	return usage_look().ns;
}

uint64_t
usage_left(const struct usage *u, uint64_t until)
{
	uint64_t left = u->ns < until ? (until - u->ns) / (u->threads > 1 ? u->threads : 1) : 0;

	return left > ALARM_PERIOD_MIN ? left : ALARM_PERIOD_MIN;
}

static uint64_t
children(void)
{
	return __atomic_load_n(&usage.children, __ATOMIC_RELAXED);
}

uint32_t
usage_at_end(void)
{
	return pack(usage.before + children());
}

void
usage_add_child(uint32_t used)
{
	__atomic_fetch_add(&usage.children, unpack(used), __ATOMIC_RELAXED);
}

/* Less than Linux's tick is not worth it that a program has to take something. */
void
usage_put(struct inherit *b)
{
	uint64_t own = usage_process();

	b->used = own < NS_PER_TICK ? 0 : pack(own);
	b->used_children = children() < NS_PER_TICK ? 0 : pack(children());
}

void
usage_take(const struct inherit *b)
{
	usage.before = unpack(b->used);
	usage.children = unpack(b->used_children);
}

/* --- calls --- */

long
usage_clock(const struct handler_event *c, int32_t clock, uint64_t *ns)
{
	int32_t who = ~(clock >> 3), kind = clock < 0 ? clock & CLOCK_KINDS : 0;
	struct thread_counts n;

	if (clock == CLOCK_PROCESS_TIME || (kind == CLOCK_OF_PROCESS &&
		(who == 0 || who == personality_info.pid)))
		*ns = usage_process();
	else if (clock == CLOCK_THREAD_TIME || (kind == CLOCK_OF_THREAD && who == 0))
		*ns = usage_thread(thread_record(c));
	else if (kind == CLOCK_OF_THREAD && thread_counts(who, &n) == 0)
		*ns = n.run_ns;
	else
		return -E_INVAL;
	return 0;
}

static void
fill(uint64_t *rusage, uint64_t ns)
{
	memset(rusage, 0, RUSAGE_BYTES);
	rusage[0] = ns / NS_PER_S;
	rusage[1] = ns % NS_PER_S / NS_PER_US;
}

void
usage_fill(void *rusage, uint32_t used)
{
	fill(rusage, unpack(used));
}

/* What else is counted of the thread or the process. */
static void
usage_events(int32_t who, uint64_t *rusage)
{
	struct thread_counts n;

	if (who == RUSAGE_CHILDREN || (who == RUSAGE_THREAD ? thread_counts((int32_t)kthread_self(),
		&n) : process_counts(SELF, &n)) < 0)
		return;
	rusage[RUSAGE_FAULTS] = n.faults;
	rusage[RUSAGE_WAITS] = n.switches;
	rusage[RUSAGE_PREEMPTED] = n.preempted;
}

long
usage_call(const struct handler_event *c)
{
	int32_t who = (int32_t)arg(c, 0);

	if (who < RUSAGE_CHILDREN || who > RUSAGE_THREAD)
		return -E_INVAL;
	fill((uint64_t *)arg(c, 1), who == RUSAGE_CHILDREN ? children() : who == RUSAGE_THREAD ?
		usage_thread(thread_record(c)) : usage_process());
	usage_events(who, (uint64_t *)arg(c, 1));
	return 0;
}

/* The result is the time since the machine started, in ticks. */
long
usage_times(const struct handler_event *c)
{
	uint64_t *to = (uint64_t *)arg(c, 0), now = 0;

	if (to != NULL) {
		to[0] = usage_process() / NS_PER_TICK;
		to[2] = children() / NS_PER_TICK;
		to[1] = to[3] = 0;
	}
	kclock(&now);
	return (long)(now / NS_PER_TICK);
}
