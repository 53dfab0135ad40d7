/* SPDX-License-Identifier: MIT
 *
 * Faults that another process handles, under the coroutine scheduler: threads of a child touch
 * memory that is absent until the parent has mapped it, siblings unmap it again, and the parent
 * lets threads go on, refuses a fault, or kills the child at any moment. Each thread that stops is
 * seen with the registers it stopped with, each goes on once, beside a thread that computes on the
 * same time-sharing core with the tick armed, and in the end everything is back.
 *
 * usage: kernel_fault [COUNT [FIRST]]
 */
#include <stdio.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <hal/core.h>
#include <tests/coroutine/program.h>

#define ROUNDS 4
#define THREADS 4
#define STEPS 10
#define PAGE 4096ul
#define AREA_PAGES 4
#define STACK_BYTES (24 * 1024)
#define RW (PAGE_READ | PAGE_WRITE)
#define BITS 3
#define REPLACED 77
/* of THREADS: these run on one core, and where that is a time-sharing core one of them computes */
#define SHARES 1
#define SPINS 2

static struct {
	_Alignas(64) unsigned char stack[ROUNDS][THREADS][STACK_BYTES];
	struct context ctx[ROUNDS][THREADS];
	struct context mine, seen;
	struct crash_info info;
	uint64_t area[ROUNDS];
	struct proc_status status;
} shared;

static struct {
	unsigned round;
	bool dying;
	bool in_call[THREADS];		/* it touches memory by a kernel call */
	bool is_replaced[THREADS];	/* which the parent has replaced by a result */
	bool killed;
	bool refused;
	bool spins;			/* a thread computes on a time-sharing core */
	bool is_over;			/* what the other one there had to do */
	int proc;
} run;

static unsigned long all_replaced, all_faults, all_refused, all_waited;	/* of all seeds */

/* What a child's thread may rely on: until its process is ended. */
#define child_check(condition) do { \
	bool holds = (condition); \
\
	coro_check(holds || run.dying); \
} while (0)

/* --- the child --- */

/* A kernel call that writes there. */
static void
use_by_call(unsigned me, uintptr_t at)
{
	long e;

	run.in_call[me] = true;
	e = coro_random(2) ? KC(KC_CLOCK, at) : KC(KC_STATS, STATS_THREADS, at + PAGE - 4);
	run.in_call[me] = false;
	child_check(e == (run.is_replaced[me] ? REPLACED : e == -E_FAULT ? e : 0));
	run.is_replaced[me] = false;
}

/* One use of memory that may be absent at any time. */
static void
use(unsigned me, uintptr_t at, uint64_t mark)
{
	switch (coro_random(3)) {
	case 0:
		coro_user_store32(at, (uint32_t)mark);
		break;
	case 1:
		coro_user_load32(at);
		break;
	default:
		use_by_call(me, at);
	}
}

static void
uses(unsigned me, uintptr_t area)
{
	for (unsigned i = 0; i < STEPS; i++) {
		if (coro_random(4) == 0)
			KC(KC_PAGE_UNMAP, SELF, area + coro_random(AREA_PAGES - 1) * PAGE, 1);
		else
			use(me, area + coro_random(AREA_PAGES - 1) * PAGE, i);
		if (me == SHARES && run.spins)
			child_check(coro_tick() != HAL_FOREVER);
	}
}

/* Computes beside another thread: that has a quantum whenever it goes on. */
static void
spins(void)
{
	run.spins = true;
	while (!run.is_over)
		coro_user_point();
	run.spins = false;
}

static void
thread(uintptr_t arg)
{
	unsigned round = (unsigned)arg / THREADS, me = (unsigned)arg % THREADS;

	if (me == SPINS && program_first_core == 0)
		spins();
	else
		uses(me, (uintptr_t)shared.area[round]);
	if (me == SHARES)
		run.is_over = true;
	for (;;)
		KC(KC_THREAD_EXIT, 0);
}

static void
child(uintptr_t round)
{
	for (unsigned i = 1; i < THREADS; i++) {
		coro_user_context(&shared.ctx[round][i], thread,
			shared.stack[round][i] + STACK_BYTES, round * THREADS + i);
		child_check(KC(KC_THREAD_CREATE, &shared.ctx[round][i],
			i == SHARES || i == SPINS ? program_first_core : ANY_CORE) > 0);
	}
	thread(round * THREADS);
}

/* --- its parent --- */

/* A result of a call about the child, which may have ended. */
static void
expect(long e, long want)
{
	coro_check(e == want || (e == -E_SRCH && run.dying));
}

/* Now and then a kernel call of the stopped thread has a result from here. */
static void
replace(unsigned thread)
{
	if (!run.in_call[thread] || coro_random(4) != 0)
		return;
	context_set_result(&shared.seen, REPLACED);
	run.is_replaced[thread] = true;
	all_replaced++;
	expect(KC(KC_FAULT_CONTEXT_SET, run.proc, shared.info.tid, &shared.seen), 0);
}

/* A thread has stopped: what is said of it is so, and it gets its page. */
static void
serve(void)
{
	const struct crash_info *info = &shared.info;
	uintptr_t area = (uintptr_t)shared.area[run.round];
	uintptr_t stacks = (uintptr_t)shared.stack[run.round];
	long memory, e;

	all_faults++;
	coro_check(info->cause == CRASH_ACCESS && info->tid != 0);
	coro_check(info->addr >= area && info->addr < area + AREA_PAGES * PAGE + 4);
	coro_check(info->sp > stacks && info->sp < stacks + sizeof(shared.stack[0]));
	e = KC(KC_FAULT_CONTEXT_GET, run.proc, info->tid, &shared.seen);
	expect(e, 0);
	if (e == 0) {
		coro_check(shared.seen.sp == info->sp && shared.seen.pc == info->pc);
		replace((unsigned)((info->sp - 1 - stacks) / STACK_BYTES));
	}
	memory = KC(KC_MEMORY_CREATE, 1);
	coro_check(memory > 0);
	e = KC(KC_PAGE_MAP, run.proc, info->addr & ~(PAGE - 1), memory, 0, 1, RW);
	expect(e, e == -E_EXIST ? e : 0);
	coro_check(KC(KC_HANDLE_CLOSE, memory) == 0);
}

/* How the thread goes on that has stopped. */
static unsigned long
answer(void)
{
	if (coro_random(30) != 0)
		return 0;
	run.refused = run.dying = true;
	all_refused++;
	return FAULT_REFUSED;
}

static void
kill_now_and_then(void)
{
	if (coro_random(40) != 0)
		return;
	run.killed = run.dying = true;
	coro_check(KC(KC_PROC_KILL, run.proc, 9) == 0);
}

static void
handle_faults(void)
{
	uint32_t tid = 0;
	long e;

	do {
		bool waits = coro_random(2);
		uint32_t last = tid;
		unsigned long pc = last != 0 ? answer() : 0;

		kill_now_and_then();
		e = KC(KC_FAULT_NEXT, run.proc, last, pc, &shared.info, waits ? FOREVER : 0);
		tid = 0;
		if (e == 0) {
			tid = (uint32_t)shared.info.tid;
			serve();
			all_waited += waits;
		} else if (e == -E_TIMEDOUT) {
			coro_check(!waits);
			KC(KC_THREAD_SLEEP, BITS, FOREVER);
		}
	} while (e != -E_SRCH);
}

static void
one_round(unsigned round)
{
	int proc = (int)KC(KC_PROC_CREATE);
	uint32_t cause;

	run.round = round;
	run.proc = proc;
	run.dying = run.killed = run.refused = run.spins = run.is_over = false;
	memset(run.in_call, 0, sizeof(run.in_call));
	memset(run.is_replaced, 0, sizeof(run.is_replaced));
	coro_check(proc > 0);
	coro_check(KC(KC_MEM_ALLOC, proc, AREA_PAGES * PAGE, RW, &shared.area[round]) == 0);
	coro_check(KC(KC_PAGE_UNMAP, proc, shared.area[round], AREA_PAGES) == 0);
	coro_check(KC(KC_EVENT_BIND, EVENT_FAULT, proc, 0) == 0);
	coro_check(KC(KC_EVENT_BIND, EVENT_PROC, proc, 1) == 0);
	coro_user_context(&shared.mine, child, shared.stack[round][0] + STACK_BYTES, round);
	coro_check(KC(KC_PROC_START, proc, &shared.mine, ANY_CORE) == 0);
	handle_faults();
	coro_check(KC(KC_PROC_WAIT, proc, &shared.status, FOREVER) == 0);
	cause = shared.status.cause;
	coro_check(cause == CRASH_NONE || (run.killed && cause == CRASH_KILLED) ||
		(run.refused && cause == CRASH_ACCESS));
	coro_check(KC(KC_HANDLE_CLOSE, proc) == 0);
}

static void
program(uintptr_t arg)
{
	(void)arg;
	program_rounds(one_round, ROUNDS);
}

static void
dump(void)
{
	printf("round %u, killed %d, refused %d\n", run.round, run.killed, run.refused);
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {.name = "a_fault_is_handled_by_another_process",
		.seeds = 1500, .shared = &shared, .shared_bytes = sizeof(shared), .main = program,
		.state = &run, .state_bytes = sizeof(run), .dump = dump};
	unsigned long count = program_seeds(&test, argc, argv);

	if (count == 0)
		return 1;
	if (count >= 100 && (all_faults == 0 || all_refused == 0 || all_waited == 0 ||
		all_replaced == 0)) {
		printf("FAIL %s: %lu faults, %lu waited for, %lu refused\n", test.name, all_faults,
			all_waited, all_refused);
		return 1;
	}
	printf("ok %s (%lu seeds, %lu faults, %lu of them waited for, %lu refused, %lu calls "
		"replaced)\n",
		test.name, count, all_faults, all_waited, all_refused, all_replaced);
	return 0;
}
