/* SPDX-License-Identifier: MIT
 *
 * First light: the kernel boots init, threads run, wait and end, the machine halts.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 * machine: 1 3 KC 2
 */
#include <tests/kernel/ktest.h>

static volatile uint32_t word;
static int sleeper;

/* test: thread_self */
TEST(a_thread_knows_its_handle)
{
	expect_eq(kthread_self(), atoll_startup()->thread);
}

/* test: void_remote */
TEST(the_kernel_core_answers)
{
	uint64_t before = kt_stats(STATS_REMOTE_CALLS);

	for (int i = 0; i < 100; i++)
		expect_eq(kvoid_remote(), 0);
	expect(kt_stats(STATS_REMOTE_CALLS) >= before + 101);
}

static unsigned long
twice(unsigned long n)
{
	return 2 * n;
}

/* test: thread_create, thread_exit, thread_join */
TEST(a_thread_gives_its_value_once)
{
	uint64_t value;
	long tid = kt_thread(twice, 21, ANY_CORE);

	expect(tid > 0);
	expect_eq(kt_join(tid), 42);
	expect_eq(kthread_join((int)tid, &value, FOREVER), -E_BADF);
	expect_eq(kthread_join((int)kthread_self(), &value, FOREVER), -E_DEADLK);
	expect_eq(kthread_join(12345, &value, FOREVER), -E_BADF);
}

static unsigned long
yielder(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		kthread_yield();
	return n;
}

/* test: thread_yield */
TEST(more_threads_than_cores_take_turns)
{
	uint64_t before = kt_stats(STATS_THREADS);
	long tid[24];

	for (int i = 0; i < 24; i++)
		tid[i] = kt_thread(yielder, (unsigned long)i, ANY_CORE);
	for (int i = 0; i < 24; i++)
		expect_eq(kt_join(tid[i]), i);
	expect_eq(kt_stats(STATS_THREADS), before);
}

static unsigned long
wake_it(unsigned long times)
{
	for (unsigned long i = 0; i < times; i++) {
		/* a call that waits for home: under -icount the other cores run meanwhile */
		while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) != i)
			kvoid_remote();
		kthread_wakeup(sleeper, 1);
	}
	return times;
}

/* test: thread_sleep, thread_wakeup */
TEST(a_wake_up_is_remembered)
{
	long tid;

	sleeper = (int)kthread_self();
	expect_eq(kthread_wakeup(sleeper, 1), 0);
	expect_eq(kthread_sleep(WAKE_ANY, FOREVER), 1);
	__atomic_store_n(&word, 0, __ATOMIC_RELEASE);
	tid = kt_thread(wake_it, 200, ANY_CORE);
	for (unsigned i = 0; i < 200; i++) {
		expect_eq(kthread_sleep(WAKE_ANY, FOREVER), 1);
		__atomic_store_n(&word, i + 1, __ATOMIC_RELEASE);
	}
	expect_eq(kt_join(tid), 200);
	expect_eq(kthread_wakeup(99, 1), -E_BADF);
}

/* test: console_write */
TEST(console_refuses_what_is_too_long)
{
	static char text[600];

	expect_eq(kconsole_write(text, 513), -E_INVAL);
	expect_eq(kconsole_write((const char *)8, 5), -E_FAULT);
}

/* test: machine_halt */
int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	RUN(a_thread_knows_its_handle);
	RUN(the_kernel_core_answers);
	RUN(a_thread_gives_its_value_once);
	RUN(more_threads_than_cores_take_turns);
	RUN(a_wake_up_is_remembered);
	RUN(console_refuses_what_is_too_long);
	kt_end();
}
