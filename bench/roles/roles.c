/* SPDX-License-Identifier: MIT
 *
 * See roles.h.
 */
#include <abi/errors.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <context.h>
#include <hal/perf.h>
#include <servers/device/client.h>
#include "roles.h"

#define STACK_BYTES 16384
#define MS 1000000ull
#define BIT 5
#define BESIDE_MAX 19

/* What is counted of the measured thread and its core. */
struct counts {
	struct core_info core;
	struct thread_counts thread;
	uint64_t stopped, faults;	/* by Linux */
};

static struct {
	void (*work)(void);
	int wants_best;
	uint32_t is_ready, may_go, is_over;
	unsigned got;			/* of below_best */
	int core;
	uint64_t begin_ns, end_ns, begin_ticks, end_ticks;
	struct counts idle, before, after;	/* idle: just before `before` */
} measured;

static uint32_t calls_made;		/* by callers */
static uint32_t reads_made;		/* of the device */
static long reader_result;		/* >= 0: it answers */

void
role_fail(const char *why, long result)
{
	printf("benchmark failed: %s (%ld)\n", why, result);
	exit(1);
}

int
role_option(int argc, char **argv, const char *name, const char *value)
{
	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return strcmp(argv[i + 1], value) == 0;
	return 0;
}

/* --- the measured thread --- */

static void
count(struct counts *c)
{
	while (kthread_stats((int)kthread_self(), 0, &c->thread) == -E_AGAIN)
		continue;
	kcore_info(measured.core, &c->core);
	below_counts(&c->stopped, &c->faults);
}

void
window_begin(void)
{
	count(&measured.idle);
	count(&measured.idle);
	kclock(&measured.begin_ns);
	measured.begin_ticks = ticks_now();
	count(&measured.before);
	hal_mark(LABEL);
	hal_mark(MARK_BEGIN);
}

void
window_end(void)
{
	hal_mark(MARK_END);
	count(&measured.after);
	measured.end_ticks = ticks_now();
	kclock(&measured.end_ns);
}

static void
run_measured(void *arg)
{
	(void)arg;
	if (measured.wants_best)
		measured.got = below_best();
	__atomic_store_n(&measured.is_ready, 1, __ATOMIC_RELEASE);
	kfutex_wake((unsigned long)&measured.is_ready, 1);
	while (__atomic_load_n(&measured.may_go, __ATOMIC_ACQUIRE) == 0)
		continue;
	measured.work();
	__atomic_store_n(&measured.is_over, 1, __ATOMIC_RELEASE);
}

/* --- threads beside it --- */

static int
goes_on(void)
{
	return __atomic_load_n(&measured.is_over, __ATOMIC_ACQUIRE) == 0;
}

/* Wakes once in `arg` ms and computes for some 50 us. */
static void
run_daemon(void *arg)
{
	uint64_t period = (uintptr_t)arg * MS, next = 0;

	kclock(&next);
	while (goes_on()) {
		next += period;
		kthread_sleep(1u << BIT, next);
		for (unsigned i = 0; i < 3000; i++)
			__asm__ volatile("" : : "r"(i));
	}
}

static void
run_neighbour(void *arg)
{
	(void)arg;
	while (goes_on())
		continue;
}

static void
run_caller(void *arg)
{
	(void)arg;
	while (goes_on()) {
		kvoid_remote();
		__atomic_add_fetch(&calls_made, 1, __ATOMIC_RELAXED);
	}
}

/* Takes random bytes from their device, which interrupts for each page of them. */
static void
run_reader(void *arg)
{
	static unsigned char bytes[DEVICE_DATA];
	struct device_client c;
	long result = device_open(&c, DEVICE_RANDOM, BIT);

	(void)arg;
	while (result >= 0 && goes_on()) {
		result = device_read(&c, bytes, sizeof(bytes));
		__atomic_add_fetch(&reads_made, 1, __ATOMIC_RELAXED);
	}
	device_close(&c);
	__atomic_store_n(&reader_result, result, __ATOMIC_RELAXED);
}

static int
start_on(void (*fn)(void *arg), void *arg, int core)
{
	int tid = thread_start(fn, arg, core, STACK_BYTES);

	if (tid < 0)
		role_fail("cannot start a thread", tid);
	return tid;
}

/* Below the daemons. */
static void
lower(int tid)
{
	long result = kthread_priority(tid, 0);

	if (result < 0)
		role_fail("cannot lower a priority", result);
}

int
role_core(uint32_t role)
{
	struct core_info info;

	for (int i = 0; kcore_info(i, &info) == 0; i++)
		if (info.role == role && (role == ROLE_TC ? i > 0 : info.threads == 0))
			return i;
	role_fail("no core has this role", (long)role);
}

/* Until the device has answered once, or will not. */
static int
start_reader(void)
{
	int tid = start_on(run_reader, NULL, role_core(ROLE_AC));

	while (__atomic_load_n(&reads_made, __ATOMIC_RELAXED) == 0 &&
			__atomic_load_n(&reader_result, __ATOMIC_RELAXED) >= 0)
		kvoid_remote();
	return tid;
}

static int
start_beside(int argc, char **argv, int *tid)
{
	long callers = number(argc, argv, "--callers", 0);
	int n = 0;

	if (role_option(argc, argv, "--beside", "daemons")) {
		tid[n++] = start_on(run_daemon, (void *)20, measured.core);
		tid[n++] = start_on(run_daemon, (void *)33, measured.core);
	}
	if (role_option(argc, argv, "--beside", "thread")) {
		tid[n] = start_on(run_neighbour, NULL, measured.core);
		lower(tid[n++]);
	}
	if (role_option(argc, argv, "--device", "random"))
		tid[n++] = start_reader();
	if (callers < 0 || callers > BESIDE_MAX - 4)
		role_fail("too many callers", callers);
	for (long i = 0; i < callers; i++)
		tid[n++] = start_on(run_caller, NULL, role_core(ROLE_AC));
	while (callers > 0 && __atomic_load_n(&calls_made, __ATOMIC_RELAXED) < 100)
		kvoid_remote();
	return n;
}

/* --- what was counted --- */

static void
report(void)
{
	const struct counts *i = &measured.idle, *b = &measured.before, *a = &measured.after;
	uint64_t asked = b->thread.calls - i->thread.calls;

	row("window", (double)(measured.end_ns - measured.begin_ns), "ns", "");
	row("window_ticks", (double)(measured.end_ticks - measured.begin_ticks), "ticks", "");
	row("core_ticks", a->core.ticks - b->core.ticks, "interrupts", "");
	row("core_shot_down", a->core.shot_down - b->core.shot_down, "interrupts", "");
	row("core_faults", a->core.faults - b->core.faults, "faults", "");
	row("core_messages", a->core.messages - b->core.messages, "messages", "");
	row("core_changes", a->core.roles - b->core.roles, "changes", "");
	row("thread_calls", (double)(a->thread.calls - b->thread.calls - asked), "calls", "");
	row("thread_switches", a->thread.switches + a->thread.preempted - b->thread.switches -
		b->thread.preempted, "switches", "");
	row("thread_faults", a->thread.faults - b->thread.faults, "faults", "");
	row("below_stopped", (double)(a->stopped - b->stopped), "switches", "");
	row("below_faults", (double)(a->faults - b->faults), "faults", "");
	row("below_best", measured.got, "bits", "");
	row("calls_of_others", calls_made, "calls", "");
}

static void
join_thread(int tid)
{
	uint64_t value;
	long result = kthread_join(tid, &value, FOREVER);

	if (result < 0)
		role_fail("cannot join a thread", result);
}

void
role_run(int argc, char **argv, void (*work)(void))
{
	int is_tc = role_option(argc, argv, "--on", "tc"), beside[BESIDE_MAX], n, tid;

	wait_for_servers();
	measured.work = work;
	measured.wants_best = role_option(argc, argv, "--best", "yes");
	measured.core = role_core(is_tc ? ROLE_TC : ROLE_AC);
	tid = start_on(run_measured, NULL, measured.core);
	lower(tid);
	while (__atomic_load_n(&measured.is_ready, __ATOMIC_ACQUIRE) == 0)
		kfutex_wait((unsigned long)&measured.is_ready, 0, FOREVER);
	n = start_beside(argc, argv, beside);
	__atomic_store_n(&measured.may_go, 1, __ATOMIC_RELEASE);
	join_thread(tid);
	for (int i = 0; i < n; i++)
		join_thread(beside[i]);
	if (reader_result < 0)
		role_fail("the device does not answer", reader_result);
}

void
role_measure(int argc, char **argv, void (*work)(void))
{
	role_run(argc, argv, work);
	report();
}

void *
role_memory(int argc, char **argv, size_t bytes)
{
	int is_large = role_option(argc, argv, "--pages", "large");
	int is_lazy = role_option(argc, argv, "--fault", "yes");
	struct cluster_info info = {0};
	size_t unit;
	uint64_t at = 0;
	long e;

	kcluster_info(&info);
	unit = is_large ? info.large_page_bytes : info.page_bytes;
	bytes = (bytes + unit - 1) / unit * unit;
	e = kmem_alloc(SELF, bytes, PAGE_READ | PAGE_WRITE | (is_large ? PAGE_LARGE : 0) |
		(is_lazy ? PAGE_LAZY : 0), &at);
	if (e < 0)
		role_fail("no memory", e);
	if (!is_lazy)
		memset((void *)(uintptr_t)at, 0, bytes);
	if (is_large)
		row("pages_large", below_large((void *)(uintptr_t)at, bytes), "bits", "");
	return (void *)(uintptr_t)at;
}
