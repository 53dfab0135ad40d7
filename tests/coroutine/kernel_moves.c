/* SPDX-License-Identifier: MIT
 *
 * Threads that go to other cores, under the coroutine scheduler: threads of one process send
 * themselves and each other to any core, while they compute, wait for words and bits, run handlers
 * and ask for counts; their maker takes cores away from all of them and gives them back, and the
 * process may be killed at any moment. Each thread runs on one core at
 * a time, with what it had, no wake-up is lost, and in the end everything is back.
 *
 * usage: kernel_moves [COUNT [FIRST]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <tests/coroutine/program.h>

#define CORES 4
#define THREADS 3
#define ROUNDS 3
#define STEPS 12
#define STACK_BYTES (24 * 1024)
#define BIT 1
#define SETTLE 30000		/* places of computing until a handler has begun */

static struct {
	_Alignas(64) unsigned char stack[ROUNDS][THREADS][STACK_BYTES];
	_Alignas(64) unsigned char handler_stack[ROUNDS][THREADS][STACK_BYTES];
	struct context ctx[ROUNDS][THREADS];
	struct thread_counts counts[ROUNDS][THREADS];
	struct thread_counts sum;
	struct cluster_info info[ROUNDS][THREADS];
	struct proc_status status;
	uint32_t word[ROUNDS];
} shared;

static struct {
	unsigned round;
	bool killed;
	bool is_counted;	/* the process has been asked for */
	unsigned limits;	/* odd: the process has not all cores */
	long handle[ROUNDS][THREADS];	/* 0: it has not begun */
	bool runs[ROUNDS][THREADS];
	struct { unsigned begun, open; int core; } sent[ROUNDS][THREADS];	/* core -1: any */
	unsigned entered[ROUNDS][THREADS];
	unsigned done[ROUNDS];
} run;

static unsigned long all_moves, all_limits;

#define child_check(condition) do { \
	if (!run.killed) \
		coro_check(condition); \
} while (0)

/* On one core at a time: nothing of another run of this thread comes in between. */
static void
computes(unsigned round, unsigned i, uint32_t seed)
{
	volatile uint32_t values[4];

	child_check(!run.runs[round][i]);
	run.runs[round][i] = true;
	for (unsigned k = 0; k < 4; k++)
		values[k] = seed * (k + 1);
	run.runs[round][i] = false;
	coro_point();
	for (unsigned k = 0; k < 4; k++)
		child_check(values[k] == seed * (k + 1));
}

static int
any_core(void)
{
	return program_first_core + (int)coro_random((unsigned)(CORES - program_first_core));
}

/* Send a thread to any core. The last of two that send it at the same time is not known. */
static long
send_somewhere(unsigned round, unsigned i)
{
	int core = any_core();
	unsigned number = ++run.sent[round][i].begun;
	unsigned limits = run.limits;
	bool alone = run.sent[round][i].open++ == 0;
	long e = KC(KC_THREAD_CORES, run.handle[round][i], core, 1);
	bool is_limited = limits % 2 != 0 || limits != run.limits;

	run.sent[round][i].open--;
	if (e == 0)
		run.sent[round][i].core = alone && run.sent[round][i].begun == number &&
			!is_limited ? core : -1;
	all_moves++;
	return e == -E_INVAL && is_limited ? 0 : e;
}

/*
 * To any core, and to compute there. Below another number of calls each time: what a core remembers
 * of the frame from the last time has another stack pointer than the thread.
 */
static void
go_from(unsigned round, unsigned i, unsigned depth)
{
	volatile uint32_t here = depth;

	if (depth > 0)
		go_from(round, i, depth - 1);
	else
		child_check(send_somewhere(round, i) == 0);
	computes(round, i, coro_random(1000) + 1);
	child_check(here == depth);
}

/* Often it goes to other cores before it returns to what it has stopped. */
static void
entered(unsigned i)
{
	unsigned round = run.round;

	run.entered[round][i]++;
	for (unsigned k = coro_random(4); k > 0; k--)
		go_from(round, i, coro_random(6));
}

static void
handler(uintptr_t at)
{
	const struct handler_event *e = (const struct handler_event *)at;

	for (unsigned i = 0; i < THREADS; i++)
		if (e != NULL && (uintptr_t)e >= (uintptr_t)shared.handler_stack[run.round][i] &&
			(uintptr_t)e <= (uintptr_t)shared.handler_stack[run.round][i] + STACK_BYTES)
			entered(i);
	coro_point();
	for (;;)
		KC(KC_FRAME_RETURN, 0);
}

/* The calling thread comes to where it was sent last, whatever it was told before. */
static void
arrives(unsigned round, unsigned i)
{
	unsigned number = 0, points = 0;

	for (; points < SETTLE && !run.killed; points++) {
		child_check(KC(KC_CLUSTER_INFO, &shared.info[round][i]) == 0);
		if (number != run.sent[round][i].begun || run.sent[round][i].open > 0) {
			number = run.sent[round][i].begun;
			points = 0;
			KC(KC_THREAD_YIELD);	/* who sends it may wait for this core */
		} else if (number == 0 || run.sent[round][i].core < 0 ||
			shared.info[round][i].core == (uint32_t)run.sent[round][i].core) {
			break;
		}
		coro_point();
	}
	child_check(points < SETTLE);
}

/* The calls of the thread itself that are counted by now. */
static uint32_t
calls_of(unsigned round, unsigned i)
{
	long e;

	do
		e = KC(KC_THREAD_STATS, run.handle[round][i], 0, &shared.counts[round][i]);
	while (e == -E_AGAIN && !run.killed);
	child_check(e == 0);
	return shared.counts[round][i].calls;
}

/* What it does counts from its first question on, on whatever core. */
static void
counts(unsigned round, unsigned i)
{
	uint32_t before = calls_of(round, i);

	for (unsigned k = 0; k < 3; k++)
		child_check(KC(KC_VOID_REMOTE) == 0);
	child_check(calls_of(round, i) >= before + 3);
}

static void
step(unsigned round, unsigned i)
{
	unsigned other = coro_random(THREADS);
	long to = run.handle[round][other], e;

	switch (coro_random(9)) {
	case 0:
		child_check(send_somewhere(round, i) == 0);
		break;
	case 1:
		/* and perhaps back, while it is on its way */
		e = to == 0 ? 0 : send_somewhere(round, other);
		e = to == 0 || e != 0 ? e : send_somewhere(round, other);
		child_check(e == 0 || e == -E_SRCH);
		break;
	case 2:
		e = to == 0 ? 0 : KC(KC_THREAD_STATS, to, 0, &shared.counts[round][i]);
		child_check(e == 0 || e == -E_SRCH || e == -E_AGAIN);
		break;
	case 3:
		e = to == 0 ? 0 : KC(KC_THREAD_WAKEUP, to, 1u << BIT);
		child_check(e == 0 || e == -E_SRCH);
		break;
	case 4:
		/* somebody comes by later, for all wake at their end */
		e = KC(KC_FUTEX_WAIT, &shared.word[round], 0, 1);
		child_check(e == -E_TIMEDOUT || e == 0 || e == -E_INTR || e == -E_AGAIN);
		break;
	case 5:
		KC(KC_THREAD_YIELD);
		break;
	case 6:
		arrives(round, i);
		break;
	case 7:
		counts(round, i);
		break;
	default:
		computes(round, i, coro_random(1000) + 1);
	}
}

static void
thread(uintptr_t me)
{
	unsigned round = (unsigned)me / THREADS, i = (unsigned)me % THREADS;
	long self = KC(KC_THREAD_SELF);

	/* whatever a thread before it had counted */
	if (coro_random(2)) {
		child_check(KC(KC_THREAD_STATS, self, 0, &shared.counts[round][i]) == 0);
		child_check(run.is_counted || shared.counts[round][i].calls == 0);
	}
	run.handle[round][i] = self;
	child_check(KC(KC_THREAD_HANDLER, HANDLE_UPCALLS, handler,
		shared.handler_stack[round][i] + STACK_BYTES) == 0);
	child_check(KC(KC_THREAD_UPCALLS, 1u << BIT) == 0);
	if (i == 0)
		for (unsigned k = 1; k < THREADS; k++) {
			coro_user_context(&shared.ctx[round][k], thread,
				shared.stack[round][k] + STACK_BYTES, round * THREADS + k);
			child_check(KC(KC_THREAD_CREATE, &shared.ctx[round][k], ANY_CORE) > 0);
		}
	for (unsigned k = 0; k < STEPS; k++)
		step(round, i);
	/* wherever it is, its handler is there, too */
	for (unsigned k = 0; k < 4; k++) {
		unsigned before = run.entered[round][i], points = 0;

		child_check(send_somewhere(round, i) == 0);
		child_check(KC(KC_THREAD_WAKEUP, run.handle[round][i], 1u << BIT) == 0);
		for (; run.entered[round][i] == before && points < SETTLE && !run.killed; points++)
			coro_point();
		child_check(points < SETTLE);
	}
	arrives(round, i);
	run.done[round]++;
	for (;;)
		KC(KC_THREAD_EXIT, 0);
}

/* All threads of a process go to one core, and to another, and then it may use all again. */
static void
limit(unsigned round, long proc)
{
	long e = 0;

	run.limits++;
	for (unsigned i = coro_random(4); i > 0 && e == 0; i--) {
		e = KC(KC_PROC_CORES, proc, any_core(), 1);
		for (unsigned k = coro_random(20); k > 0; k--)
			KC(KC_VOID_REMOTE);
		all_limits++;
	}
	if (e == 0)
		e = KC(KC_PROC_CORES, proc, 0, CORES);
	coro_check(e == 0 || e == -E_SRCH);
	for (unsigned i = 0; i < THREADS; i++)
		run.sent[round][i].core = -1;
	run.limits++;
}

/* What a process has done does not become less, whether its threads run, wait or end. */
static void
ask_about(long proc, unsigned times)
{
	uint64_t ns = 0;
	uint32_t calls = 0;

	for (; times > 0; times--) {
		long e;

		run.is_counted = true;
		e = KC(KC_THREAD_STATS, proc, 0, &shared.sum);

		coro_check(e == 0 || e == -E_AGAIN || e == -E_SRCH);
		if (e != 0)
			continue;
		coro_check(shared.sum.run_ns >= ns && shared.sum.calls >= calls);
		ns = shared.sum.run_ns;
		calls = shared.sum.calls;
	}
}

static void
round_of(unsigned round)
{
	long proc = KC(KC_PROC_CREATE);
	bool kills = coro_random(2);

	run.round = round;
	run.killed = run.is_counted = false;
	coro_check(proc > 0);
	coro_user_context(&shared.ctx[round][0], thread, shared.stack[round][0] + STACK_BYTES,
		round * THREADS);
	ask_about(proc, coro_random(2));
	coro_check(KC(KC_PROC_START, proc, &shared.ctx[round][0], ANY_CORE) == 0);
	ask_about(proc, coro_random(2) * coro_random(40));
	if (coro_random(2))
		limit(round, proc);
	if (kills) {
		for (unsigned i = coro_random(60); i > 0; i--)
			KC(KC_VOID_REMOTE);
		run.killed = true;
		coro_check(KC(KC_PROC_KILL, proc, 5) == 0 || run.done[round] == THREADS);
	}
	coro_check(KC(KC_PROC_WAIT, proc, &shared.status, FOREVER) == 0);
	coro_check(kills || (shared.status.cause == CRASH_NONE && run.done[round] == THREADS));
	coro_check(KC(KC_HANDLE_CLOSE, proc) == 0);
}

static void
program(uintptr_t me)
{
	uint64_t frames = 0, threads = program_stats(STATS_THREADS);

	(void)me;
	for (unsigned i = 0; i < ROUNDS; i++) {
		round_of(i);
		if (i == 0)
			frames = program_stats(STATS_FRAMES_FREE);
	}
	coro_check(program_stats(STATS_THREADS) == threads);
	coro_check(program_stats(STATS_FRAMES_FREE) + 2 >= frames);
	coro_finish(0);
}

unsigned
program_on(unsigned cluster, unsigned core, struct program *programs, unsigned max)
{
	(void)max;
	programs[0] = (struct program){program, core};
	return cluster == 0 && core == 1;
}

static void
dump(void)
{
	printf("round %u killed %d done %u handles %ld %ld %ld\n", run.round, run.killed,
		run.done[run.round], run.handle[run.round][0], run.handle[run.round][1],
		run.handle[run.round][2]);
}

static void
begin(struct coro_config *config, struct boot_record *record, unsigned long seed)
{
	(void)config;
	record->roles[0] = seed % 4 == 0 ? ROLE_TC : ROLE_KC;
	if (seed % 4 == 1)
		record->roles[2] = ROLE_TC;
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {
		.name = "threads_go_to_other_cores_and_lose_nothing", .seeds = 2000,
		.shared = &shared, .shared_bytes = sizeof(shared), .state = &run,
		.state_bytes = sizeof(run), .clusters = 1, .cores = CORES, .begin = begin,
		.dump = dump};

	return program_main(&test, argc, argv) != 0 || all_moves == 0 || all_limits == 0;
}
