/* SPDX-License-Identifier: MIT
 *
 * Pages of two sizes: a large one of which a part is given up or protected becomes small ones, and
 * small ones that could be a large one become it when that is asked for. What lies in them stays,
 * also for threads that use it meanwhile, and nothing is lost. On or1k sizes do not change.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 */
#include <base/str.h>
#include <tests/kernel/ktest.h>

#define PAGE kt_page_bytes()
#define RW (PAGE_READ | PAGE_WRITE)
#define ROUNDS 20

/* what a child does */
enum role { NONE, CHANGES_FOR_EVER, IS_POOR, READS_COPY };

static size_t large_bytes;
static unsigned in_large;	/* small pages in a large one */

/* Do pages change their size on this port? And is there memory for large ones at all? */
static bool
may_change(void)
{
	struct cluster_info info;
	uint64_t at;

	if (large_bytes == 0) {
		expect_eq(kcluster_info(&info), 0);
		large_bytes = info.large_page_bytes;
		in_large = (unsigned)(large_bytes / PAGE);
	}
	if (kmem_alloc(SELF, large_bytes, RW | PAGE_LARGE, &at) != 0)
		return false;
	expect_eq(kpage_unmap(SELF, (unsigned long)at, (int)in_large), 0);
	return PAGE == 4096;
}

static volatile uint32_t *
word_at(uint64_t at, unsigned page)
{
	return (volatile uint32_t *)(uintptr_t)(at + page * PAGE);
}

static void
fill(uint64_t at)
{
	for (unsigned i = 0; i < in_large; i++)
		*word_at(at, i) = i + 1;
}

/* How many of these pages do not hold what fill put there. */
static unsigned
wrong_in(uint64_t at, unsigned first, unsigned last)
{
	unsigned wrong = 0;

	for (unsigned i = first; i < last; i++)
		wrong += *word_at(at, i) != i + 1;
	return wrong;
}

static uint64_t
new_large(void)
{
	uint64_t at = 0;

	expect_eq(kmem_alloc(SELF, large_bytes, RW | PAGE_LARGE, &at), 0);
	return at;
}

/* Addresses aligned to a large page at which nothing is claimed, with as much behind them. */
static uint64_t
free_large(int proc)
{
	uint64_t at = 0, start;

	if (kmem_alloc(proc, 3 * large_bytes, 0, &at) != 0 ||
		kpage_unmap(proc, (unsigned long)at, (int)(3 * in_large)) != 0)
		return 0;
	start = at + large_bytes - 1;
	return start - start % large_bytes;
}

static uint32_t
prot_at(uint64_t at, unsigned page)
{
	struct page_info info = {.frame = -2};

	return kpage_query(SELF, (unsigned long)at + page * PAGE, &info) != 0 ? 0 : info.prot;
}

static long
protect(uint64_t at, unsigned first, unsigned pages, int prot)
{
	return kpage_protect(SELF, (unsigned long)(at + first * PAGE), (int)pages, prot);
}

static void
unmap(uint64_t at, unsigned first, unsigned pages)
{
	expect_eq(kpage_unmap(SELF, (unsigned long)(at + first * PAGE), (int)pages), 0);
}

/* test: page_unmap */
TEST(a_large_page_of_which_a_part_goes_becomes_small_ones)
{
	uint64_t frames, at;

	if (!may_change())
		return;
	frames = kt_stats(STATS_FRAMES_FREE);
	for (unsigned round = 0; round < 2; round++) {
		at = new_large();
		fill(at);
		expect_eq(prot_at(at, 0), RW | PAGE_LARGE);
		unmap(at, 5, 20);
		expect_eq(prot_at(at, 4), RW);
		expect_eq(prot_at(at, 5), 0);
		expect_eq(prot_at(at, 24), 0);
		expect_eq(prot_at(at, 25), RW);
		expect_eq(wrong_in(at, 0, 5) + wrong_in(at, 25, in_large), 0);
		unmap(at, 0, 5);
		unmap(at, in_large - 1, 1);
		expect_eq(wrong_in(at, 25, in_large - 1), 0);
		unmap(at, 25, in_large - 26);
		expect_eq(kt_stats(STATS_FRAMES_FREE), frames);
	}
}

/* A range that begins in one large page and ends in another. */
TEST(two_large_pages_are_cut_at_both_ends_of_a_range)
{
	uint64_t frames, at = 0;

	if (!may_change())
		return;
	frames = kt_stats(STATS_FRAMES_FREE);
	if (kmem_alloc(SELF, 3 * large_bytes, RW | PAGE_LARGE, &at) != 0)
		return;
	fill(at);
	fill(at + 2 * large_bytes);
	expect_eq(protect(at, in_large - 3, in_large + 7, PAGE_READ), 0);
	expect_eq(prot_at(at, in_large - 4), RW);
	expect_eq(prot_at(at, in_large - 3), PAGE_READ);
	expect_eq(prot_at(at, in_large), PAGE_READ | PAGE_LARGE);
	expect_eq(prot_at(at, 2 * in_large + 3), PAGE_READ);
	expect_eq(prot_at(at, 2 * in_large + 4), RW);
	unmap(at, in_large - 3, in_large + 7);
	expect_eq(wrong_in(at, 0, in_large - 3), 0);
	expect_eq(wrong_in(at + 2 * large_bytes, 4, in_large), 0);
	unmap(at, 0, in_large - 3);
	unmap(at, 2 * in_large + 4, in_large - 4);
	expect_eq(kt_stats(STATS_FRAMES_FREE), frames);
}

/* test: page_protect */
TEST(a_part_that_is_protected_makes_small_pages_and_asking_makes_a_large_one_again)
{
	uint64_t frames, at;

	if (!may_change())
		return;
	frames = kt_stats(STATS_FRAMES_FREE);
	at = new_large();
	fill(at);
	expect_eq(protect(at, 3, 2, PAGE_READ), 0);
	expect_eq(prot_at(at, 2), RW);
	expect_eq(prot_at(at, 3), PAGE_READ);
	expect_eq(prot_at(at, 4), PAGE_READ);
	expect_eq(prot_at(at, 5), RW);
	/* all of it has to be meant */
	expect_eq(protect(at, 0, in_large - 1, RW | PAGE_LARGE), 0);
	expect_eq(prot_at(at, 3), RW);
	expect_eq(protect(at, 0, in_large, PAGE_READ | PAGE_LARGE), 0);
	expect_eq(prot_at(at, 3), PAGE_READ | PAGE_LARGE);
	expect_eq(wrong_in(at, 0, in_large), 0);
	expect_eq(protect(at, 0, in_large, RW), 0);
	expect_eq(prot_at(at, in_large - 1), RW | PAGE_LARGE);
	*word_at(at, 9) = 10;
	expect_eq(wrong_in(at, 0, in_large), 0);
	unmap(at, 0, in_large);
	expect_eq(kt_stats(STATS_FRAMES_FREE), frames);
}

TEST(small_pages_of_one_block_become_a_large_one)
{
	long memory, other, view;
	uint64_t at, frames;

	if (!may_change())
		return;
	frames = kt_stats(STATS_FRAMES_FREE);
	memory = kmemory_create((int)in_large);
	other = kmemory_create((int)in_large / 2);
	at = free_large(SELF);
	expect(memory > 0 && other > 0 && at != 0);
	expect_eq(kpage_map(SELF, (unsigned long)at, (int)memory, 0, (int)in_large, RW), 0);
	fill(at);
	expect_eq(prot_at(at, 7), RW);
	expect_eq(protect(at, 0, in_large, RW | PAGE_LARGE), 0);
	expect_eq(prot_at(at, 7), RW | PAGE_LARGE);
	expect_eq(wrong_in(at, 0, in_large), 0);
	unmap(at, 0, in_large);
	/* at an address that is not aligned as the memory is, none can be */
	expect_eq(kpage_map(SELF, (unsigned long)(at + PAGE), (int)memory, 0, (int)in_large, RW),
		0);
	expect_eq(kpage_map(SELF, (unsigned long)at, (int)other, 0, 1, RW), 0);
	expect_eq(protect(at, 0, in_large + 1, RW | PAGE_LARGE), 0);
	expect_eq(prot_at(at, 7), RW);
	unmap(at, 0, in_large + 1);
	/* nor of two memories */
	expect_eq(kpage_map(SELF, (unsigned long)at, (int)memory, 0, (int)in_large / 2, RW), 0);
	expect_eq(kpage_map(SELF, (unsigned long)(at + large_bytes / 2), (int)other, 0,
		(int)in_large / 2, RW), 0);
	expect_eq(protect(at, 0, in_large, RW | PAGE_LARGE), 0);
	expect_eq(prot_at(at, 7), RW);
	unmap(at, 0, in_large);
	/* nor of what somebody may take back in part */
	view = khandle_duplicate((int)memory, SELF, RIGHTS_ALL | HANDLE_VIEW);
	expect_eq(kpage_map(SELF, (unsigned long)at, (int)view, 0, (int)in_large, RW), 0);
	expect_eq(protect(at, 0, in_large, RW | PAGE_LARGE), 0);
	expect_eq(prot_at(at, 7), RW);
	unmap(at, 0, in_large);
	/* a large page that came through a view is cut like any other, and goes with it */
	expect_eq(kpage_map(SELF, (unsigned long)at, (int)view, 0, 1, RW | PAGE_LARGE), 0);
	fill(at);
	unmap(at, 10, 1);
	expect_eq(wrong_in(at, 0, 10) + wrong_in(at, 11, in_large), 0);
	expect_eq(khandle_revoke((int)view), 0);
	expect_eq(prot_at(at, 9), 0);
	expect_eq(prot_at(at, 11), 0);
	unmap(at, 0, 10);
	unmap(at, 11, in_large - 11);
	expect_eq(khandle_close((int)view), 0);
	expect_eq(khandle_close((int)memory), 0);
	expect_eq(khandle_close((int)other), 0);
	/* what nothing names comes back in steps */
	while (kt_stats(STATS_FRAMES_FREE) < frames)
		kthread_yield();
	expect_eq(kt_stats(STATS_FRAMES_FREE), frames);
}

static void
lazy_round(void)
{
	uint64_t at = 0, to, rest;
	long proc;

	expect_eq(kmem_alloc(SELF, 3 * large_bytes, RW | PAGE_LAZY, &at), 0);
	to = at + large_bytes - 1;
	to -= to % large_bytes;
	expect_eq(kpage_populate((unsigned long)to, (int)in_large, RW | PAGE_LARGE), in_large);
	expect_eq(prot_at(to, 3), RW | PAGE_LARGE);
	expect_eq(*word_at(to, in_large - 1), 0);
	fill(to);
	/* where something is there it comes as small ones */
	*word_at(to + large_bytes, 1) = 5;
	expect(kpage_populate((unsigned long)(to + large_bytes), (int)in_large, RW | PAGE_LARGE) <
		(long)in_large);
	expect_eq(prot_at(to + large_bytes, 0), RW);
	expect_eq(*word_at(to + large_bytes, 1), 5);
	expect_eq(kpage_populate((unsigned long)to, 1, RW | PAGE_LAZY), -E_INVAL);
	/* a copy of a part of it makes small ones, and each has its own */
	proc = kproc_create();
	expect_eq(kmem_alloc((int)proc, 4 * PAGE, 0, &rest), 0);
	expect_eq(kpage_unmap((int)proc, (unsigned long)rest, 4), 0);
	expect_eq(kpage_copy((int)proc, (unsigned long)(to + 4 * PAGE), 4, (unsigned long)rest), 0);
	expect_eq(prot_at(to, 3), RW);
	fill(to);
	*word_at(to, 4) = 99;
	expect(kt_spawn_in(proc, READS_COPY, (unsigned long)rest, ANY_CORE) > 0);
	expect_eq(kt_wait(proc, NULL), 0);
	*word_at(to, 4) = 5;
	expect_eq(wrong_in(to, 0, in_large), 0);
	/* private pages do not become a large one: each may be replaced alone */
	expect_eq(protect(to, 0, in_large, RW | PAGE_LARGE), 0);
	expect_eq(prot_at(to, 4) & PAGE_LARGE, 0);
	expect_eq(wrong_in(to, 0, in_large), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, (int)(3 * in_large)), 0);
}

/* test: page_populate */
TEST(lazy_memory_can_come_as_large_pages)
{
	uint64_t frames;

	if (!may_change())
		return;
	lazy_round();
	frames = kt_stats(STATS_FRAMES_FREE);
	lazy_round();
	expect_eq(kt_stats(STATS_FRAMES_FREE), frames);
}

/* test: page_link */
TEST(a_part_of_a_large_page_can_be_linked)
{
	uint64_t at, to;

	if (!may_change())
		return;
	at = new_large();
	fill(at);
	to = free_large(SELF);
	expect_eq(kpage_link(SELF, (unsigned long)(at + 3 * PAGE), 20, (unsigned long)to), 0);
	expect_eq(prot_at(at, 3), RW | PAGE_LARGE);
	expect_eq(prot_at(to, 0), RW);
	expect_eq(*word_at(to, 19), 23);
	unmap(at, 0, in_large);
	expect_eq(*word_at(to, 19), 23);
	unmap(to, 0, 20);
}

/* Others use the pages while they change their size. */
static volatile uint32_t going;

static unsigned long
uses(unsigned long at)
{
	unsigned long wrong = 0;
	uint32_t n = 0;

	for (; going; n++)
		for (unsigned i = 0; i < in_large; i += 7) {
			volatile uint32_t *word = word_at(at, i);

			wrong += word[0] != i + 1;
			word[1] = n;
			wrong += word[1] != n;
		}
	return wrong;
}

TEST(who_uses_the_memory_meanwhile_sees_no_difference)
{
	uint64_t at, frames, spare[4];
	int core = kt_other_core();
	long tid;

	if (!may_change())
		return;
	at = new_large();
	fill(at);
	going = 1;
	tid = kt_thread(uses, (unsigned long)at, core >= 0 ? core : ANY_CORE);
	frames = kt_stats(STATS_FRAMES_FREE);
	for (unsigned i = 0; i < ROUNDS; i++) {
		/* small */
		expect_eq(protect(at, i * 5 % in_large, 1, RW), 0);
		expect_eq(prot_at(at, 0), RW);
		/* large: what was the table is used for something else at once */
		expect_eq(protect(at, 0, in_large, RW | PAGE_LARGE), 0);
		expect_eq(prot_at(at, 0), RW | PAGE_LARGE);
		for (unsigned k = 0; k < 4; k++) {
			expect_eq(kmem_alloc(SELF, PAGE, RW, &spare[k]), 0);
			memset((void *)(uintptr_t)spare[k], 0xff, PAGE);
		}
		for (unsigned k = 0; k < 4; k++)
			expect_eq(kpage_unmap(SELF, (unsigned long)spare[k], 1), 0);
	}
	expect_eq(kt_stats(STATS_FRAMES_FREE), frames);
	going = 0;
	expect_eq(kt_join(tid), 0);
	expect_eq(wrong_in(at, 0, in_large), 0);
	unmap(at, 0, in_large);
}

/* --- children --- */

static int
changes_for_ever(void)
{
	for (;;) {
		uint64_t at = new_large();

		protect(at, 5, 1, PAGE_READ);
		protect(at, 0, in_large, RW | PAGE_LARGE);
		unmap(at, 7, 9);
		unmap(at, 0, 7);
		unmap(at, 16, in_large - 16);
	}
	return 0;
}

TEST(nothing_is_lost_when_a_process_dies_in_the_middle)
{
	uint64_t frames = 0;
	uint32_t cause;
	long proc;

	if (!may_change())
		return;
	for (unsigned i = 0; i < ROUNDS / 2; i++) {
		proc = kt_spawn(CHANGES_FOR_EVER, 0, ANY_CORE);
		expect(proc > 0);
		kthread_sleep(WAKE_ANY, 0);
		for (unsigned k = 0; k < 20 + 3 * i; k++)
			kt_pause(20);
		expect_eq(kproc_kill((int)proc, 9), 0);
		expect_eq(kt_wait(proc, &cause), 9);
		if (i == 0)
			frames = kt_stats(STATS_FRAMES_FREE);
	}
	expect_eq(kt_stats(STATS_FRAMES_FREE), frames);
}

/* Its parent has left it room for one large page, and for no more tables. */
static int
is_poor(void)
{
	struct page_info info;
	uint64_t at = 0;

	if (kmem_alloc(SELF, large_bytes, RW | PAGE_LARGE, &at) != 0)
		return 1;
	fill(at);
	while (kmemory_create(1) > 0)
		continue;
	if (kpage_unmap(SELF, (unsigned long)at + PAGE, 1) != -E_NOMEM ||
		protect(at, 1, 1, PAGE_READ) != -E_NOMEM)
		return 2;
	if (kpage_query(SELF, (unsigned long)at, &info) != 0 || info.prot != (RW | PAGE_LARGE))
		return 3;
	return wrong_in(at, 0, in_large) != 0 ? 4 : 0;
}

TEST(without_memory_for_a_table_a_large_page_stays_large)
{
	struct proc_quota quota = {.bytes = large_bytes + (1u << 20), .threads = 2, .processes = 1};
	long proc;

	if (!may_change())
		return;
	proc = kproc_create();
	expect_eq(kproc_quota((int)proc, &quota), 0);
	expect(kt_spawn_in(proc, IS_POOR, 0, ANY_CORE) > 0);
	expect_eq(kt_wait(proc, NULL), 0);
}

/* --- a handle that goes in the middle of a call --- */

static volatile uint32_t go_on;
static volatile int closed;

static unsigned long
closes(unsigned long unused)
{
	while (go_on == 0)
		kthread_yield();
	khandle_close(closed);
	return unused;
}

TEST(a_protection_ends_when_the_handle_of_its_process_is_closed)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		long proc = kproc_create(), e, tid;
		uint64_t at = 0;

		expect_eq(kmem_alloc((int)proc, 400 * PAGE, RW, &at), 0);
		closed = (int)khandle_duplicate((int)proc, SELF, RIGHTS_ALL);
		go_on = 0;
		tid = kt_thread(closes, 0, kt_other_core() >= 0 ? kt_other_core() : ANY_CORE);
		go_on = 1;
		for (unsigned k = 0; k < 20; k++) {
			e = kpage_protect(closed, (unsigned long)at, 400, k % 2 ? PAGE_READ : RW);
			expect(e == 0 || e == -E_BADF);
		}
		expect_eq(kt_join(tid), 0);
		expect_eq(kproc_kill((int)proc, 1), 0);
		kt_wait(proc, NULL);
	}
}

static int
child(uint32_t role, unsigned long arg)
{
	may_change();
	switch (role) {
	case CHANGES_FOR_EVER:
		return changes_for_ever();
	case IS_POOR:
		return is_poor();
	case READS_COPY:	/* pages 4 to 7, as they were before the parent changed one */
		for (unsigned i = 0; i < 4; i++)
			if (*word_at(arg, i) != i + 5)
				return 1;
		return 0;
	default:
		return 99;
	}
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (atoll_startup()->job != NONE)
		return child(atoll_startup()->job, (unsigned long)atoll_startup()->shared);
	RUN(a_large_page_of_which_a_part_goes_becomes_small_ones);
	RUN(two_large_pages_are_cut_at_both_ends_of_a_range);
	RUN(a_part_that_is_protected_makes_small_pages_and_asking_makes_a_large_one_again);
	RUN(small_pages_of_one_block_become_a_large_one);
	RUN(lazy_memory_can_come_as_large_pages);
	RUN(a_part_of_a_large_page_can_be_linked);
	RUN(who_uses_the_memory_meanwhile_sees_no_difference);
	RUN(nothing_is_lost_when_a_process_dies_in_the_middle);
	RUN(without_memory_for_a_table_a_large_page_stays_large);
	RUN(a_protection_ends_when_the_handle_of_its_process_is_closed);
	kt_end();
}
