/* SPDX-License-Identifier: MIT
 *
 * User threads: many on one kernel thread take turns by its alarm, wherever they are, with all
 * their registers; they end, are joined, and have data of their own that is destroyed with them.
 * Several kernel threads have such sets at once. On or1k they take turns in their calls only.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 */
#include <base/str.h>
#include <atoll/uthread.h>
#include <tests/kernel/ktest.h>
#include <usercpu/uthread.h>

#define BIT 7
#define QUANTUM 1000000ull
#define MANY 6
#define ROUNDS 20
#define SETS 2

struct work {
	struct uthread *thread;
	unsigned number;
	volatile uint32_t turns;
	uint32_t wrong;
};

struct set {
	struct work work[MANY];
	uint32_t order[4 * MANY];
	unsigned ordered;
	uint32_t stopped;
	uint32_t wrong;
};

static struct set set_of[SETS];

static struct set *
own_set(const struct work *w)
{
	return &set_of[w->number / MANY];
}

/* How many turns those of a set have computed at least. Each count is read once: it may grow. */
static uint32_t
least_turns(const struct set *s)
{
	uint32_t least = ROUNDS;

	for (unsigned i = 0; i < MANY; i++) {
		uint32_t turns = s->work[i].turns;

		if (turns < least)
			least = turns;
	}
	return least;
}

/* Computes until all of its set have: that takes turns. */
static void
computes(void *arg)
{
	struct work *w = arg;
	struct set *s = own_set(w);
	uint32_t want = kt_compute(w->number, 300);

	do {
		w->wrong += kt_compute(w->number, 300) != want;
		w->wrong += uthread_self() != w->thread;
		w->turns++;
		if (!UTHREAD_STOPS)
			uthread_yield();
	} while (least_turns(s) < ROUNDS);
}

static void
starts_many(void *arg)
{
	struct set *s = arg;

	for (unsigned i = 0; i < MANY; i++) {
		struct work *w = &s->work[i];

		w->number = (unsigned)(s - set_of) * MANY + i;
		s->wrong += uthread_start(computes, w, &w->thread) != 0;
	}
	for (unsigned i = 0; i < MANY; i++)
		s->wrong += uthread_join(s->work[i].thread) != 0;
	s->stopped = uthreads_stopped();
}

static void
expect_done(const struct set *s)
{
	expect_eq(s->wrong, 0);
	for (unsigned i = 0; i < MANY; i++) {
		expect_eq(s->work[i].wrong, 0);
		expect(s->work[i].turns >= ROUNDS);
	}
	expect(!UTHREAD_STOPS || s->stopped > 0);
}

TEST(threads_that_never_give_up_take_turns_by_the_alarm)
{
	uint64_t frames = 0;

	for (unsigned i = 0; i < 3; i++) {
		memset(set_of, 0, sizeof(set_of));
		expect_eq(uthreads_run(starts_many, &set_of[0], MANY + 1, QUANTUM, BIT), 0);
		expect_done(&set_of[0]);
		if (i == 0)
			frames = kt_stats(STATS_FRAMES_FREE);
	}
	expect_eq(kt_stats(STATS_FRAMES_FREE), frames);
	/* the alarm and its bit are nobody's any more */
	expect_eq(kthread_sleep(1u << BIT, 1), -E_TIMEDOUT);
}

static unsigned long
runs_a_set(unsigned long i)
{
	return (unsigned long)uthreads_run(starts_many, &set_of[i], MANY + 1, QUANTUM, BIT);
}

TEST(several_kernel_threads_have_user_threads)
{
	int core = kt_other_core();
	long tid[SETS];

	memset(set_of, 0, sizeof(set_of));
	for (unsigned long i = 0; i < SETS; i++)
		tid[i] = kt_thread(runs_a_set, i, core >= 0 && i == 0 ? core : ANY_CORE);
	for (unsigned i = 0; i < SETS; i++)
		expect_eq(kt_join(tid[i]), 0);
	for (unsigned i = 0; i < SETS; i++)
		expect_done(&set_of[i]);
}

/* Without an alarm they run in the order in which they yield. */
static void
writes_order(void *arg)
{
	struct work *w = arg;
	struct set *s = own_set(w);

	for (unsigned i = 0; i < 3; i++) {
		s->order[s->ordered++] = w->number;
		uthread_yield();
	}
}

static void
starts_ordered(void *arg)
{
	struct set *s = arg;

	for (unsigned i = 0; i < MANY; i++) {
		s->work[i].number = i;
		s->wrong += uthread_start(writes_order, &s->work[i], &s->work[i].thread) != 0;
	}
	for (unsigned i = 0; i < MANY; i++)
		s->wrong += uthread_join(s->work[i].thread) != 0;
	s->stopped = uthreads_stopped();
}

TEST(threads_that_yield_take_turns_in_order)
{
	struct set *s = &set_of[0];

	memset(set_of, 0, sizeof(set_of));
	expect_eq(uthreads_run(starts_ordered, s, MANY + 1, 0, BIT), 0);
	expect_eq(s->ordered, 3 * MANY);
	for (unsigned i = 0; i < 3 * MANY; i++)
		expect_eq(s->order[i], i % MANY);
	expect_eq(s->wrong + s->stopped, 0);
}

/* --- ends and joins --- */

static struct uthread *main_thread;

static void
joins_main(void *arg)
{
	*(int *)arg = uthread_join(main_thread);
}

static void
ends(void *arg)
{
	(void)arg;
	uthread_exit();
}

static void
joins(void *arg)
{
	struct uthread *t[3];
	int *wrong = arg, other = 0;

	main_thread = uthread_self();
	*wrong += uthread_join(main_thread) != -E_DEADLK;
	/* it waits for us, so we may not wait for it */
	*wrong += uthread_start(joins_main, &other, &t[0]) != 0;
	uthread_yield();
	*wrong += uthread_join(t[0]) != -E_DEADLK;
	/* as many as there may be, and a place that is free again */
	*wrong += uthread_start(ends, NULL, &t[1]) != 0;
	*wrong += uthread_start(ends, NULL, &t[2]) != -E_NOSPC;
	*wrong += uthread_join(t[1]) != 0;
	*wrong += uthread_start(ends, NULL, &t[2]) != 0;
	*wrong += uthread_join(t[2]) != 0;
}

TEST(ends_are_waited_for_and_places_used_again)
{
	int wrong = 0;

	expect_eq(uthreads_run(joins, &wrong, 3, QUANTUM, BIT), 0);
	expect_eq(wrong, 0);
	expect_eq(uthreads_run(joins, &wrong, 0, QUANTUM, BIT), -E_INVAL);
	expect_eq(uthreads_run(joins, &wrong, 3, QUANTUM, -1), -E_INVAL);
	expect_eq(uthreads_run(joins, &wrong, 3, QUANTUM, WAKE_BITS), -E_INVAL);
	if (UTHREAD_STOPS)
		expect_eq(uthreads_run(joins, &wrong, 3, 1, BIT), -E_INVAL);
	expect_eq(uthreads_run(joins, &wrong, 4096, QUANTUM, BIT), -E_NOMEM);
}

/* --- data by keys --- */

static struct {
	int key[3];
	unsigned destroyed[MANY];
	unsigned again;
	unsigned wrong;
} data;

static void
destroy(void *value)
{
	data.destroyed[(uintptr_t)value - 1]++;
}

/* What a destroy function sets is destroyed, too. */
static void
destroy_and_set(void *value)
{
	data.again++;
	if ((uintptr_t)value == 1)
		uthread_key_set(data.key[1], (void *)2);
}

static void
has_data(void *arg)
{
	uintptr_t me = (uintptr_t)arg;

	data.wrong += uthread_key_get(data.key[0]) != NULL;
	uthread_key_set(data.key[0], (void *)(me + 1));
	if (me == 0)
		uthread_key_set(data.key[1], (void *)1);
	uthread_key_set(data.key[2], (void *)7);
	for (unsigned i = 0; i < 10; i++) {
		uthread_yield();
		data.wrong += uthread_key_get(data.key[0]) != (void *)(me + 1);
	}
}

static void
keys(void *arg)
{
	struct uthread *t[MANY];
	int more[UTHREAD_KEYS], n = 0;

	(void)arg;
	data.key[0] = uthread_key_create(destroy);
	data.key[1] = uthread_key_create(destroy_and_set);
	data.key[2] = uthread_key_create(destroy);
	data.wrong += data.key[0] < 0 || data.key[1] < 0 || data.key[2] < 0;
	for (uintptr_t i = 0; i < MANY; i++)
		data.wrong += uthread_start(has_data, (void *)i, &t[i]) != 0;
	uthread_yield();
	uthread_key_delete(data.key[2]);
	for (unsigned i = 0; i < MANY; i++)
		data.wrong += uthread_join(t[i]) != 0;
	while (n < UTHREAD_KEYS && (more[n] = uthread_key_create(NULL)) >= 0)
		n++;
	data.wrong += n != UTHREAD_KEYS - 2;
	/* a key that is used again begins with NULL */
	data.wrong += uthread_key_get(more[0]) != NULL;
}

TEST(each_thread_has_data_of_its_own_that_ends_with_it)
{
	memset(&data, 0, sizeof(data));
	expect_eq(uthreads_run(keys, NULL, MANY + 1, QUANTUM, BIT), 0);
	expect_eq(data.wrong, 0);
	for (unsigned i = 0; i < MANY; i++)
		expect_eq(data.destroyed[i], 1);
	expect_eq(data.again, 2);
}

/* --- kernel calls --- */

static uint32_t word;

static void
calls(void *arg)
{
	unsigned *wrong = arg;

	for (unsigned i = 0; i < 200; i++) {
		*wrong += kvoid_remote() != 0;
		*wrong += kthread_self() <= 0;
		*wrong += kfutex_wait((unsigned long)&word, 1, FOREVER) != -E_AGAIN;
	}
}

static void
call_beside(void *arg)
{
	struct uthread *t[3];
	unsigned *wrong = arg;

	for (unsigned i = 0; i < 3; i++)
		*wrong += uthread_start(calls, arg, &t[i]) != 0;
	for (unsigned i = 0; i < 3; i++)
		*wrong += uthread_join(t[i]) != 0;
}

TEST(kernel_calls_of_user_threads_are_their_own)
{
	unsigned wrong = 0;

	expect_eq(uthreads_run(call_beside, &wrong, 4, ALARM_PERIOD_MIN, BIT), 0);
	expect_eq(wrong, 0);
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	RUN(threads_that_never_give_up_take_turns_by_the_alarm);
	RUN(several_kernel_threads_have_user_threads);
	RUN(threads_that_yield_take_turns_in_order);
	RUN(ends_are_waited_for_and_places_used_again);
	RUN(each_thread_has_data_of_its_own_that_ends_with_it);
	RUN(kernel_calls_of_user_threads_are_their_own);
	kt_end();
}
