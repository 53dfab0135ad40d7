/* SPDX-License-Identifier: MIT
 *
 * The scheduler of time-sharing cores under the coroutine scheduler, against a naive oracle.
 * Threads that compute share a TC; one of a higher priority sleeps there and is woken from another
 * core.
 *
 *	turn	those of one priority run one after the other, always in the same order
 *	prompt	a wake-up whose call has come back is older than anything that a lower priority
 *		still does
 *	first	while the higher priority runs, nobody lower does
 *	tick	it is armed while two threads can run on the TC, not while one can, and on an
 *		application core never
 *
 * And a thread that asks its mailboxes without a pause, on a home core, gets what other clusters
 * send; one that computes there after a call that gave home work for many rounds, or while others
 * give it such, does not hold that up.
 *
 * usage: kernel_sched [COUNT [FIRST]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/limits.abi.h>
#include <hal/core.h>
#include <context.h>
#include <tests/coroutine/program.h>

#define CORES 4
#define WAKER_CORE 2
#define STARTER_CORE 3
#define SPINNERS 3
#define THREADS (SPINNERS + 3)
#define TURNS 4				/* of each spinner in the steady phase */
#define WAKES 6
#define STACK_BYTES (32 * 1024)
#define PORTS 20			/* more events than a round of the home core takes */
#define PAGES 64			/* of a process: more than a round gives back */

size_t noc_window_bytes(const struct boot_record *record);	/* hal/noc/shm */

static struct {
	_Alignas(64) unsigned char stack[THREADS][STACK_BYTES];
	struct context ctx[THREADS];
	uint64_t value[3];
	unsigned char message[2][MAILBOX_MSG_SIZE];
} shared;

static struct {
	int tc;
	unsigned surely, perhaps;	/* threads that can run on the TC: at least, at most */
	bool steady;			/* all spinners are there and none ends */
	bool stop;
	unsigned order[SPINNERS];	/* the latest turns, oldest first */
	unsigned seen;			/* turns in the steady phase */
	unsigned turns[SPINNERS];
	/* wake-ups whose call has returned; that the sleeper has seen */
	unsigned called, ran;
	bool high_runs;
	bool asleep;
	unsigned ended;
	long victim;
	bool own_call;			/* home's thread kills it */
} run;

static long
start(unsigned slot, void (*fn)(uintptr_t arg), uintptr_t arg, int core)
{
	struct context *ctx = &shared.ctx[slot];
	long tid;

	coro_user_context(ctx, fn, shared.stack[slot] + STACK_BYTES, arg);
	tid = KC(KC_THREAD_CREATE, ctx, core);
	coro_check(tid > 0);
	return tid;
}

/*
 * One step of computing on the TC by a thread of the lower priority; everything that must hold
 * then.
 */
static void
step(void)
{
	unsigned sure = run.surely, called = run.called;

	coro_user_point();
	coro_check(!run.high_runs);
	coro_check((int)(called - run.ran) <= 0);
	if (sure >= 2 && run.surely >= 2)
		coro_check(coro_tick() != HAL_FOREVER);
	if (run.perhaps < 2)
		coro_check(coro_tick() == HAL_FOREVER);
}

/* This thread runs. If another did before, it is the one whose turn was the longest ago. */
static void
note_turn(unsigned me)
{
	if (run.order[SPINNERS - 1] == me)
		return;
	if (run.steady && ++run.seen > SPINNERS) {
		coro_check(run.order[0] == me);
		run.turns[me]++;
	}
	memmove(&run.order[0], &run.order[1], (SPINNERS - 1) * sizeof(run.order[0]));
	run.order[SPINNERS - 1] = me;
}

static bool
all_had_their_turns(void)
{
	for (unsigned i = 0; i < SPINNERS; i++)
		if (run.turns[i] < TURNS)
			return false;
	return run.ran == WAKES;
}

static void
spinner(uintptr_t me)
{
	while (!run.stop) {
		note_turn((unsigned)me);	/* that a call came back to */
		step();
		note_turn((unsigned)me);
		if (all_had_their_turns()) {
			run.steady = false;
			run.stop = true;
		}
		if (coro_random(8) == 0)
			coro_check(KC(KC_VOID_REMOTE) == 0);
		else if (coro_random(16) == 0)
			coro_check(KC(KC_THREAD_YIELD) == 0);
	}
	run.surely--;
	KC(KC_THREAD_EXIT, me);
}

/* Sleeps on the TC. */
static void
sleeper(uintptr_t arg)
{
	(void)arg;
	for (unsigned i = 1; i <= WAKES; i++) {
		run.asleep = true;
		coro_check(KC(KC_THREAD_SLEEP, WAKE_ANY, FOREVER) == 1);
		run.high_runs = true;
		run.ran = i;
		for (unsigned n = coro_random(4); n > 0; n--)
			coro_user_point();
		if (coro_random(2))
			coro_check(KC(KC_VOID_REMOTE) == 0);
		run.high_runs = false;
	}
	KC(KC_THREAD_EXIT, 0);
}

static void
one_ended(void)
{
	if (++run.ended == 2)
		coro_finish(0);
	program_exit();
}

/* On an application core: wakes the sleeper again and again. */
static void
waker(uintptr_t arg)
{
	long tid = start(SPINNERS, sleeper, 0, run.tc);

	(void)arg;
	for (unsigned i = 1; i <= WAKES; i++) {
		while (!run.asleep || !run.steady)
			KC(KC_THREAD_YIELD);
		run.asleep = false;
		run.perhaps++;
		coro_check(KC(KC_THREAD_WAKEUP, tid, 1) == 0);
		run.called = i;
		while (run.ran != i)
			KC(KC_THREAD_YIELD);
		run.perhaps--;
	}
	coro_check(KC(KC_THREAD_JOIN, tid, &shared.value[0], FOREVER) == 0);
	one_ended();
}

/* Two threads of an application core: cooperative, without a tick. */
static void
neighbour(uintptr_t arg)
{
	(void)arg;
	for (unsigned i = 0; i < 20; i++) {
		coro_user_point();
		coro_check(coro_tick() == HAL_FOREVER);
		if (coro_random(4) == 0)
			KC(KC_THREAD_YIELD);
	}
	coro_check(KC(KC_CORE_COUNT, COUNT_TICKS, &shared.value[2]) == 0);
	coro_check(shared.value[2] == 0);
	KC(KC_THREAD_EXIT, 0);
}

/* The threads on the application core are of the lower priority, too. */
static void
starter(uintptr_t arg)
{
	long tid[SPINNERS], other[2], own = KC(KC_THREAD_SELF);

	(void)arg;
	coro_check(KC(KC_PROC_PRIORITY, SELF, 0) == 0);
	coro_check(KC(KC_THREAD_PRIORITY, own, 1) == -E_ACCES);
	for (unsigned i = 0; i < SPINNERS; i++) {
		run.perhaps++;
		tid[i] = start(i, spinner, i, run.tc);
		run.surely++;
	}
	run.steady = true;
	for (unsigned i = 0; i < 2; i++)
		other[i] = start(SPINNERS + 1 + i, neighbour, 0, STARTER_CORE);
	for (unsigned i = 0; i < 2; i++)
		coro_check(KC(KC_THREAD_JOIN, other[i], &shared.value[1], FOREVER) == 0);
	for (unsigned i = 0; i < SPINNERS; i++) {
		coro_check(KC(KC_THREAD_JOIN, tid[i], &shared.value[1], FOREVER) == 0);
		run.perhaps--;
	}
	one_ended();
}

/*
 * On cluster 0's home, which is a TC: one message from each port of cluster 1, and no call that
 * waits.
 */
static void
asker(uintptr_t arg)
{
	long id[PORTS], got;

	(void)arg;
	for (unsigned i = 0; i < PORTS; i++)
		coro_check((id[i] = KC(KC_MAILBOX_CREATE, i)) >= 0);
	run.steady = true;
	for (unsigned i = 0; i < PORTS; i++) {
		while ((got = KC(KC_MAILBOX_READ, id[i], ANY_SOURCE_CLUSTER, shared.message[0],
			shared.value)) == -E_AGAIN)
			coro_user_point();
		coro_check(got == 1);
	}
	coro_finish(0);
}

static void
asker_starter(uintptr_t arg)
{
	(void)arg;
	start(0, asker, 0, 0);
	for (;;)
		KC(KC_THREAD_SLEEP, WAKE_ANY, FOREVER);
}

static void
writer(uintptr_t arg)
{
	long id[PORTS];

	(void)arg;
	while (!run.steady)
		KC(KC_THREAD_YIELD);
	for (unsigned i = 0; i < PORTS; i++)
		coro_check((id[i] = KC(KC_MAILBOX_OPEN, 0, i)) >= 0);
	for (unsigned i = 0; i < PORTS; i++)
		coro_check(KC(KC_MAILBOX_WRITE, id[i], shared.message[1]) == 0);
	for (;;)
		KC(KC_THREAD_SLEEP, WAKE_ANY, FOREVER);
}

/*
 * On home, a TC: kills a process, or lets its killer do it, and computes until the killer knows of
 * the end.
 */
static void
computer(uintptr_t arg)
{
	(void)arg;
	if (run.own_call)
		coro_check(KC(KC_PROC_KILL, run.victim, 9) == 0);
	run.steady = true;
	while (!run.stop)
		coro_user_point();
	coro_finish(0);
}

static void
killer(uintptr_t arg)
{
	(void)arg;
	run.own_call = coro_random(2);
	coro_check((run.victim = KC(KC_PROC_CREATE)) > 0);
	coro_check(KC(KC_MEM_ALLOC, run.victim, PAGES * 4096, PAGE_READ | PAGE_WRITE,
		&shared.value[0]) == 0);
	start(0, computer, 0, 0);
	if (!run.own_call) {
		while (!run.steady)
			KC(KC_THREAD_YIELD);
		coro_check(KC(KC_PROC_KILL, run.victim, 9) == 0);
	}
	coro_check(KC(KC_PROC_WAIT, run.victim, shared.message[0], FOREVER) == 0);
	run.stop = true;
	for (;;)
		KC(KC_THREAD_SLEEP, WAKE_ANY, FOREVER);
}

static enum { SHARES, ASKS, ENDS } scenario;

unsigned
program_on(unsigned cluster, unsigned core, struct program *programs, unsigned max)
{
	(void)max;
	if (scenario == ENDS) {
		programs[0] = (struct program){killer, 0};
		return core == 1;
	}
	if (scenario == ASKS) {
		programs[0] = (struct program){cluster == 0 ? asker_starter : writer, 0};
		return core == 1;
	}
	programs[0] = (struct program){core == WAKER_CORE ? waker : starter, 0};
	return core == WAKER_CORE || core == STARTER_CORE;
}

static void
dump(void)
{
	printf("tc %d surely %u perhaps %u steady %d stop %d turns %u %u %u called %u ran %u "
		"ended %u\n", run.tc, run.surely, run.perhaps,
		run.steady, run.stop, run.turns[0], run.turns[1], run.turns[2], run.called, run.ran,
		run.ended);
}

static void
choose(struct coro_config *config, struct boot_record *record, unsigned long seed)
{
	(void)config;
	scenario = seed % 4 == 3 ? ASKS : seed % 8 == 6 ? ENDS : SHARES;
	if (scenario == ENDS) {
		coro_record(record, 1, 2);
		record->roles[0] = ROLE_TC;
		return;
	}
	if (scenario == ASKS) {
		coro_record(record, 2, 2);
		record->mailbox_ports = PORTS;
		record->noc_window_bytes = noc_window_bytes(record);
		record->roles[0] = ROLE_TC;
		return;
	}
	for (unsigned i = 0; i < SPINNERS; i++)
		run.order[i] = SPINNERS;
	coro_record(record, 1, CORES);
	run.tc = seed % 2;
	record->roles[run.tc] = ROLE_TC;
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {.name = "a_shared_core_runs_whose_turn_it_is",
		.seeds = 2000, .shared = &shared, .shared_bytes = sizeof(shared), .state = &run,
		.state_bytes = sizeof(run), .begin = choose, .dump = dump};

	return program_main(&test, argc, argv);
}
