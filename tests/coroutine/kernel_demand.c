/* SPDX-License-Identifier: MIT
 *
 * Memory that comes when it is touched, under the coroutine scheduler: threads of a process on
 * several cores touch the same pages first, by loads, stores and kernel calls, while others change
 * the protection of these pages, and the process may have too little memory or be killed at any
 * moment. A page begins with zeros, what a thread has written stays, each in a frame that all see,
 * and in the end everything is back.
 *
 * usage: kernel_demand [COUNT [FIRST]]
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
#define PAGES 6
#define WORDS 4			/* of a page, for each thread */
#define STACK_BYTES (24 * 1024)
#define NEEDED (48 * 1024)
#define RW (PAGE_READ | PAGE_WRITE)

static struct {
	_Alignas(64) unsigned char stack[ROUNDS][THREADS][STACK_BYTES];
	struct context ctx[ROUNDS][THREADS];
	struct context mine;
	uint64_t area[ROUNDS];
	struct proc_status status;
	struct proc_quota quota;
	struct page_info info;
} shared;

static struct {
	unsigned round;
	bool dying;
	bool killing;			/* the very next thing is the kill */
	bool killed[ROUNDS];
	bool poor[ROUNDS];		/* there may be too little memory for it */
	uint32_t written[ROUNDS][THREADS][PAGES][WORDS];
	unsigned over[ROUNDS];		/* threads that have come to their end */
} run;

static unsigned long all_stores, all_calls, all_starved, all_killed;	/* of all seeds */

/* What a child's thread may rely on: until its process is being killed. */
#define child_check(condition) do { \
	bool holds = (condition); \
\
	coro_check(holds || run.dying); \
} while (0)

static uintptr_t
place(unsigned round, unsigned thread, unsigned page, unsigned word)
{
	return (uintptr_t)shared.area[round] + page * PAGE + 1024 * thread + 8 * word;
}

static void
look(unsigned round, unsigned me)
{
	unsigned page = coro_random(PAGES), word = coro_random(WORDS), who;
	uint32_t value = coro_user_load32(place(round, me, page, word));

	child_check(value == run.written[round][me][page][word]);
	/* of another: what it has written at some time, or nothing */
	who = coro_random(THREADS);
	value = coro_user_load32(place(round, who, page, word));
	child_check(value <= 1 || value >> 8 == who + 1 ||
		run.written[round][who][page][word] == 1);
}

static void
write(unsigned round, unsigned me, unsigned step)
{
	unsigned page = coro_random(PAGES), word = coro_random(WORDS);

	coro_user_store32(place(round, me, page, word), (me + 1) << 8 | step);
	run.written[round][me][page][word] = (me + 1) << 8 | step;
	all_stores++;
}

/* The kernel writes the number 0 or 1 (of a call's result), and no thread reads anything else. */
static void
call(unsigned round, unsigned me)
{
	unsigned page = coro_random(PAGES), word = coro_random(WORDS);
	uintptr_t at = place(round, me, page, word);
	long e = KC(KC_STATS, STATS_MAILBOXES, at);

	child_check(e == 0);
	run.written[round][me][page][word] = 0;
	all_calls++;
}

static void
work(unsigned round, unsigned me, unsigned step)
{
	uintptr_t area = (uintptr_t)shared.area[round];

	switch (coro_random(6)) {
	case 0:
	case 1:
		write(round, me, step);
		break;
	case 2:
		call(round, me);
		break;
	case 3:
		/* what is mapped, and what is not yet */
		child_check(KC(KC_PAGE_PROTECT, SELF, area + coro_random(PAGES) * PAGE, 1,
			coro_random(2) ? RW : RW | PAGE_EXEC) == 0);
		break;
	case 4:
		KC(KC_THREAD_YIELD);
		break;
	default:
		look(round, me);
	}
}

/* The kill may find the thread at its last touch: it makes no call after it. */
static _Noreturn void
touch_and_spin(uintptr_t at)
{
	coro_user_load32(at);
	for (;;)
		coro_user_point();
}

static void
thread(uintptr_t arg)
{
	unsigned round = (unsigned)arg / THREADS, me = (unsigned)arg % THREADS;

	for (unsigned i = 0; i < STEPS; i++)
		work(round, me, i);
	run.over[round]++;
	while (run.killed[round] && !run.killing)
		KC(KC_THREAD_YIELD);
	if (run.killed[round])
		touch_and_spin((uintptr_t)shared.area[round] + (PAGES + me) * PAGE);
	for (;;)
		KC(KC_THREAD_EXIT, 0);
}

static void
child(uintptr_t round)
{
	long e = KC(KC_MEM_ALLOC, SELF, (PAGES + THREADS) * PAGE, RW | PAGE_LAZY,
		&shared.area[round]);

	child_check(e == 0);
	if (e != 0)
		program_exit();
	for (unsigned i = 1; i < THREADS; i++) {
		coro_user_context(&shared.ctx[round][i], thread,
			shared.stack[round][i] + STACK_BYTES, round * THREADS + i);
		child_check(KC(KC_THREAD_CREATE, &shared.ctx[round][i], ANY_CORE) > 0);
	}
	thread(round * THREADS);
}

/*
 * Just what a child needs, so that it notices a frame that stays with a thread; or so little that
 * some touch finds nothing left.
 */
static void
limit(long proc, bool poor)
{
	shared.quota = (struct proc_quota){.bytes = poor ? 20 * 1024 + coro_random(7) * PAGE :
		NEEDED,
		.threads = THREADS, .processes = 1};
	coro_check(KC(KC_PROC_QUOTA, proc, &shared.quota) == 0);
}

static void
one_round(unsigned round)
{
	long proc = KC(KC_PROC_CREATE);

	run.round = round;
	run.killing = false;
	run.dying = false;
	run.killed[round] = coro_random(2) == 0;
	run.poor[round] = coro_random(3) == 0;
	coro_check(proc > 0);
	run.dying = run.poor[round];
	limit(proc, run.poor[round]);
	coro_user_context(&shared.mine, child, shared.stack[round][0] + STACK_BYTES, round);
	coro_check(KC(KC_PROC_START, proc, &shared.mine, ANY_CORE) == 0);
	if (run.killed[round]) {
		for (unsigned i = coro_random(80); i > 0; i--)
			KC(KC_THREAD_YIELD);
		run.dying = run.killing = true;
		coro_check(KC(KC_PROC_KILL, proc, 9) == 0);
	}
	coro_check(KC(KC_PROC_WAIT, proc, &shared.status, FOREVER) == 0);
	coro_check(shared.status.cause == CRASH_NONE ||
		(run.killed[round] && shared.status.cause == CRASH_KILLED) ||
		(run.poor[round] && shared.status.cause == CRASH_ACCESS));
	coro_check(shared.status.cause != CRASH_NONE || run.poor[round] ||
		run.over[round] == THREADS);
	all_starved += shared.status.cause == CRASH_ACCESS;
	all_killed += shared.status.cause == CRASH_KILLED;
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
	printf("round %u, killed %d, poor %d, %u threads are over\n", run.round,
		run.killed[run.round], run.poor[run.round], run.over[run.round]);
}

/* A kernel core beside home has some pages ready. */
static void
begin(struct coro_config *config, struct boot_record *record, unsigned long seed)
{
	uint32_t cores = record->cluster[0].cores;

	(void)config;
	if (seed % 2 == 0 && cores > 2)
		record->roles[cores - 1] = ROLE_KC;
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {.name = "a_page_comes_once", .seeds = 1000,
		.shared = &shared, .shared_bytes = sizeof(shared), .main = program, .state = &run,
		.state_bytes = sizeof(run), .begin = begin, .dump = dump};
	unsigned long count;

	count = program_seeds(&test, argc, argv);
	if (count == 0)
		return 1;
	if (count >= 100 && (all_stores == 0 || all_calls == 0 || all_starved == 0 ||
		all_killed == 0)) {
		printf("FAIL a_page_comes_once: %lu stores, %lu calls, %lu starved, %lu killed\n",
			all_stores, all_calls, all_starved, all_killed);
		return 1;
	}
	printf("ok a_page_comes_once (%lu seeds, %lu stores, %lu calls, %lu without memory, "
		"%lu killed)\n", count, all_stores, all_calls, all_starved, all_killed);
	return 0;
}
