/* SPDX-License-Identifier: MIT
 *
 * Exhaustion under the coroutine scheduler: the threads of two processes, one of which has limits,
 * take whatever they can get of every kind, at the same time; children of theirs have limits, too.
 * The first process can act meanwhile; when they are killed, at any moment, every account is
 * balanced (the kernel checks that when an account ends) and everything is back.
 *
 * usage: kernel_limits [COUNT [FIRST]]
 */
#include <stdio.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <tests/coroutine/program.h>

#define EATERS 2
#define THREADS 3
#define ROUNDS 2
#define PAGE 4096ul
#define LARGE (2ul << 20)
#define STACK_BYTES (24 * 1024)
#define STEPS_MAX 10000
#define RW (PAGE_READ | PAGE_WRITE)

static struct {
	_Alignas(64) unsigned char stack[EATERS + 1][THREADS + 1][STACK_BYTES];
	_Alignas(64) unsigned char idle_stack[STACK_BYTES];
	/* one per thread: others of its process make some at the same time */
	struct context ctx[EATERS][THREADS], mine;
	uint64_t value[EATERS + 1][THREADS];
	struct proc_quota most[EATERS + 1];
	struct proc_status status;
	uint64_t joined;
} shared;

static struct {
	unsigned step;
	unsigned full[EATERS];		/* bites in a row that got nothing */
	unsigned got[EATERS];
} run;

static unsigned long all_got, all_full;

/* One that never runs: its process is dead before, or a thread of it is never given a core. */
static void
idle(uintptr_t arg)
{
	(void)arg;
	for (;;)
		KC(KC_THREAD_SLEEP, WAKE_ANY, FOREVER);
}

/* A child with limits of its own, and something in it. */
static long
bite_child(unsigned me, uint64_t *value)
{
	long proc = KC(KC_PROC_CREATE), e;

	if (proc < 0)
		return proc;
	shared.most[me] = (struct proc_quota){.bytes = coro_random(40) * PAGE,
		.threads = coro_random(2), .processes = coro_random(3)};
	e = KC(KC_PROC_QUOTA, proc, &shared.most[me]);
	coro_check(e == 0 || e == -E_NOMEM || e == -E_CANCELED);
	while (coro_random(20) != 0 && KC(KC_MEM_ALLOC, proc, (1 + coro_random(3)) * PAGE, RW,
		value) == 0)
		continue;
	if (coro_random(2))
		KC(KC_HANDLE_CLOSE, proc);
	return 0;
}

static long
bite(unsigned me, unsigned thread)
{
	uint64_t *value = &shared.value[me][thread];
	long e;

	switch (coro_random(9)) {
	case 0:
		coro_user_context(&shared.ctx[me][thread], idle, shared.idle_stack + STACK_BYTES,
			0);
		return KC(KC_THREAD_CREATE, &shared.ctx[me][thread], ANY_CORE);
	case 1:
		return bite_child(me, value);
	case 2:
		return KC(KC_MEM_ALLOC, SELF, (1 + coro_random(80)) * PAGE, RW, value);
	case 3:
		return KC(KC_MEMORY_CREATE, 1 + coro_random(40));
	case 4:
		e = KC(KC_THREAD_SELF);
		return KC(KC_HANDLE_DUPLICATE, e, SELF,
			RIGHTS_ALL | (coro_random(2) ? HANDLE_VIEW : 0));
	case 5:
		e = KC(KC_MEM_ALLOC, SELF, 8 * PAGE, 0, value);
		for (unsigned i = 1; e == 0 && i < 8; i += 2)
			e = KC(KC_PAGE_UNMAP, SELF, (unsigned long)*value + i * PAGE, 1);
		return e;
	case 6:
		e = KC(KC_MEMORY_CREATE, 1);
		return e < 0 ? e :
			KC(KC_PAGE_MAP, SELF, (1 + coro_random(500)) * LARGE + (1ul << 36), e, 0, 1,
			RW);
	case 7:
		return KC(KC_MAILBOX_OPEN, 0, coro_random(4));
	default:
		return KC(KC_PORTAL_OPEN, 0, coro_random(2), coro_random(2));
	}
}

static void
eat(uintptr_t number)
{
	unsigned me = (unsigned)number / THREADS, thread = (unsigned)number % THREADS;

	for (;;) {
		long e = bite(me, thread);

		coro_check(e >= 0 || e == -E_NOMEM || e == -E_NOSPC || e == -E_MFILE ||
			e == -E_BUSY || e == -E_INVAL || e == -E_EXIST ||
			e == -E_CANCELED);
		run.full[me] = e == -E_NOMEM || e == -E_NOSPC || e == -E_MFILE ? run.full[me] + 1 :
			0;
		run.got[me] += e >= 0;
		all_full += e < 0;
		if (coro_random(4) == 0)
			KC(KC_THREAD_YIELD);
	}
}

static void
eater(uintptr_t me)
{
	for (unsigned i = 1; i < THREADS; i++) {
		coro_user_context(&shared.ctx[me][i], eat, shared.stack[me][i] + STACK_BYTES,
			me * THREADS + i);
		KC(KC_THREAD_CREATE, &shared.ctx[me][i], ANY_CORE);
	}
	eat(me * THREADS);
}

/* --- the first process --- */

static void
leave(uintptr_t arg)
{
	KC(KC_THREAD_EXIT, arg);
}

/* What it needs to go on is there, whatever the others have taken. */
static void
act(void)
{
	long thread, copy, box, proc;

	coro_user_context(&shared.mine, leave, shared.stack[EATERS][0] + STACK_BYTES, 5);
	thread = KC(KC_THREAD_CREATE, &shared.mine, ANY_CORE);
	coro_check(thread > 0);
	copy = KC(KC_HANDLE_DUPLICATE, thread, SELF, RIGHTS_ALL);
	coro_check(copy > 0);
	coro_check(KC(KC_THREAD_JOIN, thread, &shared.joined, FOREVER) == 0 && shared.joined == 5);
	coro_check(KC(KC_HANDLE_CLOSE, copy) == 0);
	box = KC(KC_MAILBOX_OPEN, 0, 3);
	coro_check(box >= 0 && KC(KC_HANDLE_CLOSE, box) == 0);
	proc = KC(KC_PROC_CREATE);
	coro_check(proc > 0 && KC(KC_HANDLE_CLOSE, proc) == 0);
	coro_check(KC(KC_MEM_ALLOC, SELF, PAGE, RW, &shared.joined) == 0);
	coro_check(KC(KC_PAGE_UNMAP, SELF, shared.joined, 1) == 0);
}

/*
 * What has lost its last name is given back in steps, of which home does one with each call; a leak
 * stays.
 */
static void
settle(uint64_t frames)
{
	while (program_stats(STATS_PROCS) > 1)
		KC(KC_THREAD_YIELD);
	for (unsigned n = 0; n < STEPS_MAX && program_stats(STATS_FRAMES_FREE) < frames; n++)
		continue;
}

static void
one_round(void)
{
	long proc[EATERS];

	for (unsigned i = 0; i < EATERS; i++) {
		run.full[i] = 0;
		proc[i] = KC(KC_PROC_CREATE);
		coro_check(proc[i] > 0);
		shared.most[EATERS] = (struct proc_quota){.bytes = 300 * PAGE, .threads = 12,
			.processes = 4};
		coro_check(i == 0 || KC(KC_PROC_QUOTA, proc[i], &shared.most[EATERS]) == 0);
		coro_user_context(&shared.mine, eater, shared.stack[i][0] + STACK_BYTES, i);
		coro_check(KC(KC_PROC_START, proc[i], &shared.mine, ANY_CORE) == 0);
	}
	run.step = 1;
	for (unsigned n = coro_random(400); n > 0 && run.full[0] < 40; n--)
		KC(KC_THREAD_YIELD);
	act();
	run.step = 2;
	for (unsigned i = 0; i < EATERS; i++)
		coro_check(KC(KC_PROC_KILL, proc[i], 9) == 0);
	for (unsigned i = 0; i < EATERS; i++) {
		coro_check(KC(KC_PROC_WAIT, proc[i], &shared.status, FOREVER) == 0);
		coro_check(KC(KC_HANDLE_CLOSE, proc[i]) == 0);
		all_got += run.got[i];
	}
	run.step = 3;
	settle(0);
}

static void
program(uintptr_t arg)
{
	static const int same[] = {STATS_FRAMES_FREE, STATS_THREADS, STATS_MAILBOXES, STATS_PORTALS,
		STATS_PIECE_PAGES};
	uint64_t before[sizeof(same) / sizeof(same[0])];

	(void)arg;
	/* page tables, and the table of handles, that it needs from now on */
	act();
	settle(0);
	for (unsigned i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		before[i] = program_stats(same[i]);
	for (unsigned i = 0; i < ROUNDS; i++)
		one_round();
	settle(before[0]);
	for (unsigned i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (program_stats(same[i]) != before[i])
			coro_fail("number %d of the statistics is %lu, not %lu", same[i],
				(unsigned long)program_stats(same[i]), (unsigned long)before[i]);
	coro_finish(0);
}

static void
dump(void)
{
	printf("step %u, the first has got %u and then %u times nothing, the second %u and %u\n",
		run.step, run.got[0], run.full[0], run.got[1],
		run.full[1]);
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {.name = "what_is_exhausted_comes_back",
		.seeds = 300, .shared = &shared, .shared_bytes = sizeof(shared), .main = program,
		.state = &run, .state_bytes = sizeof(run), .dump = dump};
	unsigned long count;

	program_is_init = true;
	count = program_seeds(&test, argc, argv);
	if (count == 0)
		return 1;
	printf("ok what_is_exhausted_comes_back (%lu seeds, %lu times something, %lu times "
		"nothing)\n", count, all_got, all_full);
	return 0;
}
