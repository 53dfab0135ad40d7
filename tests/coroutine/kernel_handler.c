/* SPDX-License-Identifier: MIT
 *
 * Handlers under the coroutine scheduler: threads of a process make calls that only their handler
 * knows, fault, and make kernel calls with addresses that are absent until the handler has mapped
 * them, while siblings unmap them and the process may be killed at any moment. Each call happens
 * once, each fault is served, and in the end everything is back.
 *
 * usage: kernel_handler [COUNT [FIRST]]
 */
#include <stdio.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <tests/coroutine/program.h>

#define ROUNDS 4
#define THREADS 4
#define STEPS 12
#define PAGE 4096ul
#define AREA_PAGES 4
#define STACK_BYTES (24 * 1024)
#define RW (PAGE_READ | PAGE_WRITE)
#define FOREIGN 7

static struct {
	_Alignas(64) unsigned char stack[ROUNDS][THREADS][STACK_BYTES];
	_Alignas(64) unsigned char handler_stack[ROUNDS][THREADS][STACK_BYTES];
	struct context ctx[ROUNDS][THREADS];
	struct context mine;
	uint64_t area[ROUNDS];
	struct proc_status status;
} shared;

static struct {
	unsigned round;
	bool dying;
	bool killed[ROUNDS];
	bool by_process[ROUNDS];	/* the handler is the process's */
	uint32_t served[ROUNDS];
	uint32_t asked[ROUNDS];
} run;

static unsigned long all_calls, all_faults, all_probes;	/* of all seeds: that handlers served */

/* What a child's thread may rely on: until its process is being killed. */
#define child_check(condition) do { \
	bool holds = (condition); \
\
	coro_check(holds || run.dying); \
} while (0)

/* Whatever a handler may do meanwhile. */
static void
dawdle(void)
{
	switch (coro_random(4)) {
	case 0:
		child_check(KC(FOREIGN, 1) == -E_NOSYS);
		break;
	case 1:
		KC(KC_THREAD_YIELD);
		break;
	case 2:
		coro_user_point();
		break;
	default:
		child_check(KC(KC_VOID_REMOTE) == 0);
	}
}

/* The page may have been mapped by a sibling meanwhile. */
static long
map(uintptr_t addr)
{
	long memory = KC(KC_MEMORY_CREATE, 1), e;

	child_check(memory > 0);
	e = KC(KC_PAGE_MAP, SELF, addr & ~(PAGE - 1), memory, 0, 1, RW);
	child_check(e == 0 || e == -E_EXIST);
	child_check(KC(KC_HANDLE_CLOSE, memory) == 0);
	return 0;
}

static void
handler(uintptr_t at)
{
	const struct handler_event *e = (const struct handler_event *)at;
	long value;

	dawdle();
	if (e->cause == CRASH_NONE) {
		child_check(e->number == FOREIGN && e->args[1] == 99);
		run.served[e->args[2]]++;
		all_calls++;
		value = (long)e->args[0] + 1;
	} else {
		child_check(e->cause == CRASH_ACCESS);
		all_faults += e->pc != 0;
		all_probes += e->number == KC_CLOCK || e->number == KC_STATS ||
			e->number == KC_FUTEX_WAIT;
		value = map((uintptr_t)e->addr);
	}
	KC(KC_FRAME_RETURN, value);
	coro_fail("a handler returned and goes on");
}

/* One use of memory that may be absent at any time. */
static void
use(uintptr_t at, uint64_t mark)
{
	long e;

	switch (coro_random(5)) {
	case 0:
		coro_user_store32(at, (uint32_t)mark);
		break;
	case 1:
		coro_user_load32(at);
		break;
	case 2:
		/* a sibling may take the page away in the middle of a call */
		e = KC(KC_CLOCK, at);
		child_check(e == 0 || e == -E_FAULT);
		break;
	case 3:
		e = KC(KC_STATS, STATS_THREADS, at + PAGE - 4);
		child_check(e == 0 || e == -E_FAULT);
		break;
	default:
		child_check(KC(KC_FUTEX_WAIT, at, 0xffffffff, FOREVER) == -E_AGAIN);
	}
}

static void
thread(uintptr_t arg)
{
	unsigned round = (unsigned)arg / THREADS, me = (unsigned)arg % THREADS;
	uintptr_t area = (uintptr_t)shared.area[round];

	if (!run.by_process[round])
		child_check(KC(KC_THREAD_HANDLER, HANDLE_CALLS | HANDLE_FAULTS, handler,
			shared.handler_stack[round][me] + STACK_BYTES) == 0);
	for (unsigned i = 0; i < STEPS; i++) {
		switch (coro_random(4)) {
		case 0:
			run.asked[round]++;
			child_check(KC(FOREIGN, i, 99, round) == (long)i + 1);
			break;
		case 1:
			KC(KC_PAGE_UNMAP, SELF, area + coro_random(AREA_PAGES - 1) * PAGE, 1);
			break;
		default:
			use(area + coro_random(AREA_PAGES - 1) * PAGE, i);
		}
	}
	for (;;)
		KC(KC_THREAD_EXIT, 0);
}

static void
child(uintptr_t round)
{
	long e = KC(KC_MEM_ALLOC, SELF, AREA_PAGES * PAGE, RW, &shared.area[round]);

	child_check(e == 0);
	child_check(KC(KC_PAGE_UNMAP, SELF, shared.area[round], AREA_PAGES) == 0);
	if (run.by_process[round])
		child_check(KC(KC_PROC_HANDLER, SELF, HANDLE_CALLS | HANDLE_FAULTS, handler,
			shared.handler_stack[round][THREADS - 1] + STACK_BYTES, STACK_BYTES) == 0);
	for (unsigned i = 1; i < THREADS; i++) {
		coro_user_context(&shared.ctx[round][i], thread,
			shared.stack[round][i] + STACK_BYTES, round * THREADS + i);
		child_check(KC(KC_THREAD_CREATE, &shared.ctx[round][i],
			i == 1 ? program_first_core : ANY_CORE) > 0);
	}
	thread(round * THREADS);
}

static void
one_round(unsigned round)
{
	long proc = KC(KC_PROC_CREATE);

	run.round = round;
	run.dying = false;
	run.by_process[round] = coro_random(2);
	run.killed[round] = coro_random(2);
	coro_check(proc > 0);
	coro_user_context(&shared.mine, child, shared.stack[round][0] + STACK_BYTES, round);
	coro_check(KC(KC_PROC_START, proc, &shared.mine, ANY_CORE) == 0);
	if (run.killed[round]) {
		for (unsigned i = coro_random(80); i > 0; i--)
			KC(KC_THREAD_YIELD);
		run.dying = true;
		coro_check(KC(KC_PROC_KILL, proc, 9) == 0);
	}
	coro_check(KC(KC_PROC_WAIT, proc, &shared.status, FOREVER) == 0);
	coro_check(shared.status.cause == CRASH_NONE ||
		(run.killed[round] && shared.status.cause == CRASH_KILLED));
	coro_check(shared.status.cause != CRASH_NONE || run.served[round] == run.asked[round]);
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
	printf("round %u, killed %d, handler of the process %d, served %u of %u\n", run.round,
		run.killed[run.round],
		run.by_process[run.round], run.served[run.round], run.asked[run.round]);
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {.name = "a_handler_serves_each_once",
		.seeds = 1500, .shared = &shared, .shared_bytes = sizeof(shared), .main = program,
		.state = &run, .state_bytes = sizeof(run), .dump = dump};
	unsigned long count;

	count = program_seeds(&test, argc, argv);
	if (count == 0)
		return 1;
	if (count >= 100 && (all_calls == 0 || all_probes == 0 || all_faults <= all_probes)) {
		printf("FAIL a_handler_serves_each_once: %lu calls, %lu faults, %lu of them in "
			"kernel calls\n", all_calls, all_faults, all_probes);
		return 1;
	}
	printf("ok a_handler_serves_each_once (%lu seeds, %lu calls, %lu faults, about %lu of "
		"them in kernel calls)\n", count, all_calls,
		all_faults, all_probes);
	return 0;
}
