/* SPDX-License-Identifier: MIT
 *
 * Queued calls: every kernel call can be one, replies come in any order, a full queue says so, user
 * threads wait for theirs while others run, and a process that ends in the middle leaves nothing.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 */
#include <base/str.h>
#include <atoll/call_queue.h>
#include <atoll/uthread.h>
#include <tests/kernel/ktest.h>

#define CALLS 8
#define MEMORY 4096
#define WORKERS_MAX 3
#define KERNEL_CALLS 84
#define BAD 0x7fffffff			/* no handle, and no number of anything */
#define BIT 7
#define THREADS 12
#define EACH 40
#define ROLE_DIES 1

static _Alignas(64) unsigned char memory[MEMORY];
static struct call_queue q;
static long worker[WORKERS_MAX];
static unsigned workers;

static unsigned long
serves(unsigned long arg)
{
	(void)arg;
	return (unsigned long)call_queue_serve(&q);
}

static void
begin(unsigned calls, unsigned n)
{
	expect_eq(call_queue_begin(&q, calls, memory, sizeof(memory)), 0);
	for (workers = 0; workers < n; workers++)
		worker[workers] = kt_thread(serves, 0, ANY_CORE);
}

static void
end(void)
{
	expect_eq(call_queue_end(&q), 0);
	while (workers > 0)
		expect_eq(kt_join(worker[--workers]), 0);
}

static struct queued_call
kernel_call(unsigned long number, unsigned long word, unsigned long second)
{
	return (struct queued_call){.make = queued_kernel_call, .number = number,
		.word = {word, second}};
}

TEST(what_is_wrong_is_an_error)
{
	struct queued_call *c;

	expect_eq(call_queue_bytes(0), 0);
	expect_eq(call_queue_bytes(CALL_QUEUE_MAX + 1), 0);
	expect_eq(call_queue_begin(&q, 0, memory, sizeof(memory)), -E_INVAL);
	expect_eq(call_queue_begin(&q, CALLS, memory, call_queue_bytes(CALLS) - 1), -E_INVAL);
	expect_eq(call_queue_begin(&q, CALLS, memory + 8, MEMORY - 8), -E_INVAL);
	begin(CALLS, 0);
	expect_eq(call_reply(&q, &c, FOREVER), -E_NOENT);
	end();
}

/* --- kernel calls --- */

/* The call by a worker says what it says here. */
static void
expect_same(unsigned long number)
{
	struct queued_call c = kernel_call(number, BAD, 0), *done = NULL;
	long here = queued_kernel_call(&c);

	expect_eq(call_submit(&q, &c), 0);
	expect_eq(call_reply(&q, &done, FOREVER), 0);
	expect(done == &c);
	if (here < 0)
		expect_eq(c.result, here);
	else
		expect(c.result >= 0);
	if (number == KC_PROC_CREATE) {
		expect_eq(khandle_close((int)here), 0);
		expect_eq(khandle_close((int)c.result), 0);
	}
}

TEST(every_call_can_be_queued)
{
	begin(CALLS, 1);
	for (unsigned long number = 0; number < KERNEL_CALLS + 3; number++)
		if (number != KC_PROC_EXIT)
			expect_same(number);
	end();
}

static uint32_t word;

TEST(replies_come_in_any_order_and_a_full_queue_says_so)
{
	struct queued_call waits = kernel_call(KC_FUTEX_WAIT, (unsigned long)&word, 1), *done;
	struct queued_call quick[CALLS];

	word = 1;
	memset(&waits.word[2], 0xff, sizeof(waits.word[2]) * 2);	/* for ever */
	begin(CALLS, 2);
	expect_eq(call_submit(&q, &waits), 0);
	for (unsigned i = 0; i < CALLS - 1; i++) {
		quick[i] = kernel_call(KC_VOID_REMOTE, 0, 0);
		expect_eq(call_submit(&q, &quick[i]), 0);
	}
	expect_eq(call_submit(&q, &quick[0]), -E_AGAIN);
	expect_eq(call_queue_end(&q), -E_BUSY);
	for (unsigned i = 0; i < CALLS - 1; i++) {
		expect_eq(call_reply(&q, &done, FOREVER), 0);
		expect(done != &waits && done->result == 0);
	}
	expect_eq(call_reply(&q, &done, 0), -E_AGAIN);
	expect_eq(call_submit(&q, &quick[0]), 0);
	expect_eq(call_reply(&q, &done, FOREVER), 0);
	while (kfutex_wake((unsigned long)&word, 1) == 0)
		kthread_yield();
	expect_eq(call_reply(&q, &done, FOREVER), 0);
	expect(done == &waits && waits.result == 0);
	end();
}

/* --- user threads --- */

static struct {
	struct uthread *thread[THREADS];
	uint32_t made[THREADS];		/* by workers */
	unsigned wrong;
	uint32_t steps;			/* of the thread that makes no calls */
	unsigned going;
} set;

static long
makes(struct queued_call *c)
{
	__atomic_fetch_add(&set.made[c->word[0]], 1, __ATOMIC_RELAXED);
	return (long)(c->word[0] * 1000 + c->word[1]);
}

static void
calls(void *arg)
{
	unsigned long me = (unsigned long)(uintptr_t)arg;

	for (unsigned long i = 0; i < EACH; i++) {
		struct queued_call c = {.make = makes, .word = {me, i}};

		set.wrong += call_queued(&q, &c) != (long)(me * 1000 + i);
		c = kernel_call(KC_VOID_REMOTE, 0, 0);
		set.wrong += call_queued(&q, &c) != 0;
	}
	set.going--;
}

/* Goes on while the others wait. */
static void
steps(void)
{
	while (set.going != 0) {
		set.steps++;
		uthread_yield();
		kthread_yield();	/* to a worker on the same core */
	}
}

static void
starts_callers(void *arg)
{
	call_queue_uthreads(&q);
	set.going = THREADS;
	for (unsigned i = 0; i < THREADS; i++)
		set.wrong += uthread_start(calls, (void *)(uintptr_t)i, &set.thread[i]) != 0;
	if (arg != NULL)
		steps();
	for (unsigned i = 0; i < THREADS; i++)
		set.wrong += uthread_join(set.thread[i]) != 0;
}

/* `calls` places, so many workers; another thread runs beside, or none. */
static void
run_callers(unsigned places, unsigned n, uint64_t quantum, void *beside)
{
	memset(&set, 0, sizeof(set));
	begin(places, n);
	expect_eq(uthreads_run(starts_callers, beside, THREADS + 1, quantum, BIT), 0);
	end();
	expect_eq(set.wrong, 0);
	for (unsigned i = 0; i < THREADS; i++)
		expect_eq(set.made[i], EACH);
	expect(beside == NULL || set.steps != 0);
}

TEST(user_threads_wait_for_their_calls_while_others_run)
{
	for (unsigned n = 1; n <= WORKERS_MAX; n++) {
		run_callers(THREADS, n, 0, NULL);
		run_callers(THREADS, n, 0, &set);
		run_callers(2, n, 0, NULL);	/* most wait for a place */
		run_callers(1, n, 0, &set);
		run_callers(3, n, ALARM_PERIOD_MIN, &set);
	}
}

/* --- ends in the middle --- */

/* A process with calls under way, which its kernel calls wait in, and with more that queue up. */
static int
dies(void)
{
	static struct queued_call c[CALLS];
	struct queued_call *done;

	word = 1;
	begin(CALLS, WORKERS_MAX);
	for (unsigned i = 0; i < CALLS; i++) {
		c[i] = kernel_call(i % 2 == 0 ? KC_VOID_REMOTE : KC_FUTEX_WAIT,
			i % 2 == 0 ? 0 : (unsigned long)&word, 1);
		memset(&c[i].word[2], 0xff, sizeof(c[i].word[2]) * 2);
		call_submit(&q, &c[i]);
	}
	while (call_reply(&q, &done, FOREVER) == 0)
		call_submit(&q, done);
	return 0;
}

TEST(a_process_that_ends_in_the_middle_leaves_nothing)
{
	uint64_t frames = 0, threads = kt_stats(STATS_THREADS);

	for (unsigned i = 0; i < 20; i++) {
		long proc = kt_spawn(ROLE_DIES, 0, ANY_CORE);

		expect(proc >= 0);
		kt_pause(100 * i);
		expect_eq(kproc_kill((int)proc, 3), 0);
		expect_eq(kt_wait(proc, NULL), 3);
		if (i == 0)
			frames = kt_stats(STATS_FRAMES_FREE);
	}
	expect_eq(kt_stats(STATS_FRAMES_FREE), frames);
	expect_eq(kt_stats(STATS_THREADS), threads);
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (atoll_startup()->job == ROLE_DIES)
		return dies();
	RUN(what_is_wrong_is_an_error);
	RUN(every_call_can_be_queued);
	RUN(replies_come_in_any_order_and_a_full_queue_says_so);
	RUN(user_threads_wait_for_their_calls_while_others_run);
	RUN(a_process_that_ends_in_the_middle_leaves_nothing);
	kt_end();
}
