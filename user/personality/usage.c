/* SPDX-License-Identifier: MIT
 *
 * See usage.h.
 */
#include <abi/layout.h>
#include <base/str.h>
#include <user/personality/inherit.h>
#include <user/personality/lock.h>
#include <user/personality/process.h>
#include <user/personality/usage.h>

#define NS_PER_S 1000000000ull
#define NS_PER_US 1000ull
#define NS_PER_TICK 10000000ull
#define RUSAGE_CHILDREN (-1)
#define RUSAGE_THREAD 1
/* as an end carries it: microseconds, as many bits of them as there is room for, and their shift */
#define PACKED_BITS 18
/* of a clock's number that is of a process or a thread: ~its number, and these */
#define CLOCK_KINDS 7
#define CLOCK_OF_PROCESS 2
#define CLOCK_OF_THREAD 6

static struct thread_record *
record_at(uint32_t stack)
{
	return (struct thread_record *)(personality_info.stack_top - (uint64_t)(stack + 1) *
		PERSONALITY_STACK_BYTES);
}

static struct {
	struct lock lock;
	uint32_t is_asked;		/* threads are counted */
	uint64_t ended;			/* of threads that have, and earlier programs */
	uint64_t children;
} usage;

static uint32_t
pack(uint64_t ns)
{
	uint64_t us = ns / NS_PER_US;
	uint32_t shift = 0;

	for (; us >> PACKED_BITS != 0; us >>= 1)
		shift++;
	return shift << PACKED_BITS | (uint32_t)us;
}

static uint64_t
unpack(uint32_t used)
{
	uint64_t us = used & ((1u << PACKED_BITS) - 1);

	return (us << (used >> PACKED_BITS & 31)) * NS_PER_US;
}

/* --- threads --- */

static bool
is_wanted(void)
{
	return personality_info.is_child ||
		__atomic_load_n(&usage.is_asked, __ATOMIC_RELAXED) != 0;
}

/* What the kernel has counted, which begins with that. False: the thread has ended. */
static bool
usage_ask(const struct thread_record *r, struct thread_counts *n)
{
	long result;

	do
		result = kthread_stats(r->tid, n);
	while (result == -E_AGAIN);
	return result >= 0;
}

static uint64_t
since_began(const struct thread_record *r)
{
	uint64_t now = 0;

	kclock(&now);
	return now - r->began;
}

/* The running thread, before it may leave its core. */
static void
look(struct thread_record *r)
{
	struct thread_counts n;

	if (r->counting == COUNTING_NOT && !personality_info.is_child)
		kclock(&r->began);
	if (!usage_ask(r, &n))
		return;
	if (n.switches == 0)
		r->before = since_began(r);
	__atomic_store_n(&r->counting, n.switches != 0 ? COUNTING : COUNTING_SOON,
		__ATOMIC_RELEASE);
}

/* Memory, clocks, what a thread says about itself: it does not wait there. */
static bool
may_wait(unsigned long nr)
{
	return !(nr == SYS_exit || nr == SYS_exit_group || nr == SYS_set_tid_address ||
		nr == SYS_clock_gettime || nr == SYS_sched_yield ||
		(nr >= SYS_rt_sigaction && nr <= SYS_rt_sigprocmask) ||
		(nr >= SYS_getpid && nr <= SYS_gettid) || (nr >= SYS_brk && nr <= SYS_mremap) ||
		(nr >= SYS_mprotect && nr <= SYS_madvise) || nr >= SYS_fork_begin);
}

void
usage_begin(struct thread_record *r, unsigned long nr)
{
	if (r->counting != COUNTING && may_wait(nr) && is_wanted())
		look(r);
}

uint64_t
usage_thread(struct thread_record *r)
{
	struct thread_counts n;

	if (r->counting == COUNTING_NOT && personality_info.is_child)
		return since_began(r);
	if (r->counting == COUNTING_NOT && r->tid == kthread_self())
		look(r);
	if (__atomic_load_n(&r->counting, __ATOMIC_ACQUIRE) == COUNTING_NOT)
		return 0;
	return !usage_ask(r, &n) ? 0 : n.switches == 0 ? since_began(r) : r->before + n.run_ns;
}

void
usage_thread_end(struct thread_record *r)
{
	if (!is_wanted())
		return;
	lock_take(&usage.lock);
	usage.ended += usage_thread(r);
	/* nobody takes it for a thread any more that could be woken */
	r->tid = 0;
	r->listens = 0;
	lock_give(&usage.lock);
}

uint64_t
usage_process(void)
{
	uint64_t ns;

	lock_take(&usage.lock);
	__atomic_store_n(&usage.is_asked, 1, __ATOMIC_RELAXED);
	ns = usage.ended;
	for (uint32_t i = 0; i < personality_info.stacks; i++) {
		struct thread_record *r = record_at(i);

		if (r->tid != 0)
			ns += usage_thread(r);
	}
	lock_give(&usage.lock);
	return ns;
}

/* --- processes --- */

static uint64_t
children(void)
{
	return __atomic_load_n(&usage.children, __ATOMIC_RELAXED);
}

uint32_t
usage_at_end(void)
{
	return pack(usage_process() + children());
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
	usage.ended = unpack(b->used);
	usage.children = unpack(b->used_children);
}

/* --- calls --- */

/* Of another thread. */
static long
usage_other(int32_t tid, uint64_t *ns)
{
	const struct thread_record begins = {.tid = tid};
	struct thread_counts n;

	for (uint32_t i = 0; i < personality_info.stacks; i++)
		if (record_at(i)->tid == tid) {
			*ns = usage_thread(record_at(i));
			return 0;
		}
	return usage_ask(&begins, &n) ? 0 : -E_INVAL;
}

long
usage_clock(const struct handler_event *c, int32_t clock, uint64_t *ns)
{
	int32_t who = ~(clock >> 3), kind = clock < 0 ? clock & CLOCK_KINDS : 0;

	if (clock == CLOCK_PROCESS_TIME || (kind == CLOCK_OF_PROCESS &&
		(who == 0 || who == personality_info.pid)))
		*ns = usage_process();
	else if (clock == CLOCK_THREAD_TIME || (kind == CLOCK_OF_THREAD && who == 0))
		*ns = usage_thread(thread_record(c));
	else if (kind != CLOCK_OF_THREAD)
		return -E_INVAL;
	else
		return usage_other(who, ns);
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

long
usage_call(const struct handler_event *c)
{
	int32_t who = (int32_t)arg(c, 0);

	if (who < RUSAGE_CHILDREN || who > RUSAGE_THREAD)
		return -E_INVAL;
	fill((uint64_t *)arg(c, 1), who == RUSAGE_CHILDREN ? children() : who == RUSAGE_THREAD ?
		usage_thread(thread_record(c)) : usage_process());
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
