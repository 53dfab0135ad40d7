/* SPDX-License-Identifier: MIT
 *
 * Threads of the real kernel under the coroutine scheduler: storms of create and join, sleep and
 * wake-up, a futex lock and a futex turn, handles of threads that have ended while others begin.
 * Nothing is lost, every value comes once, and at the end nothing is left.
 *
 * usage: kernel_threads [COUNT [FIRST]]
 */
#include <stdio.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/limits.abi.h>
#include <context.h>
#include <tests/coroutine/program.h>

#define THREADS 12
#define STACK_BYTES (32 * 1024)

static struct {
	_Alignas(64) unsigned char stack[THREADS][STACK_BYTES];
	uint32_t lock;
	uint32_t turn;
	uint64_t value;
	struct context ctx;
} shared;

static struct {
	unsigned counter;
	unsigned inside;
	int sleeper;
	unsigned wakes;
	bool asleep;
	unsigned step;
} run;

static uint32_t
load(uint32_t *p)
{
	coro_user_point();
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static long
start(unsigned slot, void (*fn)(uintptr_t arg), uintptr_t arg, int core)
{
	long tid;

	coro_user_context(&shared.ctx, fn, shared.stack[slot] + STACK_BYTES, arg);
	tid = KC(KC_THREAD_CREATE, &shared.ctx, core);
	coro_check(tid > 0);
	return tid;
}

static long
join(long tid)
{
	long e = KC(KC_THREAD_JOIN, tid, &shared.value, FOREVER);

	coro_check(e == 0);
	return (long)shared.value;
}

static void
worker(uintptr_t arg)
{
	run.step++;
	for (unsigned i = coro_random(4); i > 0; i--)
		KC(KC_THREAD_YIELD);
	coro_check(KC(KC_VOID_REMOTE) == 0);
	KC(KC_THREAD_EXIT, arg * 3);
}

static void
storm(void)
{
	long tid[THREADS];

	run.step = 100;
	for (unsigned i = 0; i < THREADS; i++)
		tid[i] = start(i, worker, i, coro_random(3) ? ANY_CORE : program_first_core);
	for (unsigned n = 0; n < THREADS; n++) {
		unsigned i = (n * 5 + 3) % THREADS;	/* another order than that of the ends */

		coro_check(join(tid[i]) == (long)i * 3);
		coro_check(KC(KC_THREAD_JOIN, tid[i], &shared.value, FOREVER) == -E_BADF);
	}
}

/* A lock as user libraries have it: 0 free, 1 taken, 2 taken and somebody waits. */
static void
locker(uintptr_t rounds)
{
	for (uintptr_t i = 0; i < rounds; i++) {
		uint32_t was = 0;

		coro_user_point();
		if (!__atomic_compare_exchange_n(&shared.lock, &was, 1, false, __ATOMIC_ACQ_REL,
			__ATOMIC_ACQUIRE)) {
			coro_user_point();
			while (__atomic_exchange_n(&shared.lock, 2, __ATOMIC_ACQ_REL) != 0) {
				long e = KC(KC_FUTEX_WAIT, &shared.lock, 2, FOREVER);

				coro_check(e == 0 || e == -E_AGAIN);
			}
		}
		coro_check(run.inside++ == 0);
		KC(KC_THREAD_YIELD);
		run.counter++;
		coro_check(run.inside-- == 1);
		coro_user_point();
		if (__atomic_exchange_n(&shared.lock, 0, __ATOMIC_ACQ_REL) == 2)
			coro_check(KC(KC_FUTEX_WAKE, &shared.lock, 1) >= 0);
	}
	KC(KC_THREAD_EXIT, rounds);
}

static void
lock_test(void)
{
	long tid[5];

	run.step = 200;
	shared.lock = 0;
	for (unsigned i = 0; i < 5; i++)
		tid[i] = start(i, locker, 3, i == 0 ? program_first_core : ANY_CORE);
	for (unsigned i = 0; i < 5; i++)
		coro_check(join(tid[i]) == 3);
	coro_check(run.counter == 15 && shared.lock == 0);
}

/* Whose turn it is goes round; everybody sleeps until it comes. */
static void
player(uintptr_t me)
{
	for (unsigned round = 0; round < 3; round++) {
		uint32_t now;

		while ((now = load(&shared.turn)) % 3 != me) {
			long e = KC(KC_FUTEX_WAIT, &shared.turn, now, FOREVER);

			coro_check(e == 0 || e == -E_AGAIN);
		}
		__atomic_store_n(&shared.turn, now + 1, __ATOMIC_RELEASE);
		coro_check(KC(KC_FUTEX_WAKE, &shared.turn, 100) >= 0);
	}
	KC(KC_THREAD_EXIT, me);
}

static void
turn_test(void)
{
	long tid[3];

	run.step = 300;
	shared.turn = 0;
	for (unsigned i = 0; i < 3; i++)
		tid[i] = start(i, player, i, i == 0 ? program_first_core : ANY_CORE);
	for (unsigned i = 0; i < 3; i++)
		coro_check(join(tid[i]) == (long)i);
	coro_check(shared.turn == 9);
}

static void
waker(uintptr_t times)
{
	while (run.wakes < times) {
		run.wakes++;
		coro_check(KC(KC_THREAD_WAKEUP, run.sleeper, 1) == 0);
		while (__atomic_load_n(&shared.turn, __ATOMIC_ACQUIRE) != run.wakes)
			KC(KC_THREAD_YIELD);
	}
	KC(KC_THREAD_EXIT, times);
}

static void
sleep_test(void)
{
	long tid;

	run.step = 400;
	shared.turn = 0;
	run.sleeper = (int)KC(KC_THREAD_SELF);
	coro_check(KC(KC_THREAD_WAKEUP, run.sleeper, 1) == 0);
	coro_check(KC(KC_THREAD_SLEEP, WAKE_ANY, FOREVER) == 1);
	tid = start(0, waker, 6, program_first_core);
	for (uint32_t i = 1; i <= 6; i++) {
		coro_check(KC(KC_THREAD_SLEEP, WAKE_ANY, FOREVER) == 1);
		coro_check(run.wakes == i);
		__atomic_store_n(&shared.turn, i, __ATOMIC_RELEASE);
	}
	coro_check(join(tid) == 6);
}

static void
sleeper(uintptr_t arg)
{
	long bits = KC(KC_THREAD_SLEEP, WAKE_ANY, FOREVER);

	KC(KC_THREAD_EXIT, arg + (uintptr_t)bits);
}

/* A handle of a thread that is over names none of those that begin after it. */
static void
stale_test(void)
{
	long copy[THREADS], tid[THREADS];

	run.step = 500;
	for (unsigned i = 0; i < THREADS; i++) {
		long own = start(i, worker, i, ANY_CORE);

		copy[i] = KC(KC_HANDLE_DUPLICATE, own, SELF, RIGHTS_ALL);
		coro_check(copy[i] > 0 && join(own) == (long)i * 3);
		tid[i] = start(i, sleeper, i * 10, ANY_CORE);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		coro_check(KC(KC_THREAD_WAKEUP, copy[i], 4) == -E_SRCH);
		coro_check(KC(KC_EVENT_BIND, EVENT_THREAD, copy[i], 3) == -E_SRCH);
		coro_check(KC(KC_THREAD_JOIN, copy[i], &shared.value, FOREVER) == -E_SRCH);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		coro_check(KC(KC_HANDLE_CLOSE, copy[i]) == 0);
		coro_check(KC(KC_THREAD_WAKEUP, tid[i], 2) == 0);
		coro_check(join(tid[i]) == (long)i * 10 + 2);
	}
}

/* The most handles that a test of this program has at once have places in the table. */
static void
grow_table(void)
{
	long copy[2 * THREADS], own = KC(KC_THREAD_SELF);

	for (unsigned i = 0; i < 2 * THREADS; i++)
		copy[i] = KC(KC_HANDLE_DUPLICATE, own, SELF, RIGHTS_ALL);
	for (unsigned i = 0; i < 2 * THREADS; i++)
		coro_check(KC(KC_HANDLE_CLOSE, copy[i]) == 0);
}

static void
program(uintptr_t arg)
{
	static const int same[] = {STATS_THREADS, STATS_FRAMES_FREE, STATS_PIECE_PAGES};
	uint64_t before[3];

	(void)arg;
	grow_table();
	for (int i = 0; i < 3; i++)
		before[i] = program_stats(same[i]);
	storm();
	lock_test();
	turn_test();
	sleep_test();
	stale_test();
	for (int i = 0; i < 3; i++)
		coro_check(program_stats(same[i]) == before[i]);
	coro_finish(0);
}

static void
dump(void)
{
	printf("step %u counter %u inside %u lock %u turn %u wakes %u\n", run.step, run.counter,
		run.inside, shared.lock, shared.turn, run.wakes);
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {.name = "nothing_is_lost_among_threads",
		.seeds = 2000, .shared = &shared, .shared_bytes = sizeof(shared), .main = program,
		.state = &run, .state_bytes = sizeof(run), .dump = dump};

	return program_main(&test, argc, argv);
}
