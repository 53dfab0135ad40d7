/* SPDX-License-Identifier: MIT
 *
 * What threads and processes have done is counted exactly: calls, ends, moves and turns; and told
 * to nobody who has no handle for it.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 */
#include <atoll/counts.h>
#include <base/str.h>
#include <tests/kernel/ktest.h>

#define MS 1000000ull
#define CALLS 37

enum role { NONE, CALLS_AND_ENDS, ASKS_ABOUT_OTHERS, NAPS };

static struct thread_counts
own_counts(void)
{
	struct thread_counts c;

	expect_eq(kthread_stats((int)kthread_self(), 0, &c), 0);
	return c;
}

static struct thread_counts
sum_of(long proc)
{
	struct thread_counts c = {0};

	expect_eq(process_counts((int)proc, &c), 0);
	return c;
}

/* test: thread_stats */
TEST(each_call_to_the_kernel_core_is_counted_once)
{
	struct thread_counts before = own_counts(), after;

	for (unsigned i = 0; i < CALLS; i++)
		kvoid_remote();
	after = own_counts();
	/* and the first question, whose answer could not know of it */
	expect_eq(after.calls - before.calls, CALLS + 1);
	expect_eq(after.moves, before.moves);
	expect_eq(after.core, kt_own_core());
	expect_eq(after.threads, 1);
	expect_eq(after.begun_ns == before.begun_ns && after.run_ns > before.run_ns, 1);
}

static unsigned long
calls(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		kvoid_remote();
	return n;
}

/*
 * A child that has been asked for before it began. Its end says how many calls it has made, but for
 * questions that found a core that was counting, which it had to repeat.
 */
static int
call_and_end(unsigned long n)
{
	struct thread_counts c = {0};
	int repeated = 0;
	long result;

	if (kt_join(kt_thread(calls, n, ANY_CORE)) != (long)n)
		return -1;
	while ((result = kthread_stats(SELF, 0, &c)) == -E_AGAIN)
		repeated++;
	if (result != 0 || c.ended != 1 || c.threads != 1 || c.run_ns == 0 || c.pages == 0)
		return -1;
	return (int)c.calls - repeated;
}

static int
calls_of_child(unsigned long n)
{
	struct thread_counts c = {0};
	long proc = kproc_create();

	expect_eq(process_counts((int)proc, &c), 0);
	expect_eq(c.calls + c.threads + c.ended, 0);
	expect_eq(kt_spawn_in(proc, CALLS_AND_ENDS, n, ANY_CORE), proc);
	return kt_wait(proc, NULL);
}

/* test: thread_stats */
TEST(a_process_has_what_its_ended_threads_have_done)
{
	int some = calls_of_child(CALLS), more = calls_of_child(4 * CALLS);

	expect(some > CALLS);
	expect_eq(more - some, 3 * CALLS);
}

static unsigned long
computes(unsigned long ns)
{
	unsigned long done = 0;

	do
		done += kt_compute(1, 100) != 0;
	while (own_counts().run_ns < ns);
	return done;
}

/* test: thread_stats */
TEST(time_of_ended_threads_stays_with_their_process)
{
	struct thread_counts before = sum_of(SELF), after;

	for (unsigned i = 0; i < 3; i++)
		expect(kt_join(kt_thread(computes, 2 * MS, ANY_CORE)) > 0);
	after = sum_of(SELF);
	expect_eq(after.ended - before.ended, 3);
	expect_eq(after.threads, before.threads);
	expect(after.run_ns - before.run_ns >= 6 * MS);
	expect(after.begun_ns == before.begun_ns);
}

/* A core that is a TC, the caller's if it can be; -1: there is none. */
static int
shared_core(void)
{
	struct cluster_info info;

	kcluster_info(&info);
	for (int i = 0; i < (int)info.cores; i++)
		if (kt_core_info(i).role == ROLE_TC)
			return i;
	return -1;
}

static unsigned long
is_put_off(unsigned long turns)
{
	while (own_counts().preempted < turns)
		kt_compute(1, 1000);
	return own_counts().preempted;
}

/* Of two that compute on one TC, each leaves it for the other. */
TEST(turns_of_others_are_counted)
{
	struct thread_counts before = sum_of(SELF);
	int core = shared_core();
	long one, two;

	if (core < 0)
		return;
	one = kt_thread(is_put_off, 3, core);
	two = kt_thread(is_put_off, 3, core);
	expect(kt_join(one) >= 3);
	expect(kt_join(two) >= 3);
	expect(sum_of(SELF).preempted - before.preempted >= 6);
}

/* test: thread_cores, thread_stats */
TEST(moves_are_counted)
{
	struct thread_counts before = own_counts();
	struct cluster_info info;
	unsigned moves = 0;

	kcluster_info(&info);
	for (int i = 0; i < 3 * (int)info.cores; i++) {
		int to = i % (int)info.cores, from = kt_own_core();

		if (kthread_cores((int)kthread_self(), to, 1) != 0)
			continue;
		while (kt_own_core() != to)
			continue;
		moves += to != from;
	}
	expect_eq(own_counts().moves - before.moves, moves);
}

/* What a handle that somebody else might have looks like: kernel/object/handle.h. */
#define PLACES 32
#define GENERATIONS 64
#define GUESS(n) ((int)(((n) / PLACES + 1) << 16 | (n) % PLACES << 4))

/* What a process makes that has been asked for is counted from its start: its call, to sleep. */
TEST(processes_of_a_counted_process_are_counted)
{
	long proc;

	sum_of(SELF);
	proc = kt_spawn(NAPS, 0, ANY_CORE);
	while (sum_of(proc).calls == 0)
		kthread_sleep(WAKE_ANY, kt_now() + MS);
	expect_eq(kproc_kill((int)proc, 9), 0);
	expect_eq(kt_wait(proc, NULL), 9);
}

/* A child has a handle of its thread, and of no process: its maker cannot be asked for. */
static int
ask_about_others(void)
{
	struct thread_counts c;
	int self = (int)kthread_self(), told = 0;

	for (unsigned n = 0; n < PLACES * GENERATIONS; n++) {
		long e = kthread_stats(GUESS(n), 0, &c);

		if (e >= 0)
			told += GUESS(n) == self && c.pages == 0 ? 1 : 1000;
		else if (e != -E_BADF)
			told += 1000;
	}
	return told;
}

/* test: thread_stats */
TEST(nobody_is_told_without_a_handle)
{
	struct thread_counts c;
	long proc = kt_spawn(NAPS, 0, ANY_CORE), weak;
	uint32_t cause;

	expect_eq(kt_wait(kt_spawn(ASKS_ABOUT_OTHERS, 0, ANY_CORE), NULL), 1);
	weak = khandle_duplicate((int)proc, SELF, RIGHT_WAIT);
	expect(weak > 0);
	expect_eq(kthread_stats((int)weak, 0, &c), -E_ACCES);
	khandle_close((int)weak);
	expect_eq(process_counts((int)proc, &c), 0);
	expect_eq(kproc_kill((int)proc, 9), 0);
	expect_eq(kt_end_of(proc, &cause), 9);
	expect_eq(kthread_stats((int)proc, 0, &c), -E_SRCH);
	khandle_close((int)proc);
	expect_eq(kthread_stats((int)proc, 0, &c), -E_BADF);
}

/* test: thread_stats */
TEST(wrong_places_are_refused_or_empty)
{
	struct thread_counts c;
	void *bad;

	while ((bad = kt_bad_place(sizeof(c))) != NULL)
		expect_eq(kthread_stats(SELF, 0, bad), -E_FAULT);
	expect_eq(kthread_stats(SELF, UINT32_MAX, &c), 0);
	expect_eq(c.calls + c.threads + c.switches, 0);
	expect_eq(kthread_stats(SELF - 1, 0, &c), -E_BADF);
	expect_eq(kthread_stats(INT32_MAX, 0, &c), -E_BADF);
}

#define MANY 20

static unsigned long
naps(unsigned long bit)
{
	kvoid_remote();
	kthread_sleep(1u << bit, FOREVER);
	return bit;
}

/* In as many messages as that takes. */
TEST(a_process_of_many_threads_is_counted_whole)
{
	struct thread_counts before = sum_of(SELF);
	long tid[MANY];

	for (unsigned i = 0; i < MANY; i++)
		tid[i] = kt_waiter(naps, 1);
	expect_eq(sum_of(SELF).threads - before.threads, MANY);
	expect(sum_of(SELF).calls - before.calls >= 2 * MANY);
	for (unsigned i = 0; i < MANY; i++) {
		kthread_wakeup((int)tid[i], 1u << 1);
		expect_eq(kt_join(tid[i]), 1);
	}
	expect_eq(sum_of(SELF).threads, before.threads);
	expect_eq(sum_of(SELF).ended - before.ended, MANY);
}

int
server_main(int argc, char **argv)
{
	unsigned long arg = (unsigned long)atoll_startup()->shared;

	(void)argc;
	(void)argv;
	switch (atoll_startup()->job) {
	case CALLS_AND_ENDS: return call_and_end(arg);
	case ASKS_ABOUT_OTHERS: return ask_about_others();
	case NAPS: return (int)kthread_sleep(1, FOREVER);
	default: break;
	}
	RUN(each_call_to_the_kernel_core_is_counted_once);
	RUN(a_process_has_what_its_ended_threads_have_done);
	RUN(time_of_ended_threads_stays_with_their_process);
	RUN(turns_of_others_are_counted);
	RUN(moves_are_counted);
	RUN(processes_of_a_counted_process_are_counted);
	RUN(nobody_is_told_without_a_handle);
	RUN(wrong_places_are_refused_or_empty);
	RUN(a_process_of_many_threads_is_counted_whole);
	kt_end();
}
