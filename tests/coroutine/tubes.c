/* SPDX-License-Identifier: MIT
 *
 * Semaphores, tubes and queued calls of user level under the coroutine scheduler, with the real
 * library (user/sem.c, tube.c, call_queue.c) over the real kernel, messages and calls in memory
 * that is stale until it was acquired. Threads hand a turn on, take whatever of several semaphores
 * is up, send and receive by any of several tubes, for ever or for a while, and make calls for one
 * of them. Nobody sleeps for what is there, nothing is lost or comes twice, each message is whole,
 * and in the end nobody stands in a list.
 *
 * usage: tubes [COUNT [FIRST]]
 */
#include <stdio.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/limits.abi.h>
#include <context.h>
#include <hal/atomic.h>
#include <atoll/kcalls.h>
#include <tests/coroutine/program.h>

/* Instead of user/channel_words.h. */
#define USER_CHANNEL_WORDS_H
#define word_look(word) hal_load32(word)
#define word_peek(word) hal_peek32(word)
#define word_put(word, value) hal_store32((word), (value))
#define word_swap(word, old, value) hal_cas32((word), (old), (value))
#define word_swap_quickly(word, old, value) hal_cas32((word), (old), (value))
#define word_exchange(word, value) exchange((word), (value))
#define words_fence() hal_fence()
#define bytes_publish(bytes, count) hal_publish((bytes), (count))
#define bytes_acquire(bytes, count) hal_acquire((bytes), (count))
#define TUBE_PLACES_ALIGNED 4096
static uint32_t
exchange(uint32_t *word, uint32_t value)
{
	uint32_t w;

	do
		w = hal_load32(word);
	while (!hal_cas32(word, w, value));
	return w;
}

#include <user/segment.c>
#include <user/sem.c>
#include <user/tube.c>
#include <user/call_queue.c>

#define THREADS 5
#define STACK_BYTES (32 * 1024)
#define SEMS 3
#define TUBES 2
#define ROUNDS 6			/* of each thread */
#define SENT 4				/* by each of two senders */
#define LENGTH 64
#define CALLS 3
#define EACH_CALLS 6

static struct {
	_Alignas(4096) unsigned char memory[32768];
	_Alignas(64) unsigned char stack[THREADS][STACK_BYTES];
	_Alignas(4096) unsigned char queue[4096];
	/* what is written back by lines is not shared by lines */
	_Alignas(4096) struct {
		_Alignas(HAL_CACHE_LINE) struct queued_call c;
	} call[CALLS];
	_Alignas(4096) uint64_t value, clock[THREADS];
	struct context ctx;
} shared;

static struct {
	struct segment here;
	struct sem sem[SEMS];
	struct tube tube[TUBES];
	unsigned length;		/* of a message: all in longs, or not */
	unsigned step;
	int up[SEMS];			/* more ups than downs have begun, or ended */
	unsigned inside;
	unsigned got[2];		/* messages of each sender */
	bool had[2][SENT];
	struct call_queue q;
	unsigned made[CALLS];
} run;

/* --- what the library calls --- */

long
kfutex_wait(unsigned long addr, uint32_t value, uint64_t until)
{
	return KC(KC_FUTEX_WAIT, addr, value, until);
}

long
kfutex_wake(unsigned long addr, int count)
{
	return KC(KC_FUTEX_WAKE, addr, count);
}

long
kclock(void *ns)
{
	return KC(KC_CLOCK, ns);
}

/* --- threads --- */

static long
start(unsigned slot, void (*fn)(uintptr_t arg), uintptr_t arg)
{
	long tid;

	coro_user_context(&shared.ctx, fn, shared.stack[slot] + STACK_BYTES, arg);
	tid = KC(KC_THREAD_CREATE, &shared.ctx, coro_random(3) ? ANY_CORE : program_first_core);
	coro_check(tid > 0);
	return tid;
}

static void
together(void (*fn)(uintptr_t arg))
{
	long tid[THREADS];

	run.step++;
	for (unsigned i = 0; i < THREADS; i++)
		tid[i] = start(i, fn, i);
	for (unsigned i = 0; i < THREADS; i++)
		coro_check(KC(KC_THREAD_JOIN, tid[i], &shared.value, FOREVER) == 0);
}

/* For good, or for a while that may be over. */
static uint64_t
some_time(uintptr_t me)
{
	if (coro_random(3) != 0)
		return FOREVER;
	coro_check(KC(KC_CLOCK, &shared.clock[me]) == 0);
	return shared.clock[me] + coro_random(20000);
}

static bool
is_no_failure(int e)
{
	return e >= 0 || e == -E_TIMEDOUT || e == -E_AGAIN;
}

/* One at a time is inside, of whom one may come by a time. */
static void
takes_turns(uintptr_t me)
{
	for (unsigned i = 0; i < ROUNDS;) {
		int e = downsem(&run.sem[0], some_time(me));

		coro_check(is_no_failure(e));
		if (e != 0)
			continue;
		i++;
		coro_check(run.inside++ == 0);
		KC(KC_THREAD_YIELD);
		coro_check(run.inside-- == 1);
		coro_check(upsem(&run.sem[0]) == 0);
	}
	KC(KC_THREAD_EXIT, 0);
}

/*
 * What goes round is at one semaphore or in somebody's hands; who waits for good waits for all of
 * them.
 */
static void
takes_any(uintptr_t me)
{
	for (unsigned i = 0; i < ROUNDS;) {
		const struct sem *set[] = {&run.sem[0], &run.sem[1], &run.sem[2]};
		uint64_t until = some_time(me);
		int to = (int)coro_random(SEMS), k;

		if (until != FOREVER)
			set[to] = NULL;
		k = altsems(set, SEMS, until);

		coro_check(is_no_failure(k));
		if (k < 0)
			continue;
		i++;
		coro_check(--run.up[k] >= 0);
		run.up[to]++;
		coro_check(upsem(&run.sem[to]) == 0);
	}
	KC(KC_THREAD_EXIT, 0);
}

/* Some wait for one semaphore and some for two, whose every up has a taker. */
static void
takes_of_two(uintptr_t me)
{
	const struct sem *set[] = {&run.sem[1], &run.sem[2]};

	for (unsigned i = 0; i < ROUNDS; i++) {
		if (me == 0)
			for (unsigned n = 1; n < THREADS; n++)
				coro_check(upsem(&run.sem[1]) == 0);
		else if (me == 1)
			coro_check(altsems(set, 2, FOREVER) == 0);
		else
			coro_check(downsem(&run.sem[1], FOREVER) == 0);
	}
	KC(KC_THREAD_EXIT, 0);
}

static void
text_of(unsigned from, unsigned number, unsigned char *text)
{
	text[0] = (unsigned char)from;
	text[1] = (unsigned char)number;
	for (unsigned i = 2; i < LENGTH; i++)
		text[i] = (unsigned char)(from * 101 + number * 29 + i * 3 + 1);
}

static void
sends(unsigned me)
{
	_Alignas(8) unsigned char text[LENGTH];

	for (unsigned n = 0; n < SENT;) {
		struct talt a[] = {{&run.tube[0], text, TALT_SEND, NULL},
			{&run.tube[1], text, TALT_SEND, NULL}};
		int e;

		text_of(me, n, text);
		e = coro_random(2) ? talt(a, 2, some_time(me)) :
			tsend(&run.tube[coro_random(TUBES)], text, some_time(me));
		coro_check(is_no_failure(e));
		n += e >= 0;
	}
}

/* Until all that is sent has been received by somebody. */
static void
receives(uintptr_t me)
{
	_Alignas(8) unsigned char text[LENGTH], right[LENGTH];

	for (;;) {
		struct talt a[] = {{&run.tube[0], text, TALT_RECEIVE, NULL},
			{&run.tube[1], text, TALT_RECEIVE, NULL}};
		int e = coro_random(2) ? talt(a, 2, some_time(me)) :
			nbtreceive(&run.tube[coro_random(TUBES)], text) - 1;

		if (e == -E_PIPE || e == -E_PIPE - 1)
			return;
		coro_check(is_no_failure(e) || e == -1);
		if (e < 0)
			continue;
		coro_check(text[0] < 2 && text[1] < SENT && !run.had[text[0]][text[1]]);
		run.had[text[0]][text[1]] = true;
		text_of(text[0], text[1], right);
		coro_check(memcmp(text, right, run.length) == 0);
		run.got[text[0]]++;
		if (run.got[0] == SENT && run.got[1] == SENT)
			for (int i = 0; i < TUBES; i++)
				coro_check(endtube(&run.tube[i]) == 0);
	}
}

static void
sends_or_receives(uintptr_t me)
{
	if (me < 2)
		sends((unsigned)me);
	else
		receives(me);
	KC(KC_THREAD_EXIT, 0);
}

static long
makes(struct queued_call *c)
{
	long word = (long)c->word[0];

	run.made[c->number]++;
	c->word[1] = c->word[0] + c->number;
	return word * 3;
}

static void
submits(unsigned long number, unsigned long word)
{
	struct queued_call *c = &shared.call[number].c;

	*c = (struct queued_call){.make = makes, .number = number, .word = {word}};
	coro_check(call_submit(&run.q, c) == 0);
}

static void
uses_calls(void)
{
	unsigned left[CALLS], out = CALLS;

	for (unsigned i = 0; i < CALLS; i++) {
		left[i] = EACH_CALLS;
		submits(i, 100 + left[i]);
	}
	while (out > 0) {
		struct queued_call *c = NULL;
		int e = call_reply(&run.q, &c, coro_random(2) ? FOREVER : 0);
		unsigned i;

		coro_check(is_no_failure(e));
		if (e != 0)
			continue;
		i = (unsigned)c->number;
		coro_check(i < CALLS && c == &shared.call[i].c && run.made[i]-- == 1);
		coro_check(c->word[1] == 100 + left[i] + i);
		coro_check(c->result == (long)(100 + left[i]) * 3);
		if (--left[i] > 0)
			submits(i, 100 + left[i]);
		else
			out--;
	}
	coro_check(call_queue_end(&run.q) == 0);
}

static void
uses_or_makes_calls(uintptr_t me)
{
	if (me == 0)
		uses_calls();
	else
		coro_check(call_queue_serve(&run.q) == 0);
	KC(KC_THREAD_EXIT, 0);
}

static void
check_lists(void)
{
	for (int i = 0; i < SEM_WAITERS; i++)
		coro_check(STATE(segment_head(&run.here)->waiter[i].word) == WAITER_FREE);
	for (int i = 0; i < SEMS; i++)
		coro_check((run.sem[i].at->listed[0] | run.sem[i].at->listed[1]) == 0);
}

/* Calls, and which they are, are stale until they were acquired. */
static void
begin_calls(void)
{
	coro_check(call_queue_begin(&run.q, CALLS, shared.queue, sizeof(shared.queue)) == 0);
	run.q.words.looks = coro_random(2);
	hal_shared_region(run.q.call, (CALLS + 1) * sizeof(run.q.call[0]));
	hal_publish(run.q.call, (CALLS + 1) * sizeof(run.q.call[0]));
	memset(shared.call, 0, sizeof(shared.call));
	hal_shared_region(shared.call, sizeof(shared.call));
	hal_publish(shared.call, sizeof(shared.call));
}

static void
program(uintptr_t arg)
{
	(void)arg;
	memset(shared.memory, 0, sizeof(shared.memory));
	coro_check(segment_begin(&run.here, shared.memory, sizeof(shared.memory), 0) == 0);
	run.here.looks = coro_random(2);
	run.length = coro_random(2) ? LENGTH : 40;
	for (int i = 0; i < SEMS; i++)
		coro_check(newsem(&run.here, &run.sem[i], NULL, i == 0) == 0);
	together(takes_turns);
	coro_check(semvalue(&run.sem[0]) == 1);
	run.up[0] = 1;
	together(takes_any);
	check_lists();
	for (int i = 0; i < SEMS; i++)
		coro_check((int)semvalue(&run.sem[i]) == run.up[i]);
	while (downsem(&run.sem[1], 0) == 0 || downsem(&run.sem[2], 0) == 0)
		continue;
	together(takes_of_two);
	check_lists();
	coro_check(semvalue(&run.sem[1]) == 0);
	for (uint32_t i = 0; i < TUBES; i++) {
		struct tube *t = &run.tube[i];

		coro_check(newtube(&run.here, t, NULL, run.length, 1 + i) == 0);
		hal_shared_region(t->before + t->stride, t->ring.numbers * t->stride);
		hal_publish(t->before + t->stride, t->ring.numbers * t->stride);
	}
	together(sends_or_receives);
	check_lists();
	for (int i = 0; i < TUBES; i++)
		coro_check(freetube(&run.tube[i]) == 0);
	begin_calls();
	together(uses_or_makes_calls);
	coro_finish(0);
}

static void
dump(void)
{
	printf("step %u up %d %d %d got %u %u\n", run.step, run.up[0], run.up[1], run.up[2],
		run.got[0], run.got[1]);
	for (int i = 0; i < SEMS && run.sem[i].at != NULL; i++)
		printf("word %#x listed %#x\n", run.sem[i].at->word, run.sem[i].at->listed[0]);
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {.name = "nobody_sleeps_for_what_is_there",
		.seeds = 2000, .shared = &shared, .shared_bytes = sizeof(shared), .main = program,
		.state = &run, .state_bytes = sizeof(run), .dump = dump};

	return program_main(&test, argc, argv);
}
