/* SPDX-License-Identifier: MIT
 *
 * Cores get other roles under the coroutine scheduler: two threads give any core any role, and now
 * and then leave all threads one core only, while the threads of another process compute, wait for
 * words and bits, yield, and may be killed at any moment. Each thread runs on one core at a time,
 * with what it had, no wake-up is lost, who competes on a TC has its turn, no AC has a tick, and in
 * the end nobody is where no thread runs, and everything is back.
 *
 * usage: kernel_roles [COUNT [FIRST]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <tests/coroutine/program.h>

#define CORES 4
#define THREADS 4
#define ROUNDS 2
#define STEPS 8
#define CHANGES 10
#define STACK_BYTES (24 * 1024)
#define BIT 1
#define SETTLE 30000		/* places of computing until a core has done what it must */

static struct {
	_Alignas(64) unsigned char stack[ROUNDS][THREADS][STACK_BYTES];
	_Alignas(64) unsigned char own_stack[2][STACK_BYTES];
	struct context ctx[ROUNDS][THREADS], own;
	struct core_info info[2][CORES];
	struct proc_status status;
	struct cluster_info cluster;
	uint32_t word[ROUNDS];
	uint64_t value;
} shared;

static struct {
	unsigned round;
	bool killed;
	long handle[ROUNDS][THREADS];	/* 0: it has not begun */
	bool runs[ROUNDS][THREADS];
	unsigned begun[ROUNDS], done[ROUNDS];
	unsigned met[2];
} run;

static long sleeper;			/* a thread of core 0 */

static unsigned long all_changes;

#define child_check(condition) do { \
	if (!run.killed) \
		coro_check(condition); \
} while (0)

/* --- the process whose threads have to leave --- */

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
	coro_user_point();
	for (unsigned k = 0; k < 4; k++)
		child_check(values[k] == seed * (k + 1));
}

static void
step(unsigned round, unsigned i)
{
	long other = run.handle[round][coro_random(THREADS)], e;

	switch (coro_random(7)) {
	case 0:
		e = other == 0 ? 0 : KC(KC_THREAD_WAKEUP, other, 1u << BIT);
		child_check(e == 0 || e == -E_SRCH);
		break;
	case 1:
		/* somebody comes by later, for all wake at their end */
		e = KC(KC_FUTEX_WAIT, &shared.word[round], 0, 1);
		child_check(e == -E_TIMEDOUT || e == 0 || e == -E_AGAIN);
		break;
	case 2:
		KC(KC_THREAD_WAKEUP, run.handle[round][i], 1u << BIT);
		child_check((KC(KC_THREAD_SLEEP, 1u << BIT, FOREVER) & 1u << BIT) != 0);
		break;
	case 3:
		KC(KC_THREAD_YIELD);
		break;
	case 4:
		child_check(KC(KC_VOID_REMOTE) == 0);
		break;
	case 5:
		/* and perhaps that runs no thread any more when it would come there */
		e = KC(KC_THREAD_CORES, run.handle[round][i], coro_random(CORES), 1);
		child_check(e == 0 || e == -E_INVAL);
		break;
	default:
		computes(round, i, coro_random(1000) + 1);
	}
}

static void
thread(uintptr_t me)
{
	unsigned round = (unsigned)me / THREADS, i = (unsigned)me % THREADS;
	long e;

	run.handle[round][i] = KC(KC_THREAD_SELF);
	if (i == 0)
		for (unsigned k = 1; k < THREADS; k++) {
			coro_user_context(&shared.ctx[round][k], thread,
				shared.stack[round][k] + STACK_BYTES, round * THREADS + k);
			e = KC(KC_THREAD_CREATE, &shared.ctx[round][k], ANY_CORE);
			child_check(e > 0 || e == -E_INVAL);
			run.begun[round] += e > 0;
		}
	run.begun[round] += i == 0;
	for (unsigned k = 0; k < STEPS; k++)
		step(round, i);
	run.done[round]++;
	for (;;)
		KC(KC_THREAD_EXIT, 0);
}

/* --- those who change roles --- */

static long
give(unsigned core, unsigned role)
{
	all_changes++;
	return KC(KC_CORE_ROLE, PROGRAM_AUTHORITY, core, role);
}

static void
any_change(void)
{
	unsigned core = coro_random(CORES), role = coro_random(4);
	long e = give(core, role);

	coro_check(e == 0 || e == -E_BUSY ||
		(core == 0 && e == -E_INVAL && role != ROLE_TC && role != ROLE_KC));
}

/* What a core says by now, in memory of this caller. */
static const struct core_info *
info_of(unsigned me, unsigned core)
{
	coro_check(KC(KC_CORE_INFO, core, &shared.info[me][core]) == 0);
	return &shared.info[me][core];
}

/* No thread is there, and core 0 is a kernel core only. */
static bool
has_left(unsigned core)
{
	const struct core_info *is = info_of(0, core);

	return is->threads == 0 && (core != 0 || is->acts == ROLE_KC);
}

/*
 * The only one who changes roles leaves one core to all threads. They are there soon, whatever they
 * were told before.
 */
static void
leave_one(unsigned core)
{
	unsigned points = 0;

	if (give(core, ROLE_TC) != 0)
		return;
	for (unsigned i = 0; i < CORES; i++)
		if (i != core)
			coro_check(give(i, i == 0 || coro_random(2) ? ROLE_KC : ROLE_IDLE) == 0);
	for (unsigned i = 0; i < CORES; i++)
		while (i != core && !has_left(i)) {
			coro_check(++points < SETTLE);
			KC(KC_FUTEX_WAKE, &shared.word[run.round], THREADS);
			coro_user_point();
		}
}

/* A core that is an AC, and acts as one all the time, has no tick. */
static void
has_no_tick(unsigned core)
{
	struct core_info before, after;

	if (give(core, ROLE_AC) != 0)
		return;
	before = *info_of(0, core);
	for (unsigned i = coro_random(100); i > 0; i--)
		coro_user_point();
	after = *info_of(0, core);
	coro_check(after.ticks == before.ticks || before.acts != ROLE_AC ||
		after.acts != ROLE_AC || after.roles != before.roles);
}

/* A thread of this process, the first or the second. */
static long
own_thread(unsigned i, void (*fn)(uintptr_t), int core)
{
	long tid;

	coro_user_context(&shared.own, fn, shared.own_stack[i] + STACK_BYTES, i);
	tid = KC(KC_THREAD_CREATE, &shared.own, core);
	coro_check(tid > 0);
	return tid;
}

static void
join(long tid)
{
	coro_check(KC(KC_THREAD_JOIN, tid, &shared.value, FOREVER) == 0);
}

static void
changes(uintptr_t me)
{
	(void)me;
	for (unsigned i = 0; i < CHANGES; i++)
		any_change();
	for (;;)
		KC(KC_THREAD_EXIT, 0);
}

static void
two_change_roles(void)
{
	long tid = own_thread(0, changes, ANY_CORE);

	for (unsigned i = 0; i < CHANGES; i++)
		any_change();
	join(tid);
}

/* Calls home, and then makes no call until the other one has come as far. */
static void
meets(uintptr_t me)
{
	for (unsigned i = 1; i <= 3; i++) {
		unsigned points = 0;

		KC(KC_VOID_REMOTE);
		run.met[me] = i;
		for (; run.met[1 - me] < i && points < SETTLE; points++)
			coro_user_point();
		coro_check(points < SETTLE);
	}
	for (;;)
		KC(KC_THREAD_EXIT, 0);
}

/* Who waits on an application core for the one that computes there runs when that is a TC. */
static void
two_meet(unsigned core)
{
	long tid[2];

	if (give(core, ROLE_AC) != 0)
		return;
	coro_user_point();	/* who was sent away before goes here at the latest */
	coro_check(KC(KC_CLUSTER_INFO, &shared.cluster) == 0);
	if (shared.cluster.core == core)
		return;	/* the caller would wait behind them */
	run.met[0] = run.met[1] = 0;
	for (unsigned i = 0; i < 2; i++)
		tid[i] = own_thread(i, meets, (int)core);
	coro_check(give(core, ROLE_TC) == 0);
	for (unsigned i = 0; i < 2; i++)
		join(tid[i]);
}

static void
calls(uintptr_t me)
{
	while (run.met[me] == 0) {
		KC(KC_VOID_REMOTE);
		KC(KC_THREAD_YIELD);	/* the other thread of this process may be here, too */
		coro_user_point();
	}
	for (;;)
		KC(KC_THREAD_EXIT, 0);
}

/* A thread is on its way to a core that runs none any more when it comes there. */
static void
sent_in_vain(unsigned core)
{
	unsigned points = 0;
	long tid;

	if (give(core, ROLE_AC) != 0)
		return;
	run.met[0] = 0;
	tid = own_thread(0, calls, ANY_CORE);
	coro_check(KC(KC_THREAD_CORES, tid, core, 1) == 0);
	coro_check(give(core, ROLE_KC) == 0);
	for (; info_of(0, core)->threads != 0 && points < SETTLE; points++)
		coro_user_point();
	run.met[0] = 1;
	coro_check(points < SETTLE);
	join(tid);
}

/* A thread of core 0 sleeps, and one of another core wakes it once. */
static void
sleeps(uintptr_t me)
{
	(void)me;
	run.met[0] = 1;
	coro_check((KC(KC_THREAD_SLEEP, 1u << BIT, FOREVER) & 1u << BIT) != 0);
	run.met[0] = 2;
	for (;;)
		KC(KC_THREAD_EXIT, 0);
}

static void
wakes(uintptr_t me)
{
	(void)me;
	coro_check(KC(KC_THREAD_WAKEUP, sleeper, 1u << BIT) == 0);
	run.met[1] = 1;
	for (;;)
		KC(KC_THREAD_EXIT, 0);
}

/* Who becomes ready on core 0 while its thread waits for another core has its turn afterwards. */
static void
woken_beside(unsigned core)
{
	unsigned points = 0, other = 1 + core % (CORES - 1);
	long tid;

	if (give(0, ROLE_TC) != 0 || give(core, ROLE_TC) != 0)
		return;
	coro_check(KC(KC_CLUSTER_INFO, &shared.cluster) == 0);
	if (shared.cluster.core != 0)
		return;
	run.met[0] = run.met[1] = 0;
	sleeper = own_thread(0, sleeps, 0);
	while (run.met[0] == 0)
		KC(KC_THREAD_YIELD);
	tid = own_thread(1, wakes, (int)core);
	for (unsigned i = 0; i < 2 || run.met[1] == 0; i++)
		coro_check(give(other, i % 2 == 0 ? ROLE_KC : ROLE_AC) == 0);
	for (; run.met[0] < 2 && points < SETTLE; points++)
		coro_user_point();
	coro_check(points < SETTLE);
	join(sleeper);
	join(tid);
}

static void
round_of(unsigned round)
{
	long proc = KC(KC_PROC_CREATE);
	bool kills = coro_random(2);
	int only = coro_random(3) == 0 ? 1 + (int)coro_random(CORES - 1) : -1;

	run.round = round;
	run.killed = false;
	coro_check(proc > 0);
	coro_user_context(&shared.ctx[round][0], thread, shared.stack[round][0] + STACK_BYTES,
		round * THREADS);
	if (only >= 0)
		coro_check(KC(KC_PROC_CORES, proc, only, 1) == 0);
	if (only >= 0 && give((unsigned)only, ROLE_TC) != 0)
		only = -1;
	coro_check(KC(KC_PROC_START, proc, &shared.ctx[round][0], ANY_CORE) == 0);
	if (coro_random(2))
		two_change_roles();
	if (coro_random(2))
		leave_one(coro_random(CORES));
	if (coro_random(2))
		sent_in_vain(1 + coro_random(CORES - 1));
	if (coro_random(2))
		two_meet(1 + coro_random(CORES - 1));
	if (coro_random(2))
		woken_beside(1 + coro_random(CORES - 1));
	has_no_tick(only >= 0 ? (unsigned)only : 1 + coro_random(CORES - 1));
	if (kills) {
		run.killed = true;
		coro_check(KC(KC_PROC_KILL, proc, 5) == 0 || run.done[round] == run.begun[round]);
	}
	any_change();
	coro_check(KC(KC_PROC_WAIT, proc, &shared.status, FOREVER) == 0);
	coro_check(kills ||
		(shared.status.cause == CRASH_NONE && run.done[round] == run.begun[round]));
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

static void
dump(void)
{
	printf("round %u killed %d done %u met %u %u handles %ld %ld %ld %ld\n", run.round,
		run.killed, run.done[run.round], run.met[0], run.met[1], run.handle[run.round][0],
		run.handle[run.round][1], run.handle[run.round][2], run.handle[run.round][3]);
}

static void
begin(struct coro_config *config, struct boot_record *record, unsigned long seed)
{
	(void)config;
	record->roles[0] = seed % 2 == 0 ? ROLE_TC : ROLE_KC;
	if (seed % 4 == 1)
		record->roles[2] = ROLE_TC;
	program_has_authority = true;
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {
		.name = "roles_change_and_nothing_is_lost", .seeds = 2000, .shared = &shared,
		.shared_bytes = sizeof(shared), .state = &run, .state_bytes = sizeof(run),
		.clusters = 1, .cores = CORES, .main = program, .begin = begin, .dump = dump};

	return program_main(&test, argc, argv) != 0 || all_changes == 0;
}
