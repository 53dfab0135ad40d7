/* SPDX-License-Identifier: MIT
 *
 * Shoot-down of the real kernel under the coroutine scheduler. Processes on several cores write
 * through mappings that others take away or narrow, in turns and all at once: after the call has
 * returned nobody gets through, a frame is free only after that, and in the end every frame is
 * back. Large pages of which only some can be had: nobody ever sees one of these. And processes
 * that are killed while they map and unmap a large page, which takes many messages: every frame is
 * back, whatever had a reference. The same where a page is mapped into the addresses of calls that
 * fail. And memory that was given back can be had again at once, however late a core acknowledges
 * the shoot-down of another process.
 *
 * usage: kernel_memory [COUNT [FIRST]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <tests/coroutine/program.h>

#define CORES 4
#define WORKERS 2			/* writers, each in a process of its own */
#define ROUNDS 3
#define PAGE 4096ul
#define STACK_BYTES (32 * 1024)
#define RW (PAGE_READ | PAGE_WRITE)
#define IN_LARGE 512
#define LARGE (IN_LARGE * PAGE)
#define BLOCKS_MAX 8
#define WANTED 40			/* pages */
#define PEEKER 3			/* the core of who looks for large pages */
#define DEAF_CORE 2
#define AGAIN 4

static struct {
	_Alignas(64) unsigned char stack[CORES][2][STACK_BYTES];
	struct context ctx[CORES];
	uint64_t value[CORES];
	struct proc_status status[CORES];
	struct proc_quota quota;
} shared;

static struct {
	unsigned long addr[CORES];
	/* the mapping was taken away: no write may succeed any more */
	bool narrowed[CORES];
	bool written[CORES];
	unsigned ended;
	uint64_t frames;
	int step[CORES];
	long deaf;			/* handle of a process whose core does not listen */
	unsigned first_core;		/* 0 if home runs threads, too */
	enum { WRITERS, HALF_WAY, KILLED, FAILED, DEAF } about;
	bool over;
} run;

static uint64_t
stats(unsigned me, int what)
{
	coro_check(KC(KC_STATS, what, &shared.value[me]) == 0);
	return shared.value[me];
}

/* Writes until it faults: then the process dies. */
static void
writer(uintptr_t me)
{
	for (;;) {
		bool allowed = !run.narrowed[me];

		coro_user_store32(run.addr[me], 1);
		/* the store went through: it must have been allowed at some time since we looked */
		coro_check(allowed);
		run.written[me] = true;
		if (coro_random(3) == 0)
			KC(KC_THREAD_YIELD);
	}
}

/* One round: a child that writes, a frame taken away under it. */
static void
round_of(unsigned me, unsigned n)
{
	long proc = KC(KC_PROC_CREATE);
	long memory = KC(KC_MEMORY_CREATE, 1);
	int core = (int)(run.first_core + (me + n) % (CORES - run.first_core));
	struct page_info *info = (struct page_info *)&shared.status[me];

	coro_check(proc > 0 && memory > 0);
	coro_check(KC(KC_MEM_ALLOC, proc, PAGE, 0, &shared.value[me]) == 0);
	run.addr[me] = (unsigned long)shared.value[me];
	run.narrowed[me] = run.written[me] = false;
	coro_check(KC(KC_PAGE_MAP, proc, run.addr[me], memory, 0, 1, RW) == 0);
	coro_user_context(&shared.ctx[me], writer, shared.stack[me][n % 2] + STACK_BYTES, me);
	coro_check(KC(KC_PROC_START, proc, &shared.ctx[me], core) == 0);
	run.step[me] = 1;
	for (unsigned i = coro_random(20); i > 0; i--)
		KC(KC_THREAD_YIELD);
	run.step[me] = 2;
	coro_check(KC(KC_PAGE_QUERY, proc, run.addr[me], info) == 0);
	coro_check(info->references == 2);
	if (coro_random(2))
		coro_check(KC(KC_PAGE_UNMAP, proc, run.addr[me], 1) == 0);
	else
		coro_check(KC(KC_PAGE_PROTECT, proc, run.addr[me], 1, PAGE_READ) == 0);
	run.narrowed[me] = true;
	coro_check(KC(KC_HANDLE_CLOSE, memory) == 0);
	run.step[me] = 3;
	coro_check(KC(KC_PROC_WAIT, proc, &shared.status[me], FOREVER) == 0);
	coro_check(shared.status[me].cause == CRASH_ACCESS);
	coro_check(KC(KC_HANDLE_CLOSE, proc) == 0);
	run.step[me] = 4;
}

static void
program(uintptr_t me)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		round_of((unsigned)me, i);
	run.step[me] = 5;
	if (++run.ended == WORKERS)
		coro_check(stats((unsigned)me, STATS_FRAMES_FREE) + 16 >= run.frames);
	else
		program_exit();
	/* the other one is gone, too, when its process is */
	while (stats((unsigned)me, STATS_PROCS) > 1)
		KC(KC_THREAD_YIELD);
	run.frames = stats((unsigned)me, STATS_FRAMES_FREE);
	round_of((unsigned)me, 7);
	coro_check(stats((unsigned)me, STATS_FRAMES_FREE) == run.frames);
	coro_finish(0);
}

/* Writes to the large pages as soon as they are there; a call survives it if they are not. */
static void
peeker(uintptr_t addr)
{
	while (!run.over)
		coro_check(KC(KC_CLUSTER_INFO, addr) == -E_FAULT);
	program_exit();
}

/*
 * Free memory in which only one large page is left in one piece: of all others the first page is
 * mapped.
 */
static void
fragment(void)
{
	long block[BLOCKS_MAX];
	int n = 0;
	uint64_t free;

	coro_check(KC(KC_MEM_ALLOC, SELF, BLOCKS_MAX * PAGE, 0, &shared.value[0]) == 0);
	while (n < BLOCKS_MAX && (block[n] = KC(KC_MEMORY_CREATE, IN_LARGE)) > 0)
		n++;
	coro_check(n >= 3 && n < BLOCKS_MAX);
	for (int i = 1; i < n; i++)
		coro_check(KC(KC_PAGE_MAP, SELF, shared.value[0] + (uint64_t)i * PAGE, block[i], 0,
			1, PAGE_READ) == 0);
	free = stats(1, STATS_FRAMES_FREE);
	for (int i = 0; i < n; i++)
		coro_check(KC(KC_HANDLE_CLOSE, block[i]) == 0);
	while (stats(1, STATS_FRAMES_FREE) < free + (uint64_t)n * IN_LARGE - (uint64_t)n + 1)
		KC(KC_THREAD_YIELD);
}

/*
 * Two large pages are wanted where one is; what it was made of is used for something else at once.
 */
static void
half_way(uintptr_t me)
{
	unsigned long addr;
	long block;

	coro_check(KC(KC_MEM_ALLOC, SELF, 2 * LARGE, RW | PAGE_LARGE, &shared.value[me]) == 0);
	addr = (unsigned long)shared.value[me];
	coro_check(KC(KC_PAGE_UNMAP, SELF, addr, 2 * IN_LARGE) == 0);
	fragment();
	coro_user_context(&shared.ctx[me], peeker, shared.stack[me][0] + STACK_BYTES, addr);
	coro_check(KC(KC_THREAD_CREATE, &shared.ctx[me], PEEKER) > 0);
	for (unsigned i = coro_random(20); i > 0; i--)
		KC(KC_THREAD_YIELD);
	coro_check(KC(KC_MEM_ALLOC, SELF, 2 * LARGE, RW | PAGE_LARGE, &shared.value[me]) ==
		-E_NOMEM);
	block = KC(KC_MEMORY_CREATE, IN_LARGE);
	coro_check(block > 0);
	coro_check(KC(KC_MEM_ALLOC, SELF, PAGE, 0, &shared.value[me]) == 0);
	addr = (unsigned long)shared.value[me];
	coro_check(KC(KC_PAGE_MAP, SELF, addr, block, 0, 1, PAGE_READ) == 0);
	for (unsigned i = 0; i < 20; i++) {
		coro_check(coro_user_load32(addr) == 0);
		KC(KC_THREAD_YIELD);
	}
	run.over = true;
	coro_finish(0);
}

/* The same with one page through a view. */
static void
borrower(uintptr_t me)
{
	long memory = KC(KC_MEMORY_CREATE, 1),
		view = KC(KC_HANDLE_DUPLICATE, memory, SELF, RIGHTS_ALL | HANDLE_VIEW);

	coro_check(view > 0 && KC(KC_MEM_ALLOC, SELF, PAGE, 0, &shared.value[me]) == 0);
	for (run.written[me] = true;;) {
		coro_check(KC(KC_PAGE_MAP, SELF, shared.value[me], view, 0, 1, RW) == 0);
		coro_check(KC(KC_PAGE_UNMAP, SELF, shared.value[me], 1) == 0);
	}
}

/* Maps frames of its own as a large page, and unmaps it, for ever. */
static void
mapper(uintptr_t me)
{
	unsigned long addr;
	long memory;

	coro_check(KC(KC_MEM_ALLOC, SELF, LARGE, RW | PAGE_LARGE, &shared.value[me]) == 0);
	addr = (unsigned long)shared.value[me];
	coro_check(KC(KC_PAGE_UNMAP, SELF, addr, IN_LARGE) == 0);
	memory = KC(KC_MEMORY_CREATE, IN_LARGE);
	coro_check(memory > 0);
	for (;;) {
		coro_check(KC(KC_PAGE_MAP, SELF, addr, memory, 0, 1, RW | PAGE_LARGE) == 0);
		coro_check(KC(KC_PAGE_UNMAP, SELF, addr, IN_LARGE) == 0);
		run.written[me] = true;
	}
}

/* Wants more than is left while another does. */
static void
greedy(uintptr_t me)
{
	for (;; KC(KC_THREAD_YIELD))
		if (KC(KC_MEM_ALLOC, SELF, WANTED * PAGE, RW, &shared.value[me]) == 0)
			KC(KC_PAGE_UNMAP, SELF, shared.value[me], WANTED);
}

/*
 * Maps a page where calls of others, which fail, have claimed addresses, and unmaps it, if it is
 * still there.
 */
static void
intruder(uintptr_t me)
{
	unsigned long addr;
	long memory = KC(KC_MEMORY_CREATE, 1);

	coro_check(memory > 0 && KC(KC_MEM_ALLOC, SELF, 2 * WANTED * PAGE, 0, &shared.value[me]) ==
		0);
	addr = (unsigned long)shared.value[me];
	coro_check(KC(KC_PAGE_UNMAP, SELF, addr, 2 * WANTED) == 0);
	for (unsigned i = 0; i < 2; i++) {
		coro_user_context(&shared.ctx[i], greedy, shared.stack[i][1] + STACK_BYTES,
			i ? CORES - 1 : 0);
		coro_check(KC(KC_THREAD_CREATE, &shared.ctx[i], ANY_CORE) > 0);
	}
	for (run.written[me] = true;; KC(KC_THREAD_YIELD)) {
		unsigned long at = addr + coro_random(2 * WANTED) * PAGE;

		if (KC(KC_PAGE_MAP, SELF, at, memory, 0, 1, RW) != 0)
			continue;
		for (unsigned i = coro_random(8); i > 0; i--)
			KC(KC_VOID_REMOTE);
		KC(KC_PAGE_UNMAP, SELF, at, 1);
	}
}

/* Frames that are free after it: as many as before. */
static uint64_t
kill_a_mapper(unsigned me)
{
	long proc = KC(KC_PROC_CREATE);

	coro_check(proc > 0);
	shared.quota = (struct proc_quota){.bytes = run.about == FAILED ? 2 * WANTED * PAGE :
		UINT64_MAX, .threads = 3, .processes = 1};
	coro_check(KC(KC_PROC_QUOTA, proc, &shared.quota) == 0);
	coro_user_context(&shared.ctx[me], run.about == FAILED ? intruder : coro_random(2) ?
		borrower : mapper,
		shared.stack[me + 1][0] + STACK_BYTES, me + 1);
	coro_check(KC(KC_PROC_START, proc, &shared.ctx[me], (int)me + 1) == 0);
	while (!run.written[me + 1])
		KC(KC_THREAD_YIELD);
	run.written[me + 1] = false;
	for (unsigned i = coro_random(60); i > 0; i--)
		KC(KC_VOID_REMOTE);
	coro_check(KC(KC_PROC_KILL, proc, 5) == 0);
	coro_check(KC(KC_PROC_WAIT, proc, &shared.status[me], FOREVER) == 0);
	coro_check(KC(KC_HANDLE_CLOSE, proc) == 0);
	return stats(me, STATS_FRAMES_FREE);
}

static void
killer(uintptr_t me)
{
	uint64_t frames = kill_a_mapper((unsigned)me);

	for (unsigned i = 0; i < 4; i++)
		coro_check(kill_a_mapper((unsigned)me) == frames);
	coro_finish(0);
}

/* Its core takes no interrupt while this runs. */
static void
deaf(uintptr_t me)
{
	run.written[me] = true;
	while (!run.over)
		coro_point();
	program_exit();
}

/* All that its limit allows, given up, and again, while the core of another process is deaf. */
static void
takes_again(uintptr_t me)
{
	for (unsigned i = 0; i < AGAIN; i++) {
		coro_check(KC(KC_MEM_ALLOC, SELF, WANTED * PAGE, RW, &shared.value[me]) == 0);
		coro_check(KC(KC_MEM_ALLOC, SELF, WANTED * PAGE, RW, &shared.value[0]) == -E_NOMEM);
		coro_check(KC(KC_PAGE_UNMAP, SELF, shared.value[me], WANTED) == 0);
	}
	run.over = true;
	program_exit();
}

/*
 * A page of the deaf process is gone: its shoot-down runs. Neither its frame nor that of a table is
 * free before that has ended.
 */
static void
starter(uintptr_t proc)
{
	struct page_info *info = (struct page_info *)&shared.status[PEEKER];

	while (KC(KC_PAGE_QUERY, run.deaf, run.addr[DEAF_CORE], info) == 0)
		KC(KC_THREAD_YIELD);
	coro_check(stats(PEEKER, STATS_FRAMES_FREE) == run.frames);
	coro_user_context(&shared.ctx[0], takes_again, shared.stack[0][0] + STACK_BYTES, PEEKER);
	coro_check(KC(KC_PROC_START, proc, &shared.ctx[0], PEEKER) == 0);
	for (;;)
		KC(KC_THREAD_SLEEP, WAKE_ANY, FOREVER);
}

static void
beside_deaf(uintptr_t me)
{
	long eats = KC(KC_PROC_CREATE);

	run.deaf = KC(KC_PROC_CREATE);
	coro_check(eats > 0 && run.deaf > 0);
	shared.quota = (struct proc_quota){(2 * WANTED - 1) * PAGE, 1, 1};
	coro_check(KC(KC_PROC_QUOTA, eats, &shared.quota) == 0);
	coro_check(KC(KC_MEM_ALLOC, run.deaf, PAGE, RW, &shared.value[me]) == 0);
	run.addr[DEAF_CORE] = (unsigned long)shared.value[me];
	coro_user_context(&shared.ctx[2], deaf, shared.stack[2][0] + STACK_BYTES, DEAF_CORE);
	coro_check(KC(KC_PROC_START, run.deaf, &shared.ctx[2], DEAF_CORE) == 0);
	while (!run.written[DEAF_CORE])
		KC(KC_THREAD_YIELD);
	coro_user_context(&shared.ctx[3], starter, shared.stack[3][0] + STACK_BYTES,
		(uintptr_t)eats);
	coro_check(KC(KC_THREAD_CREATE, &shared.ctx[3], PEEKER) > 0);
	run.frames = stats((unsigned)me, STATS_FRAMES_FREE);
	coro_check(KC(KC_PAGE_UNMAP, run.deaf, run.addr[DEAF_CORE], 1) == 0);
	coro_check(run.over);
	coro_finish(0);
}

unsigned
program_on(unsigned cluster, unsigned core, struct program *programs, unsigned max)
{
	void (*const fn[])(uintptr_t) = {program, half_way, killer, killer, beside_deaf};

	(void)max;
	programs[0] = (struct program){fn[run.about], core};
	return cluster == 0 && core >= 1 && core <= (run.about == WRITERS ? WORKERS : 1);
}

static void
dump(void)
{
	for (unsigned i = 1; i <= WORKERS; i++)
		printf("program %u: step %d narrowed %d written %d addr %lx\n", i, run.step[i],
			run.narrowed[i], run.written[i], run.addr[i]);
}

static bool
passes(const char *test, unsigned long seed, int about)
{
	struct coro_config config = {.core = program_core, .dump = dump, .seed = seed};
	struct boot_record record;
	struct coro_result result;

	coro_record(&record, 1, CORES);
	memset(&run, 0, sizeof(run));
	run.about = about;
	run.first_core = seed % 4 != 0;
	record.roles[0] = run.first_core == 0 ? ROLE_TC : ROLE_KC;
	if (about != WRITERS)
		record.cluster[0].mem_bytes = 5 * LARGE;
	config.record = &record;
	program_begin(&shared, sizeof(shared));
	if (coro_run(&config, &result, false))
		return true;
	printf("FAIL %s: seed %lu\n", test, seed);
	return false;
}

int
main(int argc, char **argv)
{
	static const char *const test[] =
		{"nobody_writes_through_a_mapping_that_is_gone",
		"large_pages_are_all_there_or_never_were",
		"who_dies_with_a_large_page_half_mapped_leaves_nothing",
		"what_is_mapped_into_a_call_that_fails_is_not_lost",
		"what_was_given_back_can_be_had_while_a_core_does_not_listen"};
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 0) : 2000,
		first = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
	bool failed = false;

	for (int about = WRITERS; about <= DEAF; about++) {
		unsigned long seeds = about != WRITERS ? (count + 9) / 10 : count, seed = first;

		while (seed < first + seeds && passes(test[about], seed, about))
			seed++;
		failed |= seed < first + seeds;
		if (seed == first + seeds)
			printf("ok %s (%lu seeds)\n", test[about], seeds);
	}
	return failed;
}
