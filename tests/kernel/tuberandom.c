/* SPDX-License-Identifier: MIT
 *
 * Semaphores and tubes of user level between threads that draw what they do: hand a token on, take
 * whichever of several semaphores is up, send and receive by whichever of several tubes, for ever,
 * for a while or without waiting. Naive counters and lists say what may come: nobody downs what
 * was not upped, each message comes once and whole, and what one sender has sent by a tube comes in
 * order to whoever receives.
 *
 * The archive's etc/args says how many operations and from which seed: `CALLS SEED` (SEED=n CALLS=n
 * ICOUNT=1 python3 tests/kernel/boot.py riscv64 tuberandom runs the same again).
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 */
#include <atoll/sem.h>
#include <atoll/tube.h>
#include <base/str.h>
#include <tests/kernel/ktest.h>

#define BYTES 32768
#define CALLS 10000
#define THREADS 5
#define SEMS 3
#define TUBES 2
#define SENDERS 2
#define LONGEST 64
#define US 1000ull

struct letter {
	uint32_t from, number;
	uint32_t text[LONGEST / 4 - 2];
};

static _Alignas(64) unsigned char memory[BYTES];
static struct segment here;
static struct sem sem[SEMS];
static struct tube tube[TUBES];
static uint32_t seed = 1, rounds;	/* of each thread */
static int up[SEMS];			/* more ups than downs have begun, or ended */
static uint32_t bytes;			/* of a message */
static uint32_t got[SENDERS], sum[SENDERS];
static uint32_t wrong;

static void
check(bool right)
{
	if (!right)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static uint32_t
draw(uint32_t *state, uint32_t below)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 16) % below;
}

static uint64_t
soon(uint64_t ns)
{
	uint64_t now = 0;

	kclock(&now);
	return now + ns;
}

static uint64_t
some_time(uint32_t *state)
{
	uint32_t n = draw(state, 8);

	return n > 1 ? FOREVER : n == 0 ? 0 : soon(draw(state, 50) * US);
}

static bool
is_late(int e)
{
	return e == -E_TIMEDOUT || e == -E_AGAIN;
}

/* The token is at one semaphore or in somebody's hands. Who waits for good waits for all. */
static unsigned long
takes_any(unsigned long me)
{
	uint32_t state = seed * 977 + (uint32_t)me;

	for (uint32_t i = 0; i < rounds;) {
		const struct sem *set[] = {&sem[0], &sem[1], &sem[2]};
		uint64_t until = some_time(&state);
		uint32_t to = draw(&state, SEMS);
		int k;

		if (until != FOREVER && draw(&state, 2))
			k = downsem(&sem[to], until) == 0 ? (int)to : -E_AGAIN;
		else
			k = altsems(set, SEMS, until);
		check(k >= 0 || (until != FOREVER && is_late(k)));
		if (k < 0)
			continue;
		i++;
		check(__atomic_fetch_sub(&up[k], 1, __ATOMIC_SEQ_CST) > 0);
		if (draw(&state, 4) == 0)
			kthread_yield();
		__atomic_fetch_add(&up[to], 1, __ATOMIC_SEQ_CST);
		check(upsem(&sem[to]) == 0);
	}
	return 0;
}

static void
fill(struct letter *l, uint32_t from, uint32_t number)
{
	l->from = from;
	l->number = number;
	for (uint32_t i = 0; i < LONGEST / 4 - 2; i++)
		l->text[i] = from * 1000003 + number * 31 + i;
}

static void
sends(uint32_t me, uint32_t *state)
{
	struct letter l;

	for (uint32_t n = 0; n < rounds;) {
		struct talt a[] = {{&tube[0], &l, TALT_SEND, NULL},
			{&tube[1], &l, TALT_SEND, NULL}};
		uint64_t until = some_time(state);
		int e;

		fill(&l, me, n);
		e = draw(state, 2) ? talt(a, TUBES, until) : tsend(&tube[draw(state, TUBES)], &l,
			until);
		check(e >= 0 || (until != FOREVER && is_late(e)));
		n += e >= 0;
	}
}

/* By one tube what a sender has sent comes in order. */
static void
take_letter(const struct letter *l, uint32_t *next)
{
	struct letter right;

	check(l->from < SENDERS && l->number < rounds);
	if (l->from >= SENDERS)
		return;
	fill(&right, l->from, l->number);
	check(memcmp(&right, l, bytes) == 0 && l->number >= next[l->from]);
	next[l->from] = l->number + 1;
	__atomic_fetch_add(&sum[l->from], l->number, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&got[l->from], 1, __ATOMIC_SEQ_CST);
}

static void
receives(uint32_t *state)
{
	uint32_t next[TUBES][SENDERS] = {{0}};
	struct letter l;
	int e = 0;

	while (e != -E_PIPE) {
		struct talt a[] = {{&tube[0], &l, TALT_RECEIVE, NULL},
			{&tube[1], &l, TALT_RECEIVE, NULL}};
		uint64_t until = some_time(state);
		uint32_t t = draw(state, TUBES);

		if (until != FOREVER && draw(state, 2))
			e = treceive(&tube[t], &l, until) == 0 ? (int)t : -E_AGAIN;
		else
			e = talt(a, TUBES, until);
		if (e >= 0)
			take_letter(&l, next[e]);
		else
			check(e == -E_PIPE || (until != FOREVER && is_late(e)));
	}
}

static unsigned long
sends_or_receives(unsigned long me)
{
	uint32_t state = seed * 1009 + (uint32_t)me;

	if (me < SENDERS)
		sends((uint32_t)me, &state);
	else
		receives(&state);
	return 0;
}

TEST(tokens_go_round)
{
	uint32_t left = 0;
	long tid[THREADS];

	for (int i = 0; i < SEMS; i++)
		expect_eq(newsem(&here, &sem[i], NULL, i < 2), 0);
	up[0] = up[1] = 1;
	for (unsigned i = 0; i < THREADS; i++)
		tid[i] = kt_thread(takes_any, i, ANY_CORE);
	for (unsigned i = 0; i < THREADS; i++)
		expect_eq(kt_join(tid[i]), 0);
	for (int i = 0; i < SEMS; i++) {
		expect_eq(semvalue(&sem[i]), up[i]);
		left += semvalue(&sem[i]);
		expect_eq(freesem(&sem[i]), 0);
	}
	expect_eq(left, 2);
	expect_eq(wrong, 0);
}

TEST(messages_come_once_and_whole)
{
	long tid[THREADS];

	bytes = seed % 2 ? LONGEST : LONGEST - 12;
	for (uint32_t i = 0; i < TUBES; i++)
		expect_eq(newtube(&here, &tube[i], NULL, bytes, 1 + i * (seed % 5)), 0);
	for (unsigned i = 0; i < THREADS; i++)
		tid[i] = kt_thread(sends_or_receives, i, ANY_CORE);
	for (unsigned i = 0; i < SENDERS; i++)
		expect_eq(kt_join(tid[i]), 0);
	/*
	 * What a receiver has been woken for is his, unless the tube ends before he runs; this
	 * thread may share a core with him, and has a higher priority.
	 */
	while (__atomic_load_n(&got[0], __ATOMIC_SEQ_CST) < rounds ||
		__atomic_load_n(&got[1], __ATOMIC_SEQ_CST) < rounds)
		kthread_sleep(1, soon(50 * US));
	for (int i = 0; i < TUBES; i++)
		expect_eq(endtube(&tube[i]), 0);
	for (unsigned i = SENDERS; i < THREADS; i++)
		expect_eq(kt_join(tid[i]), 0);
	for (unsigned i = 0; i < SENDERS; i++) {
		expect_eq(got[i], rounds);
		expect_eq(sum[i], (uint32_t)((uint64_t)rounds * (rounds - 1) / 2));
	}
	for (int i = 0; i < TUBES; i++)
		expect_eq(freetube(&tube[i]), 0);
	expect_eq(wrong, 0);
}

int
server_main(int argc, char **argv)
{
	uint32_t calls = CALLS;

	(void)argc;
	(void)argv;
	kt_arguments(&calls, &seed);
	rounds = calls / THREADS;
	expect_eq(segment_begin(&here, memory, sizeof(memory), 0), 0);
	here.looks = 5;
	RUN(tokens_go_round);
	rounds = calls / SENDERS;
	RUN(messages_come_once_and_whole);
	kt_end();
}
