/* SPDX-License-Identifier: MIT
 *
 * Pages that change their size, under the coroutine scheduler, whose cores remember translations
 * and tables that they have walked. One thread of a process makes small pages of a large one, takes
 * a right of some away, gives it back and asks for the large page again; another, on another core,
 * reads and writes there all the time, and a third takes each frame that becomes free at once and
 * fills it with something else. What may be written to can be written to, nobody writes after a
 * call has taken the right away, what was written is there, and in the end every frame is back.
 *
 * usage: kernel_large [COUNT [FIRST]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <tests/coroutine/program.h>

#define CORES 4
#define OWNER 1			/* cores */
#define USER 2
#define TAKER 3
#define ROUNDS 2
#define PAGE 4096ul
#define STACK_BYTES (32 * 1024)
#define RW (PAGE_READ | PAGE_WRITE)
#define IN_LARGE 512
#define LARGE (IN_LARGE * PAGE)
#define STAYS 4				/* pages that are never given up, and those behind them */
#define GOES (IN_LARGE - 2)
#define MARK 64				/* where the page says its number */

static struct {
	_Alignas(64) unsigned char stack[CORES][STACK_BYTES];
	struct context ctx[CORES];
	uint64_t value[CORES];
	struct page_info info;
} shared;

static struct {
	unsigned long at;		/* 0: there is no memory */
	unsigned changes;		/* begun, and over */
	bool narrow[IN_LARGE];		/* a right is being, or was, taken away */
	bool may[IN_LARGE];		/* somebody might still write */
	bool over;
	unsigned gone;			/* threads that have ended */
	uint64_t frames;
} run;

static unsigned long all_wrote, all_refused;

static uint64_t
frames_free(unsigned me)
{
	coro_check(KC(KC_STATS, STATS_FRAMES_FREE, &shared.value[me]) == 0);
	return shared.value[me];
}

static void
thread_ends(void)
{
	run.gone++;
	for (;;)
		KC(KC_THREAD_EXIT, 0);
}

/* A call that writes its result there says whether it could. */
static void
try(unsigned page)
{
	unsigned long at = run.at;
	bool narrow = run.narrow[page], may = run.may[page];
	unsigned changes = run.changes;
	long r = KC(KC_CLUSTER_INFO, at + page * PAGE);

	if (r == 0)
		coro_check(may || run.may[page] || changes != run.changes);
	else
		coro_check(narrow || run.narrow[page] || changes != run.changes);
	all_wrote += r == 0;
	all_refused += r != 0;
}

static void
user(uintptr_t me)
{
	(void)me;
	while (!run.over) {
		unsigned page = coro_random(2) ? coro_random(STAYS) : coro_random(IN_LARGE);

		if (run.at == 0) {
			KC(KC_THREAD_YIELD);
			continue;
		}
		try(page);
		if (page < STAYS && run.at != 0)
			coro_check(coro_user_load32(run.at + page * PAGE + MARK) == page + 1);
	}
	thread_ends();
}

/* What becomes free is used at once, and filled. */
static void
taker(uintptr_t me)
{
	(void)me;
	while (!run.over) {
		long memory = KC(KC_MEMORY_CREATE, 1 + coro_random(2));

		if (memory > 0)
			coro_check(KC(KC_HANDLE_CLOSE, memory) == 0);
	}
	thread_ends();
}

static void
protect(unsigned first, unsigned pages, int prot)
{
	coro_check(KC(KC_PAGE_PROTECT, SELF, run.at + first * PAGE, pages, prot) == 0);
}

static uint32_t
prot_of(unsigned page)
{
	coro_check(KC(KC_PAGE_QUERY, SELF, run.at + page * PAGE, &shared.info) == 0);
	return shared.info.prot;
}

/* The right is taken away: while the call runs a write may succeed or not, and then it may not. */
static void
narrow(unsigned first, unsigned pages)
{
	for (unsigned i = first; i < first + pages; i++)
		run.narrow[i] = true;
	protect(first, pages, PAGE_READ);
	for (unsigned i = first; i < first + pages; i++)
		run.may[i] = false;
}

/* It is given back, and the pages become a large one. */
static void
widen(void)
{
	memset(run.may, true, sizeof(run.may));
	protect(0, IN_LARGE, RW | PAGE_LARGE);
	memset(run.narrow, false, sizeof(run.narrow));
	coro_check(prot_of(3) == (RW | PAGE_LARGE));
}

static void
round_of(void)
{
	unsigned first = coro_random(IN_LARGE - 8), pages = 1 + coro_random(8);

	narrow(first, pages);
	coro_check(prot_of(first) == PAGE_READ);
	for (unsigned i = coro_random(10); i > 0; i--)
		KC(KC_VOID_REMOTE);
	widen();
	for (unsigned i = coro_random(10); i > 0; i--)
		KC(KC_VOID_REMOTE);
}

/* The last pages are given up, and the others stay small. */
static void
give_up(void)
{
	for (unsigned i = GOES; i < IN_LARGE; i++)
		run.narrow[i] = true;
	coro_check(KC(KC_PAGE_UNMAP, SELF, run.at + GOES * PAGE, IN_LARGE - GOES) == 0);
	for (unsigned i = GOES; i < IN_LARGE; i++)
		run.may[i] = false;
	coro_check(prot_of(3) == RW);
}

static void
life(unsigned me)
{
	unsigned long at;

	coro_check(KC(KC_MEM_ALLOC, SELF, LARGE, RW | PAGE_LARGE, &shared.value[me]) == 0);
	at = (unsigned long)shared.value[me];
	for (unsigned i = 0; i < STAYS; i++)
		coro_user_store32(at + i * PAGE + MARK, i + 1);
	memset(run.may, true, sizeof(run.may));
	memset(run.narrow, false, sizeof(run.narrow));
	run.at = at;
	for (unsigned i = 0; i < ROUNDS; i++)
		round_of();
	give_up();
	for (unsigned i = coro_random(10); i > 0; i--)
		KC(KC_VOID_REMOTE);
	run.over = true;
	while (run.gone < 2)
		KC(KC_THREAD_YIELD);
	coro_check(KC(KC_PAGE_UNMAP, SELF, at, GOES) == 0);
}

static void
owner(uintptr_t me)
{
	long tid[2];

	run.frames = frames_free((unsigned)me);
	coro_user_context(&shared.ctx[USER], user, shared.stack[USER] + STACK_BYTES, USER);
	coro_user_context(&shared.ctx[TAKER], taker, shared.stack[TAKER] + STACK_BYTES, TAKER);
	tid[0] = KC(KC_THREAD_CREATE, &shared.ctx[USER], USER);
	tid[1] = KC(KC_THREAD_CREATE, &shared.ctx[TAKER], TAKER);
	coro_check(tid[0] > 0 && tid[1] > 0);
	life((unsigned)me);
	for (unsigned i = 0; i < 2; i++)
		coro_check(KC(KC_THREAD_JOIN, tid[i], &shared.value[me], FOREVER) == 0);
	/* pieces for threads and memory stay with the kernel: a few pages */
	while (frames_free((unsigned)me) + 4 < run.frames)
		KC(KC_THREAD_YIELD);
	coro_finish(0);
}

unsigned
program_on(unsigned cluster, unsigned core, struct program *programs, unsigned max)
{
	(void)max;
	programs[0] = (struct program){owner, core};
	return cluster == 0 && core == OWNER;
}

static void
dump(void)
{
	printf("at %lx over %d gone %u\n", run.at, run.over, run.gone);
}

static void
begin(struct coro_config *config, struct boot_record *record, unsigned long seed)
{
	(void)config;
	record->roles[0] = seed % 4 == 0 ? ROLE_TC : ROLE_KC;
	record->cluster[0].mem_bytes = 5 * LARGE;
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {
		.name = "pages_change_their_size_under_who_uses_them", .seeds = 1000,
		.shared = &shared, .shared_bytes = sizeof(shared), .state = &run,
		.state_bytes = sizeof(run), .clusters = 1, .cores = CORES, .begin = begin,
		.dump = dump};
	unsigned long count = program_seeds(&test, argc, argv);

	if (count == 0)
		return 1;
	/* that nothing was tried is no proof */
	if (count >= 20 && (all_wrote == 0 || all_refused == 0)) {
		printf("FAIL %s: %lu written, %lu refused\n", test.name, all_wrote, all_refused);
		return 1;
	}
	printf("ok %s (%lu seeds)\n", test.name, count);
	return 0;
}
