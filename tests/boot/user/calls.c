/* SPDX-License-Identifier: MIT
 *
 * Stands in for init on bare metal: kernel calls, floating-point registers and measured windows, on
 * the kernel core and beside it. Prints `ok NAME` or `FAIL NAME: why` and ends the machine. Windows
 * carry the labels below (see hal/perf.h and tools/plugin).
 */
#include <abi/layout.h>
#include <abi/limits.abi.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>
#include <context.h>
#include <hal/perf.h>
#include <usercpu/handler.h>
#include <usercpu/kcall.h>

#define LABEL_EMPTY 16		/* nothing: what the measuring itself costs */
#define LABEL_LOCAL 17		/* thread_self */
#define LABEL_REMOTE 18		/* void_remote */
#define LABEL_LOOP 19		/* 1,000 rounds of two instructions, and one more */
#define LABEL_POLL 20		/* ten polls, two instructions after each, and one before */

#define LABEL_CREATE 21		/* thread_create of a thread that ends at once */
#define LABEL_JOIN 22		/* thread_join when it has */
/* thread_wakeup of the caller, which does not sleep: a remote call with a handle */
#define LABEL_HANDLE 23

/* thread_wakeup of a thread that sleeps on another application core */
#define LABEL_SIGNAL 24
/* opened by one thread, ended by another that gets the core by the tick */
#define LABEL_PREEMPT 25
#define LABEL_REFLECT 26	/* a call that the thread's handler answers */
#define LABEL_FAULT 27		/* a page fault, behind which the thread goes on */
#define LABEL_LATER 28		/* void_remote while somebody waits for a time */

#define CALLS 20
#define ALARM_BIT 1
#define HOUR_NS 3600000000000u
#define LIVING 40
#define STACK_BYTES 4096

static unsigned char stack[2][STACK_BYTES] __attribute__((aligned(16)));
static unsigned char small_stack[LIVING + 1][256] __attribute__((aligned(16)));
static uint32_t failures;

static void
report(const char *name, long got, long wanted)
{
	if (got == wanted)
		console_print("ok %s\n", name);
	else
		console_print("FAIL %s: got %ld, not %ld\n", name, got, wanted), failures++;
}

#define window(label, code) do { \
	hal_mark(label); \
	hal_mark(MARK_BEGIN); \
	code; \
	hal_mark(MARK_END); \
} while (0)

static void
measure_later(void)
{
	struct alarm_times times = {.first = HOUR_NS};

	report("an alarm is set", kalarm_set(ALARM_BIT, &times), 0);
	for (int i = 0; i < CALLS; i++)
		window(LABEL_LATER, kvoid_remote());
	times.first = FOREVER;
	report("and is none any more", kalarm_set(ALARM_BIT, &times), 0);
}

/* The same windows on every kind of core. */
static void
measure(void)
{
	int self = (int)kthread_self();

	window(LABEL_EMPTY, );
	window(LABEL_LOOP,
		__asm__ volatile("li t0, 1000\n1: addi t0, t0, -1\n bnez t0, 1b" : : : "t0"));
	window(LABEL_POLL,
		__asm__ volatile("li t0, 10\n1: slti x0, x0, 3\n addi t0, t0, -1\n bnez t0, 1b" : :
		: "t0"));
	for (int i = 0; i < CALLS; i++)
		window(LABEL_LOCAL, kthread_self());
	for (int i = 0; i < CALLS; i++)
		window(LABEL_REMOTE, kvoid_remote());
	for (int i = 0; i < CALLS; i++)
		window(LABEL_HANDLE, kthread_wakeup(self, 1));
	measure_later();
	kthread_sleep(WAKE_ANY, FOREVER);
}

/* Under -icount the others run while this core waits. */
static void
settle(void)
{
	for (int i = 0; i < 40; i++)
		kvoid_remote();
	for (int i = 0; i < 40; i++)
		kthread_yield();
}

static volatile int turn, turns;

static void
sleep_again(unsigned long arg)
{
	for (int i = 0; i < CALLS; i++)
		kthread_sleep(WAKE_ANY, FOREVER);
	kthread_exit(arg);
}

/* On an application core, with the sleeper on another. */
static void
signal_again(unsigned long sleeper)
{
	for (int i = 0; i < CALLS; i++) {
		settle();
		window(LABEL_SIGNAL, kthread_wakeup((int)sleeper, 1));
	}
	settle();
	kthread_exit(0);
}

static void
open_windows(unsigned long arg)
{
	hal_mark(LABEL_PREEMPT);
	while (turns < CALLS) {
		hal_mark(MARK_BEGIN);
		turn = 1;
	}
	kthread_exit(arg);
}

static void
end_windows(unsigned long arg)
{
	while (turns < CALLS) {
		hal_mark(MARK_END);
		/*
		 * wherever the tick comes, a turn that began is seen: ticks and this loop can be in
		 * step
		 */
		if (turn != 0) {
			turn = 0;
			turns++;
		}
	}
	hal_mark(MARK_END);
	kthread_exit(arg);
}

HANDLER_ENTRY(null_handler, serve_null)

long
serve_null(const struct handler_event *e)
{
	return (long)e->args[0] + 1;
}

HANDLER_ENTRY(skip_handler, serve_skip)

long
serve_skip(const struct handler_event *e)
{
	return (long)e->pc + 4;
}

/* Changes floating-point registers, in a full entry as well as in none. */
HANDLER_ENTRY(float_handler, serve_float)

long
serve_float(const struct handler_event *e)
{
	__asm__ volatile("fmv.d.x fs3, %0\n fmv.d.x ft7, %0" : : "r"(0x4141414141414141));
	if (e->args[0] % 3 == 1)
		kthread_yield();
	else if (e->args[0] % 3 == 2)
		kclock((void *)8);
	return (long)e->args[0] + 1;
}

static unsigned char handler_stack[STACK_BYTES] __attribute__((aligned(16)));

static void
handle(uint32_t kinds, void (*entry)(void))
{
	kthread_handler(kinds, (unsigned long)entry, (unsigned long)handler_stack + STACK_BYTES);
}

static inline __attribute__((always_inline)) void
fault(void)
{
	__asm__ volatile(".option push\n.option norvc\n lw t0, 64(x0)\n .option pop" : : : "t0");
}

static void
measure_handlers(void)
{
	handle(HANDLE_CALLS, null_handler);
	for (int i = 0; i < CALLS; i++)
		window(LABEL_REFLECT, kcall1(7, 1));
	handle(HANDLE_FAULTS, skip_handler);
	for (int i = 0; i < CALLS; i++)
		window(LABEL_FAULT, fault());
}

static void
keep_float(void)
{
	uint64_t wrong = 0;

	handle(HANDLE_CALLS, float_handler);
	for (unsigned long i = 0; i < 60; i++) {
		uint64_t f, g, bits = 0x3ff0000000000000 + i;

		if (i % 4 != 3)		/* clean and dirty registers */
			__asm__ volatile("fmv.d.x fs3, %0\n fmv.d.x ft7, %0" : : "r"(bits));
		else
			bits--;
		wrong += (unsigned long)kcall1(7, i) != i + 1;
		__asm__ volatile("fmv.x.d %0, fs3\n fmv.x.d %1, ft7" : "=r"(f), "=r"(g));
		wrong += f != bits || g != bits;
	}
	kthread_handler(HANDLE_CALLS | HANDLE_FAULTS, 0, 0);
	report("floating point behind a handler", (long)wrong, 0);
}

static long
start_on(unsigned i, void (*entry)(unsigned long), unsigned long arg, int core)
{
	struct context ctx;

	context_init(&ctx, (uintptr_t)entry, (uintptr_t)stack[i] + STACK_BYTES, arg, 0);
	return kthread_create(&ctx, core);
}

static long
start(void (*entry)(unsigned long), unsigned long arg, int core)
{
	return start_on((unsigned)arg, entry, arg, core);
}

/* Both on this core, which is a time-sharing one. */
static void
measure_sharing(void)
{
	struct cluster_info info;
	long sleeper = start_on(0, sleep_again, 0, 2),
		other = start_on(1, signal_again, (unsigned long)sleeper, 1);
	uint64_t value;

	report("join of who signals", kthread_join((int)other, &value, FOREVER), 0);
	report("join of who was woken", kthread_join((int)sleeper, &value, FOREVER), 0);
	kcluster_info(&info);
	other = start_on(0, open_windows, 0, (int)info.core);
	sleeper = start_on(1, end_windows, 0, (int)info.core);
	report("join of who was preempted", kthread_join((int)other, &value, FOREVER), 0);
	report("join of the other", kthread_join((int)sleeper, &value, FOREVER), 0);
}

static void
measure_thread(unsigned long arg)
{
	measure();
	kthread_exit(arg + 40);
}

/*
 * Floating-point registers start as zero and survive calls, yields and the other thread of the
 * core.
 */
static void
float_thread(unsigned long arg)
{
	uint64_t saved, scratch, bits = 0x3ff0000000000000ull + arg;

	__asm__ volatile("fmv.x.d %0, fs3\n fmv.x.d %1, ft7" : "=r"(saved), "=r"(scratch));
	for (int i = 0; i < 50 && saved == 0 && scratch == 0; i++) {
		uint64_t f, g, before = bits++;

		__asm__ volatile("fmv.d.x fs3, %0\n fmv.d.x ft7, %0" : : "r"(before));
		kvoid_remote();
		kthread_yield();
		__asm__ volatile("fmv.x.d %0, fs3\n fmv.x.d %1, ft7" : "=r"(f), "=r"(g));
		saved = f != before;
		scratch = g != before;
	}
	kthread_exit(saved == 0 && scratch == 0 ? 7 : 8);
}

static void
join_both(const char *name, long first, long second, long value)
{
	uint64_t v = 0;

	report("thread_create returns an id", first > 0 && second > 0, 1);
	kthread_join((int)first, &v, FOREVER);
	report(name, (long)v, value);
	kthread_join((int)second, &v, FOREVER);
	report(name, (long)v, value);
}

static void
end_at_once(unsigned long arg)
{
	kthread_exit(arg);
}

static void
sleep_and_end(unsigned long arg)
{
	kthread_sleep(WAKE_ANY, FOREVER);
	kthread_exit(arg);
}

static long
start_small(void (*entry)(unsigned long), unsigned long i)
{
	struct context ctx;

	context_init(&ctx, (uintptr_t)entry, (uintptr_t)small_stack[i + 1], i, 0);
	return kthread_create(&ctx, ANY_CORE);
}

static void
measure_life(void)
{
	struct context ctx;
	uint64_t value;
	long tid;

	context_init(&ctx, (uintptr_t)end_at_once, (uintptr_t)small_stack[LIVING + 1], 0, 0);
	for (int i = 0; i < 4; i++) {
		settle();
		window(LABEL_CREATE, tid = kthread_create(&ctx, ANY_CORE));
		settle();
		window(LABEL_JOIN, kthread_join((int)tid, &value, FOREVER));
	}
}

/* Threads while few others exist, then while many do. */
static void
measure_threads(void)
{
	long tid[LIVING];
	uint64_t value;

	measure_life();
	for (unsigned long i = 0; i < LIVING; i++)
		tid[i] = start_small(sleep_and_end, i);
	measure_life();
	for (int i = 0; i < LIVING; i++) {
		kthread_wakeup((int)tid[i], 1);
		report("join of a thread that slept",
			kthread_join((int)tid[i], &value, FOREVER) == 0 && value == (uint64_t)i, 1);
	}
}

int
server_main(int argc, char **argv)
{
	uint64_t value = 0;
	struct context bad;
	long t;

	(void)argc;
	(void)argv;
	measure();
	measure_threads();
	measure_sharing();
	measure_handlers();
	keep_float();
	t = start(measure_thread, 0, 1);
	report("join of a thread of another core", t > 0 ? kthread_join((int)t, &value, FOREVER) :
		t, 0);
	report("its value", (long)value, 40);
	join_both("floating point of two threads of an application core", start(float_thread, 0, 2),
		start(float_thread, 1, 2), 7);
	t = start(float_thread, 0, 0);
	if (t > 0)
		join_both("floating point of two threads of the kernel's core", t,
			start(float_thread, 1, 0), 7);
	else
		report("a KC takes no threads", t, -22);
	context_init(&bad, 0xffffffc000000000, 0, 0, 0);
	report("a context in the kernel's half is refused", kthread_create(&bad, 1), -22);
	report("a buffer in the kernel's half is refused",
		kcluster_info((void *)0xffffffc000000000), -14);
	report("an unmapped buffer is refused", kcluster_info((void *)0x3ffffff000), -14);
	console_print("%s\n", failures == 0 ? "all passed" : "some failed");
	kmachine_halt(atoll_startup()->authority, failures != 0);
	return 1;
}
