/* SPDX-License-Identifier: MIT
 *
 * Unit tests of semaphores of user level: one thread against naive ones; threads under the thread
 * sanitizer, with a watch that looks whether anybody sleeps for what is there; what stands in the
 * memory is not believed.
 *
 * usage: sem_test [OPERATIONS]
 *
 * sanitize: thread address
 * libs: -lpthread
 * needs: base/str.c
 * gate: 30000
 */
#include <stdio.h>
#include <string.h>
#include <base/test.h>
#include <user/futex_test.h>
#include <user/segment.c>
#include <user/sem.c>

#define SEMS 6
#define THREADS 5
#define MANY 1000
#define STOP 1000000000

static _Alignas(64) unsigned char memory[64 << 10];
static struct segment here;
static unsigned long operations = 1000000;

static uint32_t
draw(uint32_t *state, uint32_t below)
{
	*state = *state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)*state * below >> 32);
}

static void
begin_segment(size_t bytes, int flags)
{
	memset(memory, 0, sizeof(memory));
	expect_eq(segment_begin(&here, memory, bytes, flags), 0);
}

/* --- one thread --- */

TEST(what_is_wrong_is_an_error)
{
	struct segment g;
	struct sem s, t;
	const struct sem *none[2] = {NULL, NULL};

	expect_eq(segment_begin(&g, memory, sizeof(memory), 2), -E_INVAL);
	expect_eq(segment_begin(&g, memory + 16, 4096, 0), -E_INVAL);
	expect_eq(segment_begin(&g, NULL, 4096, 0), -E_INVAL);
	expect_eq(segment_begin(&g, memory, 512, 0), -E_INVAL);
	expect_eq(segment_begin(&g, memory, SEGMENT_BYTES_MAX + 1ul, 0), -E_INVAL);
	begin_segment(4096, 0);
	expect_eq(newsem(&here, &s, "", 0), -E_INVAL);
	expect_eq(newsem(&here, &s, "a name that is much too long", 0), -E_INVAL);
	expect_eq(newsem(&here, &s, NULL, SEM_VALUE_MAX + 1), -E_INVAL);
	expect_eq(upsem(&s), -E_INVAL);
	expect_eq(downsem(&s, FOREVER), -E_INVAL);
	expect_eq(freesem(&s), -E_INVAL);
	expect_eq(altsems(none, 2, FOREVER), -E_INVAL);
	none[0] = &s;
	expect_eq(altsems(none, 2, FOREVER), -E_INVAL);
	expect_eq(altsems(none, 0, FOREVER), -E_INVAL);
	expect_eq(newsem(&here, &s, NULL, SEM_VALUE_MAX - 1), 0);
	expect_eq(upsem(&s), 0);
	expect_eq(upsem(&s), -E_NOSPC);
	expect_eq(downsem(&s, 0), 0);
	expect_eq(newsem(&here, &t, NULL, 0), 0);
	expect_eq(downsem(&t, 0), -E_AGAIN);
	expect_eq(downsem(&t, FAKE_WHILE), -E_TIMEDOUT);
	expect_eq(altsems((const struct sem *[]){&t, NULL}, 2, 0), -E_AGAIN);
	expect_eq(altsems((const struct sem *[]){&t, NULL}, 2, FAKE_WHILE), -E_TIMEDOUT);
	expect_eq(freesem(&s), 0);
	expect_eq(upsem(&s), -E_INVAL);
}

TEST(names_lead_to_one_semaphore)
{
	struct sem a, b, c;

	begin_segment(4096, 0);
	expect_eq(newsem(&here, &a, "one", 3), 0);
	expect_eq(newsem(&here, &b, "one", 0), 0);
	expect_eq(newsem(&here, &c, "two", 0), 0);
	expect_eq(downsem(&b, 0), 0);
	expect_eq(semvalue(&a), 2);
	expect_eq(freesem(&b), 0);
	expect_eq(upsem(&a), -E_PIPE);
	expect_eq(downsem(&a, FOREVER), -E_PIPE);
	expect_eq(altsems((const struct sem *[]){&c, &a}, 2, FOREVER), -E_PIPE);
	expect_eq(newsem(&here, &b, "one", 7), 0);
	expect_eq(semvalue(&b), 7);
	expect_eq(semvalue(&a), 0);
	expect_eq(freesem(&a), 0);
	expect_eq(freesem(&b), 0);
	expect_eq(freesem(&c), 0);
}

/* As many as there is room for, again and again: nothing is lost of the memory. */
TEST(memory_ends_and_comes_back)
{
	static struct sem s[MANY];
	int first = 0;

	begin_segment(16384, 0);
	for (int round = 0; round < 5; round++) {
		int n = 0;

		while (newsem(&here, &s[n], NULL, 1) == 0)
			n++;
		expect_eq(newsem(&here, &s[n], NULL, 1), -E_NOMEM);
		expect(n == first || first == 0);
		first = n;
		for (int i = 0; i < n; i++)
			expect_eq(freesem(&s[i * 7 % n]), s[i * 7 % n].at != NULL ? 0 : -E_INVAL);
		for (int i = 0; i < n; i++)
			freesem(&s[i]);
	}
	expect(first >= 60);
}

/* One that is ready is down, any of them, and each has its turn. */
TEST(altsems_takes_any_number_and_each_in_turn)
{
	static struct sem s[MANY];
	static const struct sem *set[MANY];
	unsigned last[5] = {0};
	int n = 0;

	begin_segment(sizeof(memory), 0);
	for (; n < 200; n++) {
		expect_eq(newsem(&here, &s[n], NULL, 0), 0);
		set[n] = &s[n];
	}
	for (int i = 0; i < n; i++) {
		upsem(&s[i]);
		expect_eq(altsems(set, n, FOREVER), i);
		expect_eq(altsems(set, n, 0), -E_AGAIN);
	}
	for (int i = 0; i < 5; i++)
		for (int k = 0; k < 1000; k++)
			upsem(&s[i]);
	for (unsigned now = 1; now < 500; now++) {
		int k = altsems(set, 5, 0);

		expect(k >= 0 && k < 5);
		last[k] = now;
		for (int i = 0; i < 5 && now > 15; i++)
			expect(now - last[i] <= 15);
		/* of another caller, whose turns lie between */
		expect(altsems(set, 3, 0) >= 0);
	}
}

TEST(one_thread_finds_what_naive_semaphores_have)
{
	unsigned naive[SEMS] = {0};
	struct sem s[SEMS];
	uint32_t state = 1;

	begin_segment(4096, 0);
	for (int i = 0; i < SEMS; i++)
		expect_eq(newsem(&here, &s[i], NULL, 0), 0);
	for (unsigned long n = 0; n < operations; n++) {
		uint32_t i = draw(&state, SEMS), k = draw(&state, SEMS);
		const struct sem *set[] = {&s[i], draw(&state, 2) ? NULL : &s[k]};
		int got;

		switch (draw(&state, 4)) {
		case 0:
		case 1:
			expect_eq(upsem(&s[i]), 0);
			naive[i]++;
			break;
		case 2:
			expect_eq(downsem(&s[i], 0), naive[i] > 0 ? 0 : -E_AGAIN);
			naive[i] -= naive[i] > 0;
			break;
		default:
			got = altsems(set, 2, 0);
			if (got >= 0)
				expect(naive[got == 0 ? i : k]-- > 0);
			else
				expect(naive[i] == 0 && (set[1] == NULL || naive[k] == 0));
		}
		expect_eq(semvalue(&s[i]), naive[i]);
	}
}

/* --- threads --- */

static struct sem sem[SEMS];
static int started[SEMS], finished[SEMS];	/* ups, downs */
static unsigned long done;
static bool stop;

/* What a thread waits for, while it does. */
static struct wish {
	uint32_t sems;			/* bitmap */
	uint32_t state;
} wish[THREADS];

static void
up(int i)
{
	__atomic_add_fetch(&started[i], 1, __ATOMIC_SEQ_CST);
	expect_eq(upsem(&sem[i]), 0);
}

static void
down_was(int i)
{
	int n = __atomic_add_fetch(&finished[i], 1, __ATOMIC_SEQ_CST);

	expect(n <= __atomic_load_n(&started[i], __ATOMIC_SEQ_CST));
}

static uint64_t
any_deadline(struct wish *w)
{
	uint32_t n = draw(&w->state, 8);

	return n == 0 ? 0 : n == 1 ? FAKE_WHILE : FOREVER;
}

static void
down_one(struct wish *w)
{
	const struct sem *set[SEMS];
	uint64_t until = any_deadline(w);
	int n = 0, which[SEMS], k;

	w->sems = draw(&w->state, 1u << SEMS);
	if (w->sems == 0)
		w->sems = 1;
	for (int i = 0; i < SEMS; i++) {
		if ((w->sems & 1u << i) == 0)
			continue;
		which[n] = i;
		set[n++] = &sem[i];
	}
	if (n == 1 || draw(&w->state, 3) == 0) {
		w->sems = 1u << which[0];
		k = downsem(set[0], until);
	} else {
		k = altsems(set, n, until);
	}
	expect(k >= 0 || (until == 0 && k == -E_AGAIN) ||
		(until == FAKE_WHILE && k == -E_TIMEDOUT));
	if (k >= 0)
		down_was(which[k]);
}

static void *
works(void *arg)
{
	struct wish *w = arg;

	while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) {
		down_one(w);
		up((int)draw(&w->state, SEMS));
		__atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

/*
 * All sleep, for ever: none of those for which anybody waits has a value. Such a one, or -1: they
 * do not.
 */
static int
stuck(unsigned threads, uint32_t n)
{
	int found = -1;

	pthread_mutex_lock(&fake_lock);
	if (fake_sleepers() == threads) {
		for (unsigned t = 0; t < threads; t++)
			for (int i = 0; i < SEMS; i++)
				if (wish[t].sems & 1u << i && semvalue(&sem[i]) != 0)
					expect(!"a thread sleeps for what is there");
		for (int i = 0; i < SEMS; i++)
			if (wish[n % threads].sems & 1u << i)
				found = i;
	}
	pthread_mutex_unlock(&fake_lock);
	return found;
}

static void
many_threads(unsigned threads, int flags)
{
	pthread_t thread[THREADS];
	unsigned long goal = operations;

	begin_segment(4096, flags);
	here.looks = 2;
	done = 0;
	stop = false;
	memset(started, 0, sizeof(started));
	memset(finished, 0, sizeof(finished));
	for (int i = 0; i < SEMS; i++)
		expect_eq(newsem(&here, &sem[i], NULL, 0), 0);
	for (unsigned t = 0; t < threads; t++) {
		wish[t] = (struct wish){.state = t * 77 + 1};
		pthread_create(&thread[t], NULL, works, &wish[t]);
	}
	for (uint32_t n = 0; __atomic_load_n(&done, __ATOMIC_SEQ_CST) < goal; n++) {
		int i = stuck(threads, n);

		if (i >= 0)
			up(i);
		sched_yield();
	}
	__atomic_store_n(&stop, true, __ATOMIC_SEQ_CST);
	for (unsigned t = 0; t < threads; t++)
		for (int i = 0; i < SEMS; i++)
			up(i);
	for (unsigned t = 0; t < threads; t++)
		pthread_join(thread[t], NULL);
	for (int i = 0; i < SEMS; i++)
		expect_eq(started[i] - finished[i], (int)semvalue(&sem[i]));
	for (int i = 0; i < SEM_WAITERS; i++)
		expect_eq(STATE(segment_head(&here)->waiter[i].word), WAITER_FREE);
	for (int i = 0; i < SEMS; i++)
		expect_eq(sem[i].at->listed[0] | sem[i].at->listed[1], 0);
}

TEST(threads_lose_nothing_and_nobody_sleeps_for_what_is_there)
{
	fake_slept = fake_woken = 0;
	many_threads(2, 0);
	many_threads(THREADS, 0);
	many_threads(THREADS, SEGMENT_SHARED);
	expect(fake_slept > 0 && fake_woken > 0);
}

/* Sleepers of both kinds get what is upped in the order in which they came. */
static int order[8];
static unsigned ordered;

static void *
takes_in_order(void *arg)
{
	int me = *(int *)arg, k;
	const struct sem *set[] = {&sem[1], &sem[0]};

	k = me % 2 ? downsem(&sem[0], FOREVER) : altsems(set, 2, FOREVER);
	expect_eq(k, me % 2 ? 0 : 1);
	pthread_mutex_lock(&fake_lock);
	order[ordered++] = me;
	pthread_mutex_unlock(&fake_lock);
	return NULL;
}

static void
until_sleepers(unsigned n)
{
	unsigned have;

	do {
		sched_yield();
		pthread_mutex_lock(&fake_lock);
		have = fake_sleepers();
		pthread_mutex_unlock(&fake_lock);
	} while (have != n);
}

TEST(sleepers_are_served_in_order)
{
	int number[8];
	pthread_t thread[8];
	int seen[2] = {0};

	begin_segment(4096, 0);
	here.looks = 0;
	newsem(&here, &sem[0], NULL, 0);
	newsem(&here, &sem[1], NULL, 0);
	for (int i = 0; i < 8; i++) {
		number[i] = i;
		pthread_create(&thread[i], NULL, takes_in_order, &number[i]);
		until_sleepers((unsigned)i + 1);
	}
	for (unsigned i = 0; i < 8; i++) {
		unsigned have;

		expect_eq(upsem(&sem[0]), 0);
		expect_eq(downsem(&sem[0], 0), -E_AGAIN);
		do {
			pthread_mutex_lock(&fake_lock);
			have = ordered;
			pthread_mutex_unlock(&fake_lock);
		} while (have == i);
		expect_eq(order[i], i % 2 ? seen[0] * 2 : seen[1] * 2 + 1);
		seen[i % 2 == 0]++;
	}
	for (int i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
}

/* Who has stood in a list, and has a place in which another one waits now, takes nothing of it. */
static void *
waits_for_others(void *unused)
{
	const struct sem *set[] = {&sem[1], &sem[2]};

	(void)unused;
	expect_eq(altsems(set, 2, FOREVER), 1);
	return NULL;
}

TEST(what_was_granted_to_a_former_waiter_is_given_on)
{
	pthread_t thread;

	begin_segment(4096, 0);
	for (int i = 0; i < 3; i++)
		newsem(&here, &sem[i], NULL, 0);
	pthread_create(&thread, NULL, waits_for_others, NULL);
	until_sleepers(1);
	bit_put(&sem[0].at->listed[0], 1, true);
	word_put(&sem[0].at->word, SEM_LISTED);
	expect_eq(upsem(&sem[0]), 0);
	while (semvalue(&sem[0]) == 0)
		sched_yield();
	until_sleepers(1);
	expect_eq(upsem(&sem[2]), 0);
	pthread_join(thread, NULL);
	expect_eq(semvalue(&sem[0]), 1);
}

static void *
waits_for_the_end(void *arg)
{
	const struct sem *set[] = {&sem[0], &sem[1]};

	expect_eq(*(int *)arg ? altsems(set, 2, FOREVER) : downsem(&sem[1], FOREVER), -E_PIPE);
	return NULL;
}

TEST(who_waits_is_told_of_the_end)
{
	static int kind[2] = {0, 1};
	pthread_t thread[2];

	begin_segment(4096, SEGMENT_SHARED);
	newsem(&here, &sem[0], NULL, 0);
	newsem(&here, &sem[1], NULL, 0);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, waits_for_the_end, &kind[i]);
	until_sleepers(2);
	expect_eq(endsem(&sem[1]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	expect_eq(freesem(&sem[1]), 0);
}

/* --- what stands in the memory --- */

/* Places of threads that ended while they waited are used again, and what they had goes on. */
TEST(the_dead_swallow_nothing)
{
	struct segment_head *h;
	struct sem s, t;

	begin_segment(4096, SEGMENT_SHARED);
	here.looks = 0;
	h = segment_head(&here);
	newsem(&here, &s, NULL, 0);
	newsem(&here, &t, NULL, 0);
	for (int i = 0; i < SEM_WAITERS; i++)
		h->waiter[i].word = WAITER_WAITS;
	s.at->word = SEM_LISTED | SEM_ASLEEP;
	s.at->listed[0] = s.at->listed[1] = 0xffffffff;
	expect_eq(upsem(&s), 0);
	expect_eq(semvalue(&s), 1);
	/* one of them was granted what it did not live to take */
	h->waiter[0].word = WAITER_GRANTED |
		(uint32_t)((unsigned char *)t.at - memory) / SEGMENT_UNIT << 2;
	expect_eq(downsem(&s, 0), 0);
	expect_eq(altsems((const struct sem *[]){&s, &t}, 2, FAKE_WHILE), 1);
	expect_eq(semvalue(&t), 0);
}

/* Who has ended with the list's lock keeps it for a while only, and nobody else takes it twice. */
TEST(the_lock_of_the_dead_is_taken)
{
	struct segment_head *h;
	uint32_t held, again;
	struct sem s, t;

	begin_segment(4096, SEGMENT_SHARED);
	h = segment_head(&here);
	expect_eq(lock(&here, &held), 0);
	expect_eq(newsem(&here, &s, "one", 2), 0);
	expect(!is_held(&here, held));
	unlock(&here, held);
	expect_eq(lock(&here, &held), 0);
	expect_eq(lock(&here, &again), 0);
	unlock(&here, held);
	expect(is_held(&here, again) && LOCK_STATE(h->lock) != 0);
	unlock(&here, again);
	expect_eq(LOCK_STATE(h->lock), 0);
	/* and with what it fills: the next one makes it anew, somewhere else */
	h->entry[0].kind = SEGMENT_BEGINS;
	expect_eq(newsem(&here, &t, "one", 2), 0);
	expect(t.at != s.at);
	expect_eq(h->entry[0].kind, SEGMENT_LATE);
	expect_eq(newsem(&here, &s, "one", 2), 0);
	expect(t.at == s.at);
	expect_eq(freesem(&t), 0);
}

/* While it fills a semaphore, somebody else waits for that until he waits no longer. */
static void
begin_slowly(struct segment_wish *w, void *other)
{
	struct sem_state *at = (struct sem_state *)(void *)w->at;

	if (((struct sem *)other)->at == NULL)
		expect_eq(newsem(&here, other, w->name, 7), 0);
	at->word = 5;
}

TEST(who_is_late_finds_what_another_one_has_made)
{
	struct segment_wish w = {.kind = SEGMENT_SEM, .name = "slow",
		.bytes = sizeof(struct sem_state)};
	struct sem other = {NULL, NULL, 0};

	begin_segment(4096, SEGMENT_SHARED);
	expect_eq(segment_find(&here, &w, begin_slowly, &other), 0);
	expect(w.at == (unsigned char *)other.at && !w.made && w.opens == 2);
	expect_eq(semvalue(&other), 7);
	expect_eq(segment_head(&here)->entry[0].kind, SEGMENT_FREE);
}

TEST(nothing_that_others_write_is_believed)
{
	uint32_t state = 3;
	struct sem s[3];

	begin_segment(4096, SEGMENT_SHARED);
	here.looks = 0;
	for (int i = 0; i < 3; i++)
		newsem(&here, &s[i], NULL, 1);
	for (unsigned long n = 0; n < operations / 10; n++) {
		uint32_t *word = (uint32_t *)(void *)memory;
		struct sem made;

		for (int i = 0; i < 8; i++)
			word[draw(&state, 1024)] = draw(&state, 3) ? draw(&state, 0xffffffff) :
				draw(&state, 4096);
		word[0] = 0;
		upsem(&s[draw(&state, 3)]);
		downsem(&s[draw(&state, 3)], draw(&state, 2) ? 0 : FAKE_WHILE);
		altsems((const struct sem *[]){&s[0], &s[1], &s[2]}, 3, draw(&state, 2) ? 0 :
			FAKE_WHILE);
		if (newsem(&here, &made, draw(&state, 2) ? NULL : "name", 1) == 0)
			expect((unsigned char *)made.at >= memory &&
				(unsigned char *)(made.at + 1) <= memory + 4096 &&
				freesem(&made) == 0);
	}
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		operations = strtoul(argv[1], NULL, 0);
	RUN(what_is_wrong_is_an_error);
	RUN(names_lead_to_one_semaphore);
	RUN(memory_ends_and_comes_back);
	RUN(altsems_takes_any_number_and_each_in_turn);
	RUN(one_thread_finds_what_naive_semaphores_have);
	RUN(sleepers_are_served_in_order);
	RUN(what_was_granted_to_a_former_waiter_is_given_on);
	RUN(who_waits_is_told_of_the_end);
	RUN(the_dead_swallow_nothing);
	RUN(the_lock_of_the_dead_is_taken);
	RUN(who_is_late_finds_what_another_one_has_made);
	RUN(nothing_that_others_write_is_believed);
	RUN(threads_lose_nothing_and_nobody_sleeps_for_what_is_there);
	return TEST_FAILED;
}
