/* SPDX-License-Identifier: MIT
 *
 * Upcalls and alarms under the coroutine scheduler: the threads of a process set bits of each
 * other, which start handlers in the middle of computing, of calls and of waits, while masks
 * change, alarms ring, threads sleep for the same bits, and the process may be killed at any
 * moment. No bit is lost, no handler starts inside itself, every call but a wait does what it
 * would have done, and in the end everything is back.
 *
 * usage: kernel_alarm [COUNT [FIRST]]
 */
#include <stdio.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <tests/coroutine/program.h>

#define ROUNDS 4
#define THREADS 4
#define STEPS 14
#define PAGE 4096ul
#define STACK_BYTES (24 * 1024)
#define RW (PAGE_READ | PAGE_WRITE)
#define BITS 2				/* that threads set for each other */
#define BITS_ALL ((1u << BITS) - 1)
#define ALARM_BIT BITS
#define MASK_ALL (BITS_ALL | 1u << ALARM_BIT)
#define SETTLE 30000			/* places of computing until what was set has come */

static struct {
	_Alignas(64) unsigned char stack[ROUNDS][THREADS][STACK_BYTES];
	_Alignas(64) unsigned char handler_stack[ROUNDS][THREADS][STACK_BYTES];
	struct context ctx[ROUNDS][THREADS];
	struct context mine;
	struct alarm_times times[ROUNDS][THREADS];
	uint64_t clock[ROUNDS][THREADS];
	uint64_t area[ROUNDS];
	uint32_t word[ROUNDS];
	struct proc_status status;
} shared;

static struct {
	unsigned round;
	bool dying;
	bool killed;
	bool by_process[ROUNDS];	/* the handler is the process's */
	long handle[ROUNDS][THREADS];	/* 0: it has not begun */
	uint32_t sent[ROUNDS][THREADS][BITS];
	uint32_t seen[ROUNDS][THREADS][BITS];
	uint32_t rung[ROUNDS][THREADS];
	bool inside[ROUNDS][THREADS];
	unsigned done[ROUNDS];
} run;

static unsigned long all_upcalls, all_cut, all_alarms;	/* of all seeds */

/* What a child's thread may rely on: until its process is being killed. */
#define child_check(condition) do { \
	bool holds = (condition); \
\
	coro_check(holds || run.dying); \
} while (0)

/* These bits have been taken: whatever was sent before has come. */
static void
take(unsigned round, unsigned me, uint32_t bits)
{
	for (unsigned b = 0; b < BITS; b++)
		if (bits & 1u << b)
			run.seen[round][me][b] = run.sent[round][me][b];
	run.rung[round][me] += (bits & 1u << ALARM_BIT) != 0;
	all_alarms += (bits & 1u << ALARM_BIT) != 0;
}

static uint64_t
soon(unsigned round, unsigned me)
{
	KC(KC_CLOCK, &shared.clock[round][me]);
	return shared.clock[round][me] + 100 * coro_random(1000);
}

static void
sleep_for(unsigned round, unsigned me, uint32_t mask)
{
	long e = KC(KC_THREAD_SLEEP, mask, soon(round, me));

	child_check(e > 0 ? ((uint32_t)e & ~mask) == 0 : e == -E_TIMEDOUT || e == -E_INTR);
	if (e > 0)
		take(round, me, (uint32_t)e);
	all_cut += e == -E_INTR;
}

/* A bit of its own comes in the handler: no wait begins there, however long. */
static void
wait_with_an_upcall(unsigned round, unsigned me)
{
	long self = KC(KC_THREAD_SELF);

	child_check(KC(KC_THREAD_UPCALLS, MASK_ALL) == 0);
	run.sent[round][me][0]++;
	child_check(KC(KC_THREAD_WAKEUP, self, 1) == 0);
	child_check(KC(KC_THREAD_SLEEP, 1u << BITS << 1, FOREVER) == -E_INTR);
	all_cut++;
}

static void
handler(uintptr_t at)
{
	const struct handler_event *e = (const struct handler_event *)at;
	unsigned place = (unsigned)((at - (uintptr_t)shared.handler_stack) / STACK_BYTES);
	unsigned round = place / THREADS, me = place % THREADS;

	/* a process's stacks are numbered downwards */
	if (run.by_process[round])
		me = THREADS - 1 - me;
	child_check(e->cause == HANDLER_UPCALL && e->addr != 0 && (e->addr & ~MASK_ALL) == 0);
	child_check(!run.inside[round][me]);
	run.inside[round][me] = true;
	take(round, me, (uint32_t)e->addr);
	all_upcalls++;
	switch (coro_random(20)) {
	case 0:
		wait_with_an_upcall(round, me);
		break;
	case 1: case 2: case 3: case 4:
		KC(KC_THREAD_YIELD);
		break;
	case 5: case 6: case 7: case 8:
		sleep_for(round, me, coro_random(MASK_ALL + 1));
		break;
	case 9: case 10: case 11: case 12:
		child_check(KC(KC_VOID_REMOTE) == 0);
		break;
	default:
		coro_user_point();
	}
	run.inside[round][me] = false;
	KC(KC_FRAME_RETURN, 0);
	coro_fail("a handler returned and goes on");
}

static void
send(unsigned round)
{
	unsigned to = coro_random(THREADS), bit = coro_random(BITS);

	if (run.handle[round][to] == 0)
		return;
	run.sent[round][to][bit]++;
	child_check(KC(KC_THREAD_WAKEUP, run.handle[round][to], 1u << bit) == 0);
}

static void
set_alarm(unsigned round, unsigned me, uint64_t first)
{
	shared.times[round][me] = (struct alarm_times){first,
		coro_random(2) ? ALARM_PERIOD_MIN : 0};
	child_check(KC(KC_ALARM_SET, ALARM_BIT, &shared.times[round][me]) == 0);
}

static void
step(unsigned round, unsigned me)
{
	long e;

	switch (coro_random(8)) {
	case 0:
		set_alarm(round, me, coro_random(4) ? soon(round, me) : FOREVER);
		break;
	case 1:
		sleep_for(round, me, coro_random(MASK_ALL + 1));
		break;
	case 2:
		e = KC(KC_FUTEX_WAIT, &shared.word[round], 0, soon(round, me));
		child_check(e == -E_TIMEDOUT || e == -E_INTR);
		all_cut += e == -E_INTR;
		break;
	case 3:
		child_check(KC(KC_THREAD_UPCALLS, coro_random(MASK_ALL + 1)) == 0);
		break;
	case 4:
		child_check(KC(KC_PAGE_PROTECT, SELF, shared.area[round], 1,
			coro_random(2) ? RW : PAGE_READ) == 0);
		break;
	case 5:
		child_check(KC(KC_THREAD_SELF) == run.handle[round][me]);
		coro_user_point();
		break;
	default:
		send(round);
	}
}

static bool
is_settled(unsigned round, unsigned me)
{
	return memcmp(run.seen[round][me], run.sent[round][me], sizeof(run.seen[round][me])) == 0;
}

/* When nobody sends any more, what was sent comes while the thread computes. */
static void
settle(unsigned round, unsigned me)
{
	set_alarm(round, me, FOREVER);
	child_check(KC(KC_THREAD_UPCALLS, MASK_ALL) == 0);
	run.done[round]++;
	while (run.done[round] < THREADS)
		KC(KC_THREAD_YIELD);
	for (unsigned n = 0; !is_settled(round, me); n++) {
		child_check(n < SETTLE);
		coro_user_point();
	}
}

/* One thread after the other: nothing happens on the machine but its alarm. */
static void
await_alarm(unsigned round, unsigned me)
{
	unsigned long before;

	run.done[round]++;
	while (run.done[round] < THREADS + THREADS + me)
		KC(KC_THREAD_YIELD);
	before = run.rung[round][me];
	set_alarm(round, me, soon(round, me));
	for (unsigned n = 0; run.rung[round][me] == before; n++) {
		child_check(n < SETTLE);
		coro_user_point();
	}
	set_alarm(round, me, FOREVER);
	run.done[round]++;
	while (run.done[round] < 3 * THREADS)
		KC(KC_THREAD_YIELD);
}

static void
thread(uintptr_t arg)
{
	unsigned round = (unsigned)arg / THREADS, me = (unsigned)arg % THREADS;

	if (!run.by_process[round])
		child_check(KC(KC_THREAD_HANDLER, HANDLE_UPCALLS, handler,
			shared.handler_stack[round][me] + STACK_BYTES) == 0);
	child_check(KC(KC_THREAD_UPCALLS, coro_random(MASK_ALL + 1)) == 0);
	run.handle[round][me] = KC(KC_THREAD_SELF);
	for (unsigned i = 0; i < STEPS; i++)
		step(round, me);
	settle(round, me);
	await_alarm(round, me);
	for (;;)
		KC(KC_THREAD_EXIT, 0);
}

static void
child(uintptr_t round)
{
	child_check(KC(KC_MEM_ALLOC, SELF, PAGE, RW, &shared.area[round]) == 0);
	if (run.by_process[round])
		child_check(KC(KC_PROC_HANDLER, SELF, HANDLE_UPCALLS, handler,
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
	run.killed = coro_random(2);
	coro_check(proc > 0);
	coro_user_context(&shared.mine, child, shared.stack[round][0] + STACK_BYTES, round);
	coro_check(KC(KC_PROC_START, proc, &shared.mine, ANY_CORE) == 0);
	if (run.killed) {
		for (unsigned i = coro_random(80); i > 0; i--)
			KC(KC_THREAD_YIELD);
		run.dying = true;
		coro_check(KC(KC_PROC_KILL, proc, 9) == 0);
	}
	coro_check(KC(KC_PROC_WAIT, proc, &shared.status, FOREVER) == 0);
	coro_check(shared.status.cause == CRASH_NONE ||
		(run.killed && shared.status.cause == CRASH_KILLED));
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
	printf("round %u, killed %d, handler of the process %d, %u done\n", run.round, run.killed,
		run.by_process[run.round], run.done[run.round]);
	for (unsigned i = 0; i < THREADS; i++)
		for (unsigned b = 0; b < BITS; b++)
			printf("thread %u bit %u: %u sent, %u seen\n", i, b,
				run.sent[run.round][i][b], run.seen[run.round][i][b]);
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {.name = "no_upcall_is_lost", .seeds = 1500,
		.shared = &shared, .shared_bytes = sizeof(shared), .main = program, .state = &run,
		.state_bytes = sizeof(run), .dump = dump};
	unsigned long count;

	count = program_seeds(&test, argc, argv);
	if (count == 0)
		return 1;
	if (count >= 100 && (all_upcalls == 0 || all_cut == 0 || all_alarms == 0)) {
		printf("FAIL no_upcall_is_lost: %lu upcalls, %lu waits that they cut, %lu "
			"alarms\n", all_upcalls, all_cut, all_alarms);
		return 1;
	}
	printf("ok no_upcall_is_lost (%lu seeds, %lu upcalls, %lu waits that they cut, %lu "
		"alarms)\n",
		count, all_upcalls, all_cut, all_alarms);
	return 0;
}
