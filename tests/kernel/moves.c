/* SPDX-License-Identifier: MIT
 *
 * Threads go to other cores, and are counted: whatever they do meanwhile, registers and handlers go
 * with them, a wait goes on, and what is counted grows as it should.
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

#define PAGE kt_page_bytes()
#define RW (PAGE_READ | PAGE_WRITE)
#define STACK (32 * 1024)
#define BIT 5
#define END_BIT 6
#define MS 1000000ull
#define ROUNDS 30
#define MOVERS 3

enum role { NONE, MOVES_FOR_EVER, SAYS_WHERE };

static volatile uint32_t go_on;

static int
own_core(void)
{
	struct cluster_info info;

	kcluster_info(&info);
	return (int)info.core;
}

/* The cores of this cluster that run user threads, and how many there are. */
static int core_of_users[64];
static unsigned user_cores;

static int
cores_of_users(void)
{
	struct cluster_info info;
	int n = 0;

	kcluster_info(&info);
	for (uint32_t i = 0; i < info.cores && n < 64; i++)
		if (kthread_cores((int)kthread_self(), (int)i, 1) == 0)
			core_of_users[n++] = (int)i;
	user_cores = (unsigned)n;
	while (own_core() != core_of_users[n - 1])
		continue;
	return n;
}

/* The caller goes to a core: it is there as soon as its own core has heard of it. */
static void
go_to(int core)
{
	expect_eq(kthread_cores((int)kthread_self(), core, 1), 0);
	while (own_core() != core)
		continue;
}

/* test: thread_cores */
TEST(a_thread_goes_to_each_core_that_it_may_run_on)
{
	int n = cores_of_users();
	uint32_t want = kt_compute(3, 50);

	expect(n >= 1);
	for (unsigned round = 0; round < ROUNDS; round++)
		for (int i = 0; i < n; i++) {
			go_to(core_of_users[i]);
			expect_eq(kt_compute(3, 50), want);
		}
}

/* test: thread_cores */
TEST(wrong_cores_are_refused)
{
	struct cluster_info info;
	int self = (int)kthread_self(), core = own_core();

	kcluster_info(&info);
	expect_eq(kthread_cores(self, -1, 1), -E_INVAL);
	expect_eq(kthread_cores(self, 0, 0), -E_INVAL);
	expect_eq(kthread_cores(self, 0, -1), -E_INVAL);
	expect_eq(kthread_cores(self, (int)info.cores, 1), -E_INVAL);
	expect_eq(kthread_cores(self, 0, (int)info.cores + 1), -E_INVAL);
	expect_eq(kthread_cores(self, 1, 0x7fffffff), -E_INVAL);
	expect_eq(kthread_cores(12345, 0, 1), -E_BADF);
	/* where it is already, it stays */
	expect_eq(kthread_cores(self, 0, (int)info.cores), 0);
	expect_eq(own_core(), core);
}

static unsigned long
ends_at_once(unsigned long arg)
{
	return arg;
}

static unsigned long
computes(unsigned long seed)
{
	uint32_t want = kt_compute((uint32_t)seed, 200);
	unsigned long wrong = 0;

	while (!go_on)
		wrong += kt_compute((uint32_t)seed, 200) != want;
	return wrong;
}

/*
 * Whoever is moved while it computes has its registers on each core. The caller, on the last of the
 * cores, keeps that for itself if there is another.
 */
TEST(threads_that_compute_are_moved_by_others)
{
	int n = cores_of_users();
	long tid[MOVERS], e;

	if (n > 1)
		n--;

	go_on = 0;
	for (int i = 0; i < MOVERS; i++)
		tid[i] = kt_thread(computes, (unsigned long)i + 1, core_of_users[i % n]);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < MOVERS; i++)
			expect_eq(kthread_cores((int)tid[i], core_of_users[(round + i) % n], 1), 0);
		kthread_sleep(WAKE_ANY, kt_now() + MS / 4);
	}
	go_on = 1;
	for (int i = 0; i < MOVERS; i++)
		expect_eq(kt_join(tid[i]), 0);
	tid[0] = kt_thread(ends_at_once, 1, ANY_CORE);
	while ((e = kthread_cores((int)tid[0], core_of_users[0], 1)) == 0)
		kthread_sleep(WAKE_ANY, kt_now() + MS);
	expect_eq(e, -E_SRCH);
	expect_eq(kt_join(tid[0]), 1);
}

static uint32_t word;

/* Where it is after each of its waits; the value says when it was somewhere else. */
static unsigned long
waits(unsigned long core)
{
	uint64_t value;

	if (kfutex_wait((unsigned long)&word, 0, FOREVER) != 0 || own_core() != (int)core)
		return 1;
	if (kthread_sleep(1u << BIT, FOREVER) != 1 << BIT || own_core() != (int)core)
		return 2;
	if (kthread_sleep(1u << BIT, kt_now() + MS) != -E_TIMEDOUT)
		return 3;
	return kthread_join(99999, &value, FOREVER) == -E_BADF ? 0 : 4;
}

TEST(a_thread_that_waits_goes_on_on_its_new_core)
{
	int n = cores_of_users();

	for (int i = 0; i < n; i++) {
		int to = core_of_users[(i + 1) % n];
		long tid = kt_thread(waits, (unsigned long)to, core_of_users[i]);

		kthread_sleep(WAKE_ANY, kt_now() + MS);
		expect_eq(kthread_cores((int)tid, to, 1), 0);
		while (kfutex_wake((unsigned long)&word, 1) == 0)
			kthread_sleep(WAKE_ANY, kt_now() + MS / 10);
		expect_eq(kthread_wakeup((int)tid, 1u << BIT), 0);
		expect_eq(kt_join(tid), 0);
	}
}

static volatile uint32_t entered;

HANDLER_ENTRY(counter, serve_counter)

long
serve_counter(const struct handler_event *e)
{
	(void)e;
	kt_compute(entered, 20);
	entered++;
	return 0;
}

/* Its handler is where the thread is, also when both are asked for at once. */
TEST(a_handler_goes_with_its_thread)
{
	int n = cores_of_users(), self = (int)kthread_self();
	uint32_t want = kt_compute(9, 50);
	uint64_t stack;

	expect_eq(kmem_alloc(SELF, STACK, RW, &stack), 0);
	entered = 0;
	expect_eq(kthread_handler(HANDLE_UPCALLS, (unsigned long)counter,
		(unsigned long)stack + STACK), 0);
	expect_eq(kthread_upcalls(1u << BIT), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		expect_eq(kthread_cores(self, core_of_users[i % n], 1), 0);
		expect_eq(kthread_wakeup(self, 1u << BIT), 0);
		while (entered == i || own_core() != core_of_users[i % n])
			expect_eq(kt_compute(9, 50), want);
	}
	expect_eq(kthread_upcalls(0), 0);
	expect_eq(kthread_handler(HANDLE_UPCALLS, 0, 0), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)stack, (int)(STACK / PAGE)), 0);
}

#define FOREIGN_CALL 42
#define ANSWER 5000
#define KINDS (HANDLE_CALLS | HANDLE_FAULTS | HANDLE_UPCALLS)

/* A thread that moves in its handler. */
struct mover {
	int core;			/* where its handler goes next */
	uint32_t entered;
};

static struct mover mover[MOVERS];
static uintptr_t mover_stacks, mover_pages;

HANDLER_ENTRY(moving, serve_moving)

/*
 * What could only be read can be written to then; whose stack it runs on says whose handler it is.
 */
long
serve_moving(const struct handler_event *e)
{
	struct mover *m = &mover[((uintptr_t)e - mover_stacks) / STACK];

	kthread_cores((int)kthread_self(), m->core, 1);
	while (own_core() != m->core)
		kthread_yield();
	kt_compute(m->entered++, 20);
	if (e->cause == CRASH_ACCESS)
		kpage_protect(SELF, (unsigned long)e->addr & ~(PAGE - 1), 1, RW);
	return e->cause == CRASH_NONE ? ANSWER : 0;	/* the value of a call, or where to go on */
}

/* What it does after its handler has moved it: a call of its core, one of home, and computing. */
static unsigned long
goes_on(const struct mover *m, uint32_t want)
{
	unsigned long wrong = own_core() != m->core;

	wrong += kvoid_remote() != 0;
	wrong += kt_compute(9, 50) != want;
	kthread_yield();
	return wrong + (own_core() != m->core);
}

/* How often something was wrong: it goes from core to core in handlers of each kind. */
static unsigned long
moves_in_handlers(unsigned long i)
{
	struct mover *m = &mover[i];
	volatile uint32_t *at = (volatile uint32_t *)(mover_pages + i * PAGE);
	uint32_t want = kt_compute(9, 50), before;
	unsigned long wrong;

	wrong = kthread_handler(KINDS, (unsigned long)moving,
		(unsigned long)mover_stacks + (i + 1) * STACK) != 0;
	wrong += kthread_upcalls(1u << BIT) != 0;
	for (unsigned round = 0; round < ROUNDS; round++) {
		m->core = core_of_users[(i + round) % user_cores];
		wrong += kcall1(FOREIGN_CALL, 1) != ANSWER;
		wrong += goes_on(m, want);
		m->core = core_of_users[(i + round + 1) % user_cores];
		wrong += kpage_protect(SELF, (unsigned long)(uintptr_t)at, 1, PAGE_READ) != 0;
		*at = round;
		wrong += goes_on(m, want) + (*at != round);
		m->core = core_of_users[(i + round + 2) % user_cores];
		before = *(volatile uint32_t *)&m->entered;
		kthread_wakeup((int)kthread_self(), 1u << BIT);
		while (*(volatile uint32_t *)&m->entered == before)
			continue;
		wrong += goes_on(m, want);
	}
	return wrong;
}

/* test: thread_cores, frame_return */
TEST(a_thread_that_moves_in_its_handler_goes_on_where_it_is)
{
	uint64_t stacks, pages;
	long tid[MOVERS];

	cores_of_users();
	expect_eq(kmem_alloc(SELF, MOVERS * STACK, RW, &stacks), 0);
	expect_eq(kmem_alloc(SELF, MOVERS * PAGE, RW, &pages), 0);
	mover_stacks = (uintptr_t)stacks;
	mover_pages = (uintptr_t)pages;
	for (unsigned i = 0; i < MOVERS; i++) {
		mover[i].entered = 0;
		tid[i] = kt_thread(moves_in_handlers, i, ANY_CORE);
	}
	for (int i = 0; i < MOVERS; i++) {
		expect_eq(kt_join(tid[i]), 0);
		expect_eq(mover[i].entered, 3 * ROUNDS);
	}
	expect_eq(kpage_unmap(SELF, (unsigned long)stacks, (int)(MOVERS * STACK / PAGE)), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)pages, MOVERS), 0);
}

/* --- statistics --- */

static struct thread_counts
counts_of(long tid)
{
	struct thread_counts c;
	long e;

	do
		e = kthread_stats((int)tid, 0, &c);
	while (e == -E_AGAIN);
	expect_eq(e, 0);
	return c;
}

static unsigned long
touches(unsigned long arg)
{
	uint64_t at = 0;

	while (!go_on)
		kthread_sleep(1u << BIT, kt_now() + MS);
	kmem_alloc(SELF, 10 * PAGE, RW | PAGE_LAZY, &at);
	for (unsigned i = 0; i < 10; i++)
		*(volatile uint32_t *)(uintptr_t)(at + i * PAGE) = i;
	for (unsigned i = 0; i < 20; i++)
		kvoid_remote();
	kpage_unmap(SELF, (unsigned long)at, 10);
	while (go_on != 2)
		kt_compute(1, 100);
	kthread_sleep(1u << END_BIT, FOREVER);
	return arg;
}

/* test: thread_stats */
TEST(what_a_thread_does_is_counted)
{
	long tid;
	struct thread_counts before, then, after;

	go_on = 0;
	tid = kt_thread(touches, 7, kt_other_core() >= 0 ? kt_other_core() : ANY_CORE);
	before = counts_of(tid);
	expect(before.begun_ns != 0 && before.begun_ns <= kt_now());
	kthread_sleep(WAKE_ANY, kt_now() + 5 * MS);
	go_on = 1;
	kthread_wakeup((int)tid, 1u << BIT);
	kthread_sleep(WAKE_ANY, kt_now() + 5 * MS);
	then = counts_of(tid);
	while (then.calls < before.calls + 20) {
		kthread_sleep(WAKE_ANY, kt_now() + MS);
		then = counts_of(tid);
	}
	while (then.faults < before.faults + 10) {
		kthread_sleep(WAKE_ANY, kt_now() + MS);
		then = counts_of(tid);
	}
	expect(then.switches > before.switches);
	expect(then.begun_ns == before.begun_ns);
	/* a thread that computes has time, also before it leaves its core */
	do {
		kthread_sleep(WAKE_ANY, kt_now() + MS);
		after = counts_of(tid);
	} while (after.run_ns == then.run_ns);
	go_on = 2;
	/* one that waits, as it does soon, has none any more */
	do {
		then = counts_of(tid);
		kthread_sleep(WAKE_ANY, kt_now() + 5 * MS);
		after = counts_of(tid);
	} while (after.run_ns != then.run_ns || after.switches != then.switches);
	expect(after.run_ns <= kt_now() - after.begun_ns);
	expect_eq(kthread_wakeup((int)tid, 1u << END_BIT), 0);
	expect_eq(kt_join(tid), 7);
}

/* test: thread_stats */
TEST(wrong_questions_about_threads_are_refused)
{
	struct thread_counts c;
	long tid = kt_thread(ends_at_once, 1, ANY_CORE), e;

	expect_eq(kthread_stats(12345, 0, &c), -E_BADF);
	expect_eq(kthread_stats((int)kthread_self(), 0, (void *)16), -E_FAULT);
	while ((e = kthread_stats((int)tid, 0, &c)) == 0 || e == -E_AGAIN)
		kthread_sleep(WAKE_ANY, kt_now() + MS);
	expect_eq(e, -E_SRCH);
	expect_eq(kt_join(tid), 1);
	expect_eq(kthread_stats((int)tid, 0, &c), -E_BADF);
}

/* The counts go on wherever a thread goes. */
TEST(a_thread_that_moves_is_counted_everywhere)
{
	int n = cores_of_users(), self = (int)kthread_self();
	struct thread_counts first = counts_of(self), c = first;

	for (unsigned i = 0; i < ROUNDS; i++) {
		go_to(core_of_users[i % n]);
		c = counts_of(self);
		expect_eq(c.core, core_of_users[i % n]);
	}
	expect(c.calls >= first.calls + ROUNDS);
	expect(n == 1 || c.switches >= first.switches + ROUNDS / 2);
	expect(c.run_ns >= first.run_ns);
}

/* --- all threads of a process --- */

#define WHERE_PORT 3

static unsigned long
says_where(unsigned long i)
{
	static uint32_t message[MOVERS][MAILBOX_MSG_SIZE / sizeof(uint32_t)];
	uint32_t want = kt_compute((uint32_t)i + 1, 100);
	int out = (int)kmailbox_open(0, WHERE_PORT), core = -1;

	for (;;) {
		if (kt_compute((uint32_t)i + 1, 100) != want)
			kproc_exit(1);
		kthread_yield();	/* they may be on one AC */
		if (own_core() == core)
			continue;
		core = own_core();
		message[i][0] = (uint32_t)i;
		message[i][1] = (uint32_t)core;
		mailbox_send(out, message[i]);
	}
	return 0;
}

/* Never ends. */
static int
say_where(void)
{
	for (unsigned i = 1; i < MOVERS; i++)
		kt_thread(says_where, i, ANY_CORE);
	return (int)says_where(0);
}

/* Until each thread has last said that it is on one of so many cores. */
static void
await_places(int in, int first, int count)
{
	static uint32_t core_of[MOVERS];
	static bool is_known;
	uint32_t message[MAILBOX_MSG_SIZE / sizeof(uint32_t)];

	for (unsigned i = 0; i < MOVERS && !is_known; i++)
		core_of[i] = UINT32_MAX;
	is_known = true;
	for (unsigned i = 0; i < MOVERS;) {
		if (core_of[i] - (uint32_t)first < (uint32_t)count) {
			i++;
			continue;
		}
		expect_eq(mailbox_receive(in, 0, message), 0);
		core_of[message[0]] = message[1];
		i = 0;
	}
}

/*
 * Threads that compute go where their process may be, all together, also those that were put on a
 * core. The caller keeps the last core for itself if there is another.
 *
 * test: proc_cores
 */
TEST(a_process_goes_to_other_cores_with_all_its_threads)
{
	int in = (int)kmailbox_create(WHERE_PORT), n = cores_of_users();
	long proc = kt_spawn(SAYS_WHERE, 0, core_of_users[0]);

	if (n > 1)
		n--;
	for (unsigned i = 0; i < 2 * ROUNDS; i++) {
		expect_eq(kproc_cores((int)proc, core_of_users[i % n], 1), 0);
		await_places(in, core_of_users[i % n], 1);
	}
	expect_eq(kproc_cores((int)proc, core_of_users[0], n), 0);
	await_places(in, core_of_users[0], n);
	expect_eq(kproc_kill((int)proc, 9), 0);
	expect_eq(kt_wait(proc, NULL), 9);
	expect_eq(kproc_cores((int)proc, core_of_users[0], 1), -E_BADF);
	khandle_close(in);
}

/* --- who dies on the way --- */

static unsigned long
moves_for_ever(unsigned long seed)
{
	struct thread_counts c;
	struct cluster_info info;

	kcluster_info(&info);
	for (unsigned i = (unsigned)seed;; i++) {
		kthread_cores((int)kthread_self(), (int)(i % info.cores), 1);
		kthread_stats((int)kthread_self(), 0, &c);
	}
	return 0;
}

/* Threads are made again and again: their records, numbers and what was counted come back. */
TEST(nothing_is_lost_when_threads_end_on_the_way)
{
	uint64_t frames = 0, pieces = 0, threads = kt_stats(STATS_THREADS);
	uint32_t cause;

	for (unsigned i = 0; i < ROUNDS / 2; i++) {
		long proc = kt_spawn(MOVES_FOR_EVER, i, ANY_CORE);

		expect(proc > 0);
		kthread_sleep(WAKE_ANY, kt_now() + MS / 2 + i * MS / 10);
		expect_eq(kproc_kill((int)proc, 9), 0);
		expect_eq(kt_wait(proc, &cause), 9);
		if (i == 2) {
			frames = kt_stats(STATS_FRAMES_FREE);
			pieces = kt_stats(STATS_PIECE_PAGES);
		}
	}
	expect_eq(kt_stats(STATS_FRAMES_FREE), frames);
	/* (their stacks stay) */
	for (unsigned i = 0; i < 20 * ROUNDS; i++)
		expect_eq(kt_join(kt_thread(ends_at_once, i, ANY_CORE)), i);
	expect_eq(kt_stats(STATS_PIECE_PAGES), pieces);
	expect_eq(kt_stats(STATS_THREADS), threads);
}

static int
child(unsigned long seed)
{
	for (unsigned i = 0; i < 3; i++)
		kt_thread(moves_for_ever, seed + i, ANY_CORE);
	return (int)moves_for_ever(seed);
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (atoll_startup()->job == SAYS_WHERE)
		return say_where();
	if (atoll_startup()->job != NONE)
		return child((unsigned long)atoll_startup()->shared);
	RUN(a_thread_goes_to_each_core_that_it_may_run_on);
	RUN(wrong_cores_are_refused);
	RUN(threads_that_compute_are_moved_by_others);
	RUN(a_thread_that_waits_goes_on_on_its_new_core);
	RUN(a_handler_goes_with_its_thread);
	RUN(a_thread_that_moves_in_its_handler_goes_on_where_it_is);
	RUN(what_a_thread_does_is_counted);
	RUN(wrong_questions_about_threads_are_refused);
	RUN(a_thread_that_moves_is_counted_everywhere);
	RUN(a_process_goes_to_other_cores_with_all_its_threads);
	RUN(nothing_is_lost_when_threads_end_on_the_way);
	kt_end();
}
