/* SPDX-License-Identifier: MIT
 *
 * Waiting on words, placement, replaced register contexts, and bad arguments of the thread calls.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 * machine: 1 3 KC 2
 */
#include <base/str.h>
#include <tests/kernel/ktest.h>

#define STACK (16 * 1024)

static uint32_t lock, counter, turn;
static int inside;
static uint64_t landed;

static unsigned long
locker(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++) {
		uint32_t was = 0;

		if (!__atomic_compare_exchange_n(&lock, &was, 1, false, __ATOMIC_ACQ_REL,
			__ATOMIC_ACQUIRE))
			while (__atomic_exchange_n(&lock, 2, __ATOMIC_ACQ_REL) != 0)
				kfutex_wait((unsigned long)&lock, 2, FOREVER);
		inside++;
		if (inside != 1)
			return 0;
		counter++;
		if (i % 8 == 0)
			kthread_yield();
		inside--;
		if (__atomic_exchange_n(&lock, 0, __ATOMIC_ACQ_REL) == 2)
			kfutex_wake((unsigned long)&lock, 1);
	}
	return rounds;
}

/* test: futex_wait, futex_wake */
TEST(a_lock_on_a_futex_loses_nobody)
{
	long tid[8];

	for (int i = 0; i < 8; i++)
		tid[i] = kt_thread(locker, 300, ANY_CORE);
	for (int i = 0; i < 8; i++)
		expect_eq(kt_join(tid[i]), 300);
	expect_eq(counter, 2400);
}

static unsigned long
player(unsigned long me)
{
	uint32_t now;

	for (int round = 0; round < 50; round++) {
		while ((now = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) % 4 != me)
			kfutex_wait((unsigned long)&turn, now, FOREVER);
		__atomic_store_n(&turn, now + 1, __ATOMIC_RELEASE);
		kfutex_wake((unsigned long)&turn, 100);
	}
	return me;
}

TEST(a_turn_goes_round)
{
	long tid[4];

	for (unsigned long i = 0; i < 4; i++)
		tid[i] = kt_thread(player, i, ANY_CORE);
	for (int i = 0; i < 4; i++)
		expect_eq(kt_join(tid[i]), i);
	expect_eq(turn, 200);
}

TEST(futex_refuses_nonsense)
{
	expect_eq(kfutex_wait((unsigned long)&turn, turn + 1, FOREVER), -E_AGAIN);
	expect_eq(kfutex_wait((unsigned long)&turn + 2, 0, FOREVER), -E_INVAL);
	expect_eq(kfutex_wait(64, 0, FOREVER), -E_FAULT);
	expect_eq(kfutex_wake((unsigned long)&turn + 2, 1), -E_INVAL);
	expect_eq(kfutex_wake((unsigned long)&turn, -1), -E_INVAL);
	expect_eq(kfutex_wake((unsigned long)&turn, 1), 0);
}

static void
landing(uintptr_t arg)
{
	landed = arg;
	for (;;)
		kthread_exit(arg + 1);
}

static uint64_t jump_stack[512];

static unsigned long
jumper(unsigned long arg)
{
	struct context ctx;

	context_init(&ctx, (uintptr_t)landing, ((uintptr_t)&jump_stack[512] & ~(uintptr_t)15) - 8,
		arg, 0);
	kcontext_set(&ctx);
	return 0;
}

/* test: context_set */
TEST(a_thread_goes_on_with_another_context)
{
	struct context bad;

	expect_eq(kt_join(kt_thread(jumper, 77, ANY_CORE)), 78);
	expect_eq(landed, 77);
	expect_eq(kcontext_set((void *)8), -E_FAULT);
	memset(&bad, 0xff, sizeof(bad));
	expect_eq(kcontext_set(&bad), -E_INVAL);
	expect_eq(kthread_create(&bad, ANY_CORE), -E_INVAL);
}

TEST(bad_pointers_are_faults)
{
	struct context ctx;

	expect_eq(kthread_create((void *)16, ANY_CORE), -E_FAULT);
	expect_eq(kthread_join(1, (void *)16, FOREVER), -E_FAULT);
	context_init(&ctx, (uintptr_t)landing, (uintptr_t)&jump_stack[510], 0, 0);
	expect_eq(kthread_create(&ctx, 99), -E_INVAL);
	expect_eq(kthread_create(&ctx, -7), -E_INVAL);
	expect_eq(kproc_start(77, &ctx, ANY_CORE), -E_BADF);
	expect_eq(kproc_start(SELF, (void *)16, ANY_CORE), -E_FAULT);
}

static unsigned long
nothing(unsigned long arg)
{
	return arg;
}

static void
give(uintptr_t value)
{
	for (;;)
		kthread_exit(value);
}

/* Whether the thread has ended already or not. */
TEST(a_value_is_not_lost_to_a_bad_address)
{
	static uint64_t stack[512];
	struct context ctx;
	void *bad;

	for (unsigned long i = 0; i < 20; i++) {
		long tid;

		context_init(&ctx, (uintptr_t)give, (uintptr_t)&stack[500] & ~(uintptr_t)15, i, 0);
		tid = kthread_create(&ctx, ANY_CORE);
		if (i % 2)
			kt_pause(100);
		while ((bad = kt_bad_place(sizeof(uint64_t))) != NULL)
			expect_eq(kthread_join((int)tid, bad, FOREVER), -E_FAULT);
		expect_eq(kt_join(tid), (long)i);
	}
}

TEST(a_full_thread_table_is_an_error)
{
	uint64_t before = kt_stats(STATS_THREADS);
	static long tid[5000];
	uint64_t value;
	int n = 0;
	long e;

	while (n < 5000 && (e = kt_thread(nothing, (unsigned long)n, ANY_CORE)) > 0)
		tid[n++] = e;
	expect(e == -E_NOSPC || e == -E_NOMEM || n == 5000);
	for (int i = 0; i < n; i++)
		if (kthread_join((int)tid[i], &value, FOREVER) != 0 || value != (uint64_t)i)
			expect_eq(value, i);
	expect_eq(kt_stats(STATS_THREADS), before);
}

#define PLACED 30

static long placed[PLACED];
static uint32_t place_of[PLACED];

static unsigned long
stay(unsigned long i)
{
	__atomic_store_n(&place_of[i], (uint32_t)kt_own_core() + 1, __ATOMIC_RELEASE);
	kthread_sleep(WAKE_ANY, FOREVER);
	return i;
}

static void
place(unsigned long i)
{
	place_of[i] = 0;
	placed[i] = kt_thread(stay, i, ANY_CORE);
	while (placed[i] > 0 && __atomic_load_n(&place_of[i], __ATOMIC_ACQUIRE) == 0)
		kthread_yield();
}

/* How many more threads the fullest application core has than the emptiest; this thread counts. */
static uint32_t
unevenness(void)
{
	struct cluster_info info;
	uint32_t most = 0, fewest = UINT32_MAX;

	kcluster_info(&info);
	for (uint32_t core = info.cores > 1; core < info.cores; core++) {
		uint32_t n = core == info.core;

		for (int i = 0; i < PLACED; i++)
			n += place_of[i] == core + 1;
		most = n > most ? n : most;
		fewest = n < fewest ? n : fewest;
	}
	return most - fewest;
}

TEST(threads_go_where_the_fewest_are)
{
	for (unsigned long i = 0; i < PLACED; i++)
		place(i);
	expect(unevenness() <= 1);
	for (uint32_t round = 0; round < 3; round++) {
		uint32_t emptied = place_of[round];

		for (int i = 0; i < PLACED; i++)
			if (place_of[i] == emptied) {
				kthread_wakeup((int)placed[i], 1);
				expect_eq(kt_join(placed[i]), i);
				place_of[i] = 0;
			}
		for (unsigned long i = 0; i < PLACED; i++)
			if (place_of[i] == 0)
				place(i);
		expect(unevenness() <= 1);
	}
	for (int i = 0; i < PLACED; i++) {
		kthread_wakeup((int)placed[i], 1);
		expect_eq(kt_join(placed[i]), i);
	}
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	RUN(a_lock_on_a_futex_loses_nobody);
	RUN(a_turn_goes_round);
	RUN(futex_refuses_nonsense);
	RUN(a_thread_goes_on_with_another_context);
	RUN(bad_pointers_are_faults);
	RUN(a_value_is_not_lost_to_a_bad_address);
	RUN(threads_go_where_the_fewest_are);
	RUN(a_full_thread_table_is_an_error);
	kt_end();
}
