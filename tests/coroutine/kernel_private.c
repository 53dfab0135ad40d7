/* SPDX-License-Identifier: MIT
 *
 * Pages that are copied when they are written to, under the coroutine scheduler: threads of a
 * process on several cores count in words of their own, while another thread copies the pages into
 * one process after the other. Each copy has of every word a value that it had during the copying,
 * keeps it whatever the process writes meanwhile, and can be written to itself; every thread finds
 * what it wrote last. Either process may be killed at any moment, and in the end everything is
 * back.
 *
 * usage: kernel_private [COUNT [FIRST]]
 */
#include <stdio.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <tests/coroutine/program.h>

#define ROUNDS 3
#define COPIES 3			/* of a round, one after the other */
#define WRITERS 3
#define THREADS (WRITERS + 1)		/* the last one copies */
#define PAGE 4096ul
#define PAGES 3
#define STACK_BYTES (24 * 1024)
#define RW (PAGE_READ | PAGE_WRITE)
#define OWN 0x40000000u			/* and what a copy writes */

static struct {
	_Alignas(64) unsigned char stack[ROUNDS][THREADS][STACK_BYTES];
	_Alignas(64) unsigned char copy_stack[ROUNDS][COPIES][STACK_BYTES];
	struct context ctx[ROUNDS][THREADS];
	struct context copy_ctx[ROUNDS][COPIES];
	struct context mine;
	uint64_t area[ROUNDS];
	struct proc_status copy_status[ROUNDS];
	struct proc_status status;
} shared;

static struct {
	unsigned round;
	bool dying;
	bool killed[ROUNDS];
	bool touched[ROUNDS];		/* all pages are there before anything happens */
	/* what a writer has begun to write, and has written */
	uint32_t begun[ROUNDS][WRITERS][PAGES];
	uint32_t written[ROUNDS][WRITERS][PAGES];
	/* what they had before and behind the copying */
	uint32_t least[ROUNDS][COPIES][WRITERS][PAGES];
	uint32_t most[ROUNDS][COPIES][WRITERS][PAGES];
	bool over[ROUNDS];		/* there will be no further copy */
} run;

static unsigned long all_stores, all_copied, all_killed;	/* of all seeds */

/* What a child's thread may rely on: until its process is being killed. */
#define child_check(condition) do { \
	bool holds = (condition); \
\
	coro_check(holds || run.dying); \
} while (0)

static uintptr_t
place(unsigned round, unsigned writer, unsigned page)
{
	return (uintptr_t)shared.area[round] + page * PAGE + 512 * writer;
}

/* --- in the copy --- */

static void
look_at_copy(unsigned round, unsigned copy, uint32_t (*seen)[PAGES], bool first)
{
	for (unsigned w = 0; w < WRITERS; w++)
		for (unsigned p = 0; p < PAGES; p++) {
			uint32_t value = coro_user_load32(place(round, w, p));

			child_check(value >= run.least[round][copy][w][p] &&
				value <= run.most[round][copy][w][p]);
			child_check(first || value == seen[w][p]);
			seen[w][p] = value;
		}
}

static void
copied(uintptr_t arg)
{
	unsigned round = (unsigned)arg / COPIES, copy = (unsigned)arg % COPIES;
	unsigned w = coro_random(WRITERS), p = coro_random(PAGES);
	uint32_t seen[WRITERS][PAGES];

	look_at_copy(round, copy, seen, true);
	KC(KC_THREAD_YIELD);
	look_at_copy(round, copy, seen, false);
	coro_user_store32(place(round, w, p) + 4, OWN + copy);
	look_at_copy(round, copy, seen, false);
	child_check(coro_user_load32(place(round, w, p) + 4) == OWN + copy);
	all_copied++;
	for (;;)
		KC(KC_PROC_EXIT, 7);
}

/* --- in the process that is copied --- */

static void
count(unsigned round, unsigned me)
{
	unsigned p = coro_random(PAGES), q = coro_random(PAGES), other = coro_random(WRITERS);
	uint32_t next = run.written[round][me][p] + 1;

	child_check(coro_user_load32(place(round, me, p)) == next - 1);
	run.begun[round][me][p] = next;
	coro_user_store32(place(round, me, p), next);
	run.written[round][me][p] = next;
	child_check(coro_user_load32(place(round, me, p)) == next);
	/* of another: what it had written before, or later */
	next = run.written[round][other][q];
	child_check(coro_user_load32(place(round, other, q)) >= next);
	/* no copy's own word is seen here */
	child_check(coro_user_load32(place(round, me, p) + 4) < OWN);
	all_stores++;
}

/* Pages come without a write. */
static void
populate(unsigned round)
{
	unsigned first = coro_random(PAGES);
	long n = KC(KC_PAGE_POPULATE, shared.area[round] + first * PAGE, PAGES,
		coro_random(3) != 0 ? RW : PAGE_READ);

	child_check(n == (long)(PAGES - first));
}

static void
writer(uintptr_t arg)
{
	unsigned round = (unsigned)arg / THREADS, me = (unsigned)arg % THREADS;

	while (!run.over[round]) {
		if (coro_random(6) == 0)
			populate(round);
		count(round, me);
		if (coro_random(3) == 0)
			KC(KC_THREAD_YIELD);
	}
	for (unsigned p = 0; p < PAGES; p++)
		child_check(coro_user_load32(place(round, me, p)) == run.written[round][me][p]);
	for (;;)
		KC(KC_THREAD_EXIT, 0);
}

static void
copy_once(unsigned round, unsigned copy)
{
	long proc = KC(KC_PROC_CREATE);
	bool killed = coro_random(4) == 0;
	long e;

	child_check(proc > 0);
	memcpy(run.least[round][copy], run.written[round], sizeof(run.written[round]));
	e = KC(KC_PAGE_COPY, proc, shared.area[round], PAGES, shared.area[round]);
	child_check(e == 0);
	memcpy(run.most[round][copy], run.begun[round], sizeof(run.begun[round]));
	coro_user_context(&shared.copy_ctx[round][copy], copied,
		shared.copy_stack[round][copy] + STACK_BYTES, round * COPIES + copy);
	if (e == 0)
		child_check(KC(KC_PROC_START, proc, &shared.copy_ctx[round][copy], ANY_CORE) == 0);
	if (killed)
		child_check(KC(KC_PROC_KILL, proc, 7) == 0);
	child_check(KC(KC_PROC_WAIT, proc, &shared.copy_status[round], FOREVER) == 0);
	child_check(shared.copy_status[round].status == 7);
	child_check(KC(KC_HANDLE_CLOSE, proc) == 0);
}

static void
copier(uintptr_t round)
{
	long e = KC(KC_MEM_ALLOC, SELF, PAGES * PAGE, RW | PAGE_LAZY, &shared.area[round]);

	child_check(e == 0);
	for (unsigned p = 0; p < PAGES && run.touched[round]; p++)
		coro_user_store32(place(round, 0, p) + 4, p);
	for (unsigned i = 0; i < WRITERS; i++) {
		coro_user_context(&shared.ctx[round][i], writer,
			shared.stack[round][i] + STACK_BYTES, round * THREADS + i);
		child_check(KC(KC_THREAD_CREATE, &shared.ctx[round][i], ANY_CORE) > 0);
	}
	for (unsigned i = 0; i < COPIES; i++)
		copy_once((unsigned)round, i);
	run.over[round] = true;
	for (;;)
		KC(KC_THREAD_EXIT, 0);
}

static void
one_round(unsigned round)
{
	long proc = KC(KC_PROC_CREATE);

	run.round = round;
	run.dying = false;
	run.killed[round] = coro_random(3) == 0;
	run.touched[round] = coro_random(2);
	coro_check(proc > 0);
	coro_user_context(&shared.mine, copier, shared.stack[round][WRITERS] + STACK_BYTES, round);
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
	all_killed += shared.status.cause == CRASH_KILLED;
	coro_check(KC(KC_HANDLE_CLOSE, proc) == 0);
}

static void
program(uintptr_t arg)
{
	uint64_t frames, pieces;

	(void)arg;
	frames = program_stats(STATS_FRAMES_FREE);
	pieces = program_stats(STATS_PIECE_PAGES);
	for (unsigned i = 0; i < ROUNDS; i++)
		one_round(i);
	/* a copy whose maker was killed ends by itself */
	while (program_stats(STATS_PROCS) > 1)
		KC(KC_THREAD_YIELD);
	coro_check(program_stats(STATS_FRAMES_FREE) == frames);
	coro_check(program_stats(STATS_PIECE_PAGES) == pieces);
	coro_finish(0);
}

static void
dump(void)
{
	printf("round %u, killed %d, touched %d\n", run.round, run.killed[run.round],
		run.touched[run.round]);
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {.name = "a_copy_keeps_what_it_had",
		.seeds = 1000, .shared = &shared, .shared_bytes = sizeof(shared), .main = program,
		.state = &run, .state_bytes = sizeof(run), .dump = dump};
	unsigned long seeds = program_seeds(&test, argc, argv);

	if (seeds == 0)
		return 1;
	if (seeds >= 100 && (all_stores == 0 || all_copied == 0 || all_killed == 0)) {
		printf("FAIL a_copy_keeps_what_it_had: %lu stores, %lu copies, %lu killed\n",
			all_stores, all_copied, all_killed);
		return 1;
	}
	printf("ok a_copy_keeps_what_it_had (%lu seeds, %lu stores, %lu copies, %lu killed)\n",
		seeds, all_stores, all_copied, all_killed);
	return 0;
}
