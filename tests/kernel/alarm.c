/* SPDX-License-Identifier: MIT
 *
 * Alarms and upcalls: bits that a thread sleeps for, or that start its handler wherever it is: in a
 * loop, in a call that waits, in another handler. Threads that never give their core up take turns
 * on it by alarms of their own.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 */
#include <base/str.h>
#include <tests/kernel/ktest.h>
#include <usercpu/handler.h>
#include <usercpu/kcall.h>
#include <usercpu/start.h>

#define STACK (32 * 1024)
#define FOREIGN_CALL 42
#define RW (PAGE_READ | PAGE_WRITE)
#define BIT 3
#define OTHER_BIT 4
#define MS 10000000ull
#define ROUNDS 20

/* what a child does */
enum role { NONE, RINGS_FOR_EVER, SLEEPS };

enum serve {
	SERVE_NOTHING,
	SERVE_YIELD,
	SERVE_SKIP,		/* go on at `skip_to` */
	SERVE_CONTEXT,		/* go on with a changed context */
	SERVE_SET,		/* a bit of its own comes while it runs */
	SERVE_SLEEP,		/* wait while another bit is there */
	SERVE_TAKE,		/* take a bit that comes, and wait for the next one */
};

struct served {
	volatile enum serve how;
	struct handler_event event;	/* the last one */
	volatile uint32_t entered;
	uint32_t bits;			/* all that came */
	uint32_t depth;
	uint32_t deepest;
	uintptr_t skip_to;
	int thread;			/* whose handler it is */
	long slept, cut;
};

static struct served h;

static long
alarm_at(int bit, uint64_t first, uint64_t period)
{
	struct alarm_times times = {first, period};

	return kalarm_set(bit, &times);
}

static void
alarm_off(void)
{
	expect_eq(alarm_at(0, FOREVER, 0), 0);
}

/* Changes floating-point registers, too. */
static void
scribble(void)
{
	volatile float_register x = 3;

	for (int i = 0; i < 20; i++)
		x = x * 3 / 2 + (float_register)i / 7;
}

static uintptr_t
new_stack(void)
{
	uint64_t stack;

	if (kmem_alloc(SELF, STACK, RW, &stack) != 0)
		return 0;
	return (uintptr_t)stack + STACK;
}

static void
ends_with(uintptr_t value)
{
	for (;;)
		kthread_exit(value);
}

static void
change_context(void)
{
	struct context c;

	expect_eq(kcontext_get((unsigned long)&c), 0);
	context_init(&c, (uintptr_t)ends_with, new_stack() - CONTEXT_CALL_BYTES, 77, 0);
	kcontext_set(&c);
}

HANDLER_ENTRY(handler, serve)

long
serve(const struct handler_event *e)
{
	h.event = *e;
	h.entered++;
	h.depth++;
	if (h.depth > h.deepest)
		h.deepest = h.depth;
	if (e->cause == HANDLER_UPCALL)
		h.bits |= (uint32_t)e->addr;
	scribble();
	if (h.how == SERVE_YIELD)
		kthread_yield();
	if (h.how == SERVE_SET && h.entered < ROUNDS)
		kthread_wakeup(h.thread, 1u << BIT);
	if (h.how == SERVE_SLEEP && h.entered == 1) {
		kthread_wakeup(h.thread, 1u << BIT);
		h.slept = kthread_sleep(1u << OTHER_BIT, FOREVER);
	}
	if (h.how == SERVE_TAKE && h.entered == 1) {
		kthread_wakeup(h.thread, 1u << BIT);
		h.slept = kthread_sleep(1u << BIT, 0);
		alarm_at(BIT, kt_now() + MS, 0);
		h.cut = kthread_sleep(1u << OTHER_BIT, kt_now() + 5000 * MS);
	}
	h.depth--;
	if (h.how == SERVE_CONTEXT)
		change_context();
	return h.how == SERVE_SKIP ? (long)h.skip_to : 0;
}

static void
handle(enum serve how)
{
	static uintptr_t stack;

	if (stack == 0)
		stack = new_stack();
	memset(&h, 0, sizeof(h));
	h.how = how;
	h.thread = (int)kthread_self();
	expect_eq(kthread_handler(HANDLE_UPCALLS, (unsigned long)handler, stack), 0);
	expect_eq(kthread_upcalls(1u << BIT), 0);
}

static void
handle_nothing(void)
{
	alarm_off();
	expect_eq(kthread_upcalls(0), 0);
	kthread_sleep(WAKE_ANY, 0);
}

/* test: alarm_set */
TEST(an_alarm_sets_a_bit_at_its_time)
{
	uint64_t first = kt_now() + MS;

	expect_eq(alarm_at(BIT, first, 0), 0);
	expect_eq(kthread_sleep(1u << OTHER_BIT, kt_now() + MS / 2), -E_TIMEDOUT);
	expect_eq(kthread_sleep(1u << BIT, FOREVER), 1 << BIT);
	expect(kt_now() >= first);
	expect_eq(kthread_sleep(1u << BIT, kt_now() + 3 * MS), -E_TIMEDOUT);
	/* a time that is over is now; a thread has one alarm */
	expect_eq(alarm_at(OTHER_BIT, FOREVER - 1, 0), 0);
	expect_eq(alarm_at(BIT, 1, 0), 0);
	expect_eq(kthread_sleep(1u << BIT, FOREVER), 1 << BIT);
	expect_eq(alarm_at(BIT, kt_now() + MS, 0), 0);
	alarm_off();
	kthread_sleep(1u << BIT, 0);
	expect_eq(kthread_sleep(1u << BIT, kt_now() + 3 * MS), -E_TIMEDOUT);
}

TEST(an_alarm_comes_again_each_period)
{
	uint64_t first = kt_now() + MS;

	expect_eq(alarm_at(BIT, first, MS), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		expect_eq(kthread_sleep(1u << BIT, FOREVER), 1 << BIT);
		expect(kt_now() >= first + i * MS);
	}
	alarm_off();
	kthread_sleep(1u << BIT, 0);
	expect_eq(kthread_sleep(1u << BIT, kt_now() + 3 * MS), -E_TIMEDOUT);
}

/* test: alarm_set, thread_upcalls */
TEST(wrong_alarms_and_masks_are_refused)
{
	struct alarm_times times = {FOREVER, 0};

	expect_eq(kalarm_set(-1, &times), -E_INVAL);
	expect_eq(kalarm_set(WAKE_BITS, &times), -E_INVAL);
	expect_eq(alarm_at(BIT, 1, ALARM_PERIOD_MIN - 1), -E_INVAL);
	expect_eq(alarm_at(BIT, 1, 1), -E_INVAL);
	expect_eq(kalarm_set(BIT, (const void *)16), -E_FAULT);
	expect_eq(kthread_upcalls(1u << WAKE_BITS), -E_INVAL);
	expect_eq(kthread_upcalls(~0u), -E_INVAL);
	expect_eq(kthread_sleep(WAKE_ANY, kt_now() + MS), -E_TIMEDOUT);
}

/* Nothing but computing, until an upcall has come. */
static void
spin_until(uint32_t entered)
{
	while (h.entered < entered)
		;
}

TEST(an_alarm_starts_the_handler_of_a_thread_that_computes)
{
	handle(SERVE_NOTHING);
	expect_eq(alarm_at(BIT, kt_now() + MS, MS), 0);
	spin_until(5);
	expect_eq(h.event.cause, HANDLER_UPCALL);
	expect_eq(h.event.addr, 1u << BIT);
	expect(h.event.pc != 0 && h.event.sp != 0);
	expect_eq(h.bits, 1u << BIT);
	expect_eq(h.deepest, 1);
	handle_nothing();
}

TEST(what_the_thread_computes_is_not_disturbed)
{
	uint32_t want = kt_compute(7, 2000);
	unsigned wrong = 0;

	handle(SERVE_NOTHING);
	expect_eq(alarm_at(BIT, kt_now(), MS), 0);
	while (h.entered < ROUNDS) {
		wrong += kt_compute(7, 2000) != want;
		wrong += kthread_self() != h.thread;
		wrong += kvoid_remote() != 0;
	}
	expect_eq(wrong, 0);
	handle_nothing();
}

#define expect_cut(expression) do { \
	uint32_t before = h.entered; \
	expect_eq((expression), -E_INTR); \
	expect(h.entered > before); \
} while (0)

static unsigned long
sleep_for_ever(unsigned long arg)
{
	kthread_sleep(WAKE_ANY, FOREVER);
	return arg;
}

/*
 * test: thread_sleep, futex_wait, thread_join, mailbox_wait, portal_read, portal_write, proc_wait
 */
TEST(an_upcall_ends_a_wait)
{
	long tid = kt_thread(sleep_for_ever, 5, ANY_CORE), proc = kt_spawn(SLEEPS, 0, ANY_CORE);
	int in = (int)kmailbox_create(BIT), portal = (int)kportal_create(BIT),
		out = (int)kportal_open(0, BIT, BIT);
	static unsigned char bytes[20000];
	struct proc_status status;
	uint32_t word = 0;
	uint64_t value;

	expect(proc > 0);
	handle(SERVE_NOTHING);
	expect_eq(alarm_at(BIT, kt_now() + MS, MS), 0);
	expect_cut(kthread_sleep(1u << OTHER_BIT, FOREVER));
	expect_cut(kthread_sleep(1u << OTHER_BIT, kt_now() + 60000 * MS));
	expect_cut(kfutex_wait((unsigned long)&word, 0, FOREVER));
	expect_cut(kthread_join((int)tid, &value, FOREVER));
	expect_cut(kmailbox_wait(in, ANY_SOURCE_CLUSTER, FOREVER));
	expect_cut(kproc_wait((int)proc, &status, FOREVER));
	expect_cut(kportal_write(out, (unsigned long)bytes, sizeof(bytes), FOREVER));
	expect_eq(kportal_allow(portal, 0, BIT), 0);
	expect_cut(kportal_read(portal, (unsigned long)bytes, sizeof(bytes), FOREVER));
	/* what it sleeps for it takes itself */
	expect_eq(kthread_sleep(1u << BIT, FOREVER), 1 << BIT);
	handle_nothing();
	expect_eq(khandle_close(in), 0);
	expect_eq(khandle_close(portal), 0);
	expect_eq(khandle_close(out), 0);
	expect_eq(kthread_wakeup((int)tid, 1), 0);
	expect_eq(kt_join(tid), 5);
	expect_eq(kproc_kill((int)proc, 1), 0);
	expect_eq(kt_wait(proc, NULL), 1);
}

/* Bits of a thread that has never had a handler of any kind. */
static unsigned long
without_handler(unsigned long arg)
{
	unsigned long wrong = 0;

	wrong += kthread_upcalls(1u << BIT) != 0;
	wrong += kthread_wakeup((int)kthread_self(), 1u << BIT) != 0;
	kt_pause(1000);
	wrong += kt_compute(7, 100) != kt_compute(7, 100);
	wrong += kthread_sleep(1u << BIT, FOREVER) != 1 << BIT;
	return wrong + arg;
}

TEST(a_thread_without_a_handler_goes_on)
{
	expect_eq(kt_join(kt_thread(without_handler, 0, ANY_CORE)), 0);
}

/* test: thread_upcalls */
TEST(bits_outside_of_the_mask_wait_for_a_sleep)
{
	handle(SERVE_NOTHING);
	expect_eq(kthread_wakeup(h.thread, 1u << OTHER_BIT), 0);
	kt_pause(1000);
	expect_eq(h.entered, 0);
	/* one that is set already starts the handler as soon as it is in the mask */
	expect_eq(kthread_upcalls(1u << OTHER_BIT | 1u << BIT), 0);
	spin_until(1);
	expect_eq(h.event.addr, 1u << OTHER_BIT);
	expect_eq(kthread_upcalls(0), 0);
	expect_eq(kthread_wakeup(h.thread, 1u << BIT), 0);
	expect_eq(kthread_sleep(WAKE_ANY, FOREVER), 1 << BIT);
	expect_eq(h.entered, 1);
	handle_nothing();
}

TEST(without_a_handler_a_bit_of_the_mask_stays)
{
	expect_eq(kthread_upcalls(1u << BIT), 0);
	expect_eq(kthread_handler(HANDLE_UPCALLS, 0, 0), 0);
	expect_eq(kthread_wakeup((int)kthread_self(), 1u << BIT), 0);
	expect_eq(kthread_sleep(1u << OTHER_BIT, FOREVER), -E_INTR);
	expect_eq(kthread_sleep(1u << BIT, FOREVER), 1 << BIT);
	expect_eq(kthread_sleep(1u << OTHER_BIT, kt_now() + MS), -E_TIMEDOUT);
	expect_eq(kthread_upcalls(0), 0);
}

TEST(a_bit_that_comes_in_the_handler_starts_it_again)
{
	handle(SERVE_SET);
	expect_eq(kthread_wakeup(h.thread, 1u << BIT), 0);
	spin_until(ROUNDS);
	expect_eq(h.deepest, 1);
	handle(SERVE_SLEEP);
	expect_eq(kthread_wakeup(h.thread, 1u << BIT), 0);
	spin_until(2);
	expect_eq(h.slept, -E_INTR);
	expect_eq(h.deepest, 1);
	handle_nothing();
}

/* One that is taken in the handler does not hide the next one from a wait there. */
TEST(a_bit_that_is_taken_in_the_handler_may_come_again)
{
	handle(SERVE_TAKE);
	expect_eq(kthread_wakeup(h.thread, 1u << BIT), 0);
	spin_until(2);
	expect_eq(h.slept, 1 << BIT);
	expect_eq(h.cut, -E_INTR);
	handle_nothing();
}

HANDLER_ENTRY(call_handler, serve_call)

/* A call of another number, in whose handler the alarm comes. */
long
serve_call(const struct handler_event *e)
{
	uint32_t before = h.entered;

	h.slept = kthread_sleep(1u << OTHER_BIT, FOREVER);
	return (long)e->args[0] + (h.entered == before ? 1000 : 0);
}

TEST(an_upcall_waits_for_the_end_of_another_handler)
{
	handle(SERVE_NOTHING);
	expect_eq(kthread_handler(HANDLE_CALLS, (unsigned long)call_handler, new_stack()), 0);
	expect_eq(alarm_at(BIT, kt_now() + MS, MS), 0);
	expect_eq(kcall1(FOREIGN_CALL, 7), 1007);
	expect_eq(h.slept, -E_INTR);
	spin_until(1);
	expect_eq(h.deepest, 1);
	expect_eq(kthread_handler(HANDLE_CALLS, 0, 0), 0);
	handle_nothing();
}

/* Goes to where the upcall's handler says. */
static __attribute__((noinline)) void
landed(void)
{
	for (;;)
		kthread_exit(31);
}

static unsigned long
leaper(unsigned long arg)
{
	handle(SERVE_SKIP);
	h.skip_to = (uintptr_t)landed;
	alarm_at(BIT, kt_now() + MS, 0);
	while (h.how == SERVE_SKIP)
		kt_compute(1, 100);
	return arg;
}

TEST(the_thread_can_go_on_elsewhere)
{
	expect_eq(kt_join(kt_thread(leaper, 0, ANY_CORE)), 31);
	expect_eq(h.entered, 1);
}

static unsigned long
changed(unsigned long arg)
{
	handle(SERVE_CONTEXT);
	alarm_at(BIT, kt_now() + MS, 0);
	while (h.how == SERVE_CONTEXT)
		kt_compute(1, 100);
	return arg;
}

TEST(the_thread_can_go_on_with_other_registers)
{
	expect_eq(kt_join(kt_thread(changed, 0, ANY_CORE)), 77);
	expect_eq(h.entered, 1);
}

/* Threads of one core that never give it up but in their handlers. */
static volatile uint32_t turns[2];

HANDLER_ENTRY(yielder, serve_yield)

long
serve_yield(const struct handler_event *e)
{
	kthread_yield();
	return e->cause == HANDLER_UPCALL ? 0 : 1;
}

static unsigned long
takes_turns(unsigned long me)
{
	uint32_t want = kt_compute((uint32_t)me, 500);
	unsigned long wrong = 0;

	wrong += kthread_handler(HANDLE_UPCALLS, (unsigned long)yielder, new_stack()) != 0;
	wrong += kthread_upcalls(1u << BIT) != 0;
	wrong += alarm_at(BIT, kt_now() + MS, MS) != 0;
	while (turns[0] < ROUNDS || turns[1] < ROUNDS) {
		wrong += kt_compute((uint32_t)me, 500) != want;
		turns[me]++;
	}
	return wrong;
}

TEST(threads_that_compute_share_an_application_core_by_alarms)
{
	int core = kt_other_core();
	long tid[2];

	turns[0] = turns[1] = 0;
	for (unsigned long i = 0; i < 2; i++)
		tid[i] = kt_thread(takes_turns, i, core >= 0 ? core : ANY_CORE);
	for (int i = 0; i < 2; i++)
		expect_eq(kt_join(tid[i]), 0);
}

/* Others set bits of a thread that computes. */
static unsigned long
rings(unsigned long thread)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint32_t before = h.entered;

		if (kthread_wakeup((int)thread, 1u << BIT) != 0)
			return 1;
		while (h.entered == before)
			kthread_yield();
	}
	return 0;
}

/* test: thread_wakeup */
TEST(a_bit_that_another_thread_sets_stops_the_thread_at_once)
{
	long tid;

	handle(SERVE_NOTHING);
	tid = kt_thread(rings, (unsigned long)h.thread, kt_other_core() >= 0 ? kt_other_core() :
		ANY_CORE);
	spin_until(ROUNDS);
	expect_eq(h.bits, 1u << BIT);
	expect_eq(kt_join(tid), 0);
	handle_nothing();
}

static unsigned long
ends_with_an_alarm(unsigned long arg)
{
	alarm_at(BIT, kt_now() + arg, ALARM_PERIOD_MIN);
	return arg;
}

/* What the alarm needed is back, and it does not ring any more. */
TEST(an_alarm_ends_with_its_thread)
{
	uint64_t pieces = kt_stats(STATS_PIECE_PAGES), frames;
	uint32_t cause;
	long proc, tid;

	for (unsigned i = 0; i < ROUNDS; i++) {
		tid = kt_thread(ends_with_an_alarm, i * ALARM_PERIOD_MIN, ANY_CORE);
		if (i % 2 == 0)
			kt_pause(300);
		expect_eq(kt_join(tid), i * ALARM_PERIOD_MIN);
	}
	frames = kt_stats(STATS_FRAMES_FREE);
	for (unsigned i = 0; i < ROUNDS; i++) {
		proc = kt_spawn(RINGS_FOR_EVER, i % 2, ANY_CORE);
		kt_pause(300);
		expect_eq(kproc_kill((int)proc, 9), 0);
		expect_eq(kt_wait(proc, &cause), 9);
		expect_eq(cause, CRASH_KILLED);
	}
	expect_eq(kt_stats(STATS_PIECE_PAGES), pieces);
	expect_eq(kt_stats(STATS_FRAMES_FREE), frames);
}

static void
ring_for_ever(bool waits)
{
	handle(SERVE_NOTHING);
	alarm_at(BIT, kt_now(), ALARM_PERIOD_MIN);
	while (waits)
		kthread_sleep(1u << OTHER_BIT, FOREVER);
	while (!waits)
		kt_compute(1, 100);
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	switch (atoll_startup()->job) {
	case NONE:
		break;
	case RINGS_FOR_EVER:
		ring_for_ever(atoll_startup()->shared != 0);
		break;
	default:
		kthread_sleep(WAKE_ANY, FOREVER);
		return 0;
	}
	RUN(an_alarm_sets_a_bit_at_its_time);
	RUN(an_alarm_comes_again_each_period);
	RUN(wrong_alarms_and_masks_are_refused);
	RUN(an_alarm_starts_the_handler_of_a_thread_that_computes);
	RUN(what_the_thread_computes_is_not_disturbed);
	RUN(an_upcall_ends_a_wait);
	RUN(a_thread_without_a_handler_goes_on);
	RUN(bits_outside_of_the_mask_wait_for_a_sleep);
	RUN(without_a_handler_a_bit_of_the_mask_stays);
	RUN(a_bit_that_comes_in_the_handler_starts_it_again);
	RUN(a_bit_that_is_taken_in_the_handler_may_come_again);
	RUN(an_upcall_waits_for_the_end_of_another_handler);
	RUN(the_thread_can_go_on_elsewhere);
	RUN(the_thread_can_go_on_with_other_registers);
	RUN(threads_that_compute_share_an_application_core_by_alarms);
	RUN(a_bit_that_another_thread_sets_stops_the_thread_at_once);
	RUN(an_alarm_ends_with_its_thread);
	kt_end();
}
