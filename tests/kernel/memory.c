/* SPDX-License-Identifier: MIT
 *
 * Memory objects, mappings, protection, shoot-down; bad arguments; nothing is lost.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 * machine: 1 3 KC 2
 */
#include <cpu/page.h>
#include <tests/kernel/ktest.h>

#define PAGE kt_page_bytes()
#define RW (PAGE_READ | PAGE_WRITE)

enum role { WRITER = 1, GUESSER, READER, RAISER, HOARDER, COUNTED };

/*
 * A child's pages lie where its parent maps them; the parent says so by the argument: pages below
 * the end of its space.
 */
static unsigned long
spot(int proc)
{
	uint64_t addr;

	if (kmem_alloc(proc, 16 * PAGE, 0, &addr) < 0)
		return 0;
	return (unsigned long)addr;
}

/* Write to a page of the parent for ever. */
static int
writer(unsigned long at)
{
	volatile uint32_t *word = (volatile uint32_t *)at;

	for (;;)
		(*word)++;
	return 0;
}

/* Calls on many pages without end. */
static int
hoarder(unsigned long with_memory)
{
	for (;;) {
		uint64_t at;
		long memory;

		if (kmem_alloc(SELF, 150 * PAGE, RW, &at) == 0)
			kpage_unmap(SELF, (unsigned long)at, 150);
		if (!with_memory || (memory = kmemory_create(150)) < 0)
			continue;
		kpage_map(SELF, (unsigned long)at, (int)memory, 0, 150, RW);
		khandle_close((int)memory);
		kpage_unmap(SELF, (unsigned long)at, 150);
	}
	return 0;
}

/* Memory that the parent has, by all numbers near that of its handle. */
static int
guesser(int number)
{
	unsigned long at = spot(SELF);
	uint64_t info[2];

	for (int i = -300; i <= 300; i++)
		if (kpage_map(SELF, at, number + i, 0, 1, PAGE_READ) != -E_BADF ||
			kpage_map(SELF, at, number + i * 16, 0, 1, PAGE_READ) != -E_BADF)
			return 1;
	return kpage_query(1 << 16, at, info) != -E_BADF ? 2 : 0;
}

/*
 * A handle for reading: no mapping that can be written or executed, now or later, and no copy that
 * can do more.
 */
static int
reader(int given)
{
	unsigned long at = spot(SELF);
	int copy = (int)khandle_duplicate(given, SELF, RIGHTS_ALL);

	for (int i = 0; i < 2; i++, given = copy)
		if (kpage_map(SELF, at, given, 0, 1, RW) != -E_ACCES ||
			kpage_map(SELF, at, given, 0, 1, PAGE_READ | PAGE_EXEC) != -E_ACCES)
			return 1;
	if (kpage_map(SELF, at, copy, 0, 1, PAGE_READ) != 0 || *(volatile uint32_t *)at != 77)
		return 2;
	if (kpage_protect(SELF, at, 1, RW) != -E_ACCES ||
		kpage_protect(SELF, at, 1, PAGE_READ | PAGE_EXEC) != -E_ACCES)
		return 3;
	return khandle_close(copy) != 0 ||
		kpage_map(SELF, at + PAGE, copy, 0, 1, PAGE_READ) != -E_BADF ? 4 : 0;
}

static int
child(uint32_t role, unsigned long arg)
{
	uint64_t at;

	switch (role) {
	case WRITER:
		return writer(arg);
	case GUESSER:
		return guesser((int)arg);
	case READER:
		return reader((int)arg);
	case HOARDER:
		return hoarder(arg);
	case RAISER:	/* a page that a server mapped here for reading */
		if (kpage_protect(SELF, arg, 1, RW) != -E_ACCES ||
			kpage_protect(SELF, arg, 1, PAGE_READ | PAGE_EXEC) != -E_ACCES)
			return 1;
		/* the kernel writes into the process's own memory only */
		if (kproc_events(SELF, arg) != -E_ACCES)
			return 3;
		return kpage_protect(SELF, arg, 1, PAGE_READ) != 0 ? 2 : 0;
	case COUNTED:	/* the kernel's is the last name of the page */
		return kmem_alloc(SELF, PAGE, PAGE_READ, &at) != 0 ||
			kproc_events(SELF, (unsigned long)at) != 0 ||
			kpage_unmap(SELF, (unsigned long)at, 1) != 0;
	}
	return 99;
}

/* What nothing names comes back in steps. */
static void
wait_for_frames(uint64_t n)
{
	while (kt_stats(STATS_FRAMES_FREE) != n)
		kthread_yield();
}

/* test: memory_create, handle_close */
TEST(memory_comes_back_when_nothing_names_it)
{
	/* the pages of the kernel's own small pieces stay */
	long keep = kmemory_create(1), a, b, copy;
	uint64_t before = kt_stats(STATS_FRAMES_FREE);

	a = kmemory_create(1);
	b = kmemory_create(40);
	expect(a > 0 && b > 0);
	expect_eq(kt_stats(STATS_FRAMES_FREE), before - 41);
	copy = khandle_duplicate((int)b, SELF, RIGHT_READ);
	expect_eq(khandle_close((int)b), 0);
	expect_eq(khandle_close((int)b), -E_BADF);
	expect_eq(kt_stats(STATS_FRAMES_FREE), before - 41);
	expect_eq(khandle_close((int)a), 0);
	expect_eq(kt_stats(STATS_FRAMES_FREE), before - 40);
	expect_eq(khandle_close((int)copy), 0);
	wait_for_frames(before);
	expect_eq(kmemory_create(0), -E_INVAL);
	expect_eq(kmemory_create(-3), -E_INVAL);
	expect_eq(kmemory_create(1 << 30), -E_NOMEM);
	expect_eq(kt_stats(STATS_FRAMES_FREE), before);
	expect_eq(khandle_close((int)keep), 0);
}

/* The most frames that one memory can have, of the powers of two; 0: the test has failed. */
static int
most_frames(void)
{
	int count = 1 << 20;
	long memory;

	while (count > 0 && (memory = kmemory_create(count)) == -E_NOMEM)
		count /= 2;
	expect(count > 0 && memory > 0);
	return khandle_close((int)memory) == 0 ? count : 0;
}

TEST(what_was_given_back_can_be_had_again_at_once)
{
	int count = most_frames();
	uint64_t at;

	for (int i = 0; i < 3; i++) {
		long memory = kmemory_create(count);

		expect(memory > 0);
		expect_eq(khandle_close((int)memory), 0);
		expect_eq(kmem_alloc(SELF, (unsigned long)count * PAGE, RW, &at), 0);
		expect_eq(kpage_unmap(SELF, (unsigned long)at, count), 0);
	}
}

/* test: page_map, page_unmap, page_query */
TEST(a_frame_lives_as_long_as_somebody_maps_it)
{
	unsigned long at = spot(SELF);
	uint64_t before = kt_stats(STATS_FRAMES_FREE);
	volatile uint32_t *word = (volatile uint32_t *)at;
	volatile uint32_t *other = (volatile uint32_t *)(at + PAGE);
	long memory = kmemory_create(1);
	struct page_info info;

	expect_eq(kpage_map(SELF, at, (int)memory, 0, 1, RW), 0);
	expect_eq(kpage_map(SELF, at + PAGE, (int)memory, 0, 1, RW), 0);
	expect_eq(kpage_map(SELF, at, (int)memory, 0, 1, RW), -E_EXIST);
	expect_eq(*word, 0);
	*word = 17;
	expect_eq(*other, 17);
	expect_eq(kpage_query(SELF, at + 5, &info), 0);
	expect_eq(info.prot, RW);
	expect_eq(info.references, 3);
	expect_eq(khandle_close((int)memory), 0);
	expect_eq(kpage_unmap(SELF, at, 1), 0);
	expect_eq(*other, 17);
	expect_eq(kpage_query(SELF, at, &info), -E_INVAL);
	expect_eq(kpage_unmap(SELF, at + PAGE, 15), 0);
	expect_eq(kpage_unmap(SELF, at + PAGE, 1), -E_INVAL);
	/* page tables and the handle table may stay */
	expect(kt_stats(STATS_FRAMES_FREE) >= before - 4);
}

TEST(bad_mappings_are_refused)
{
	unsigned long at = spot(SELF);
	long memory = kmemory_create(2);
	struct page_info info;

	expect_eq(kpage_map(SELF, at + 8, (int)memory, 0, 1, RW), -E_INVAL);
	expect_eq(kpage_map(SELF, at, -1, 0, 1, RW), -E_BADF);
	expect_eq(kpage_map(SELF, at, (int)kthread_self(), 0, 1, RW), -E_BADF);
	expect_eq(kpage_map(SELF, at, (int)memory, -1, 1, RW), -E_INVAL);
	expect_eq(kpage_map(SELF, at, (int)memory, 1, 2, RW), -E_INVAL);
	expect_eq(kpage_map(SELF, at, (int)memory, 2, 1, RW), -E_INVAL);
	expect_eq(kpage_map(SELF, at, (int)memory, 3, 1, RW), -E_INVAL);
	expect_eq(kpage_map(SELF, at, (int)memory, INT32_MAX, INT32_MAX, RW), -E_INVAL);
	expect_eq(kpage_map(SELF, at, (int)memory, 0, 0, RW), -E_INVAL);
	expect_eq(kpage_map(SELF, at, (int)memory, 0, -1, RW), -E_INVAL);
	expect_eq(kpage_map(SELF, at, (int)memory, 0, 1, PAGE_WRITE), -E_INVAL);
	expect_eq(kpage_map(SELF, at, (int)memory, 0, 1, 64 | RW), -E_INVAL);
	expect_eq(kpage_map(SELF, ~0ul << 12, (int)memory, 0, 1, RW), -E_INVAL);
	expect_eq(kpage_map(SELF, 0, (int)memory, 0, 1, RW), -E_INVAL);
	expect_eq(kpage_map(SELF, at, 1 << 30, 0, 1, RW), -E_BADF);
	expect_eq(kpage_map(77, at, (int)memory, 0, 1, RW), -E_BADF);
	expect_eq(kpage_unmap(SELF, 0, 1), -E_INVAL);
	expect_eq(kpage_unmap(SELF, at, 1 << 30), -E_INVAL);
	expect_eq(kpage_unmap(77, at, 1), -E_BADF);
	expect_eq(kpage_protect(SELF, at, 1, RW), -E_INVAL);
	expect_eq(kpage_query(SELF, 0, &info), -E_INVAL);
	expect_eq(kpage_query(77, at, &info), -E_BADF);
	expect_eq(kpage_query(SELF, (unsigned long)&info, (void *)8), -E_FAULT);
	expect_eq(kpage_unmap(SELF, at, 16), 0);
	expect_eq(khandle_close((int)memory), 0);
}

TEST(own_memory_may_have_any_protection)
{
	unsigned long at = spot(SELF);
	long memory = kmemory_create(1);
	struct page_info info;
	uint64_t addr;

	expect_eq(kmem_alloc(SELF, PAGE, PAGE_READ, &addr), 0);
	expect_eq(kpage_protect(SELF, (unsigned long)addr, 1, RW), 0);
	*(volatile uint32_t *)(uintptr_t)addr = 5;
	expect_eq(kpage_protect(SELF, (unsigned long)addr, 1, PAGE_READ | PAGE_EXEC), 0);
	expect_eq(kpage_query(SELF, (unsigned long)addr, &info), 0);
	expect_eq(info.prot, PAGE_READ | PAGE_EXEC);
	expect_eq(kpage_unmap(SELF, (unsigned long)addr, 1), 0);
	expect_eq(kpage_map(SELF, at, (int)memory, 0, 1, PAGE_READ), 0);
	expect_eq(kpage_protect(SELF, at, 1, RW), 0);
	*(volatile uint32_t *)at = 6;
	expect_eq(kpage_unmap(SELF, at, 16), 0);
	expect_eq(khandle_close((int)memory), 0);
}

TEST(a_page_that_a_server_gave_for_reading_stays_so)
{
	long memory = kmemory_create(1), proc = kproc_create();
	unsigned long at = spot((int)proc);

	expect_eq(kpage_map((int)proc, at, (int)memory, 0, 1, PAGE_READ), 0);
	expect_eq(kt_spawn_in(proc, RAISER, at, ANY_CORE), proc);
	expect_eq(kt_wait(proc, NULL), 0);
	expect_eq(khandle_close((int)memory), 0);
}

/* Calls on so many pages go in steps, where there is memory for that. */
static unsigned
many_pages(void)
{
	return kt_stats(STATS_FRAMES_FREE) > 4 * HAL_STEP_PAGES ? HAL_STEP_PAGES + 84 : 100;
}

/*
 * Calls on many pages are one to who makes them, and what is wrong with any page is found before
 * anything changes.
 */
TEST(calls_on_many_pages_are_whole)
{
	unsigned many = many_pages();
	uint64_t before, at;
	struct page_info info;
	long memory, other, keep, weak;

	expect_eq(kmem_alloc(SELF, PAGE, RW, &at), 0);	/* page tables may stay */
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 1), 0);
	keep = kmemory_create(1);
	before = kt_stats(STATS_FRAMES_FREE);
	memory = kmemory_create(many);
	expect(memory > 0);
	expect_eq(kt_stats(STATS_FRAMES_FREE), before - many);
	expect_eq(kmem_alloc(SELF, (many + 1) * PAGE, 0, &at), 0);
	other = kmemory_create(1);
	expect_eq(kpage_map(SELF, (unsigned long)at + (many - 1) * PAGE, (int)other, 0, 1,
		PAGE_READ), 0);
	expect_eq(kpage_map(SELF, (unsigned long)at, (int)memory, 0, many, RW), -E_EXIST);
	expect_eq(kpage_query(SELF, (unsigned long)at, &info), -E_INVAL);
	expect_eq(kpage_unmap(SELF, (unsigned long)at + (many - 1) * PAGE, 1), 0);
	/* reserved in part */
	expect_eq(kpage_map(SELF, (unsigned long)at, (int)memory, 0, many, RW), -E_EXIST);
	expect_eq(kpage_map(SELF, (unsigned long)at, (int)memory, 0, many - 1, RW), 0);
	for (unsigned i = 0; i < many - 1; i++)
		expect_eq(*(volatile uint32_t *)(uintptr_t)(at + i * PAGE), 0);
	expect_eq(kpage_protect(SELF, (unsigned long)at, many, PAGE_READ), -E_INVAL);
	expect_eq(kpage_query(SELF, (unsigned long)at, &info), 0);
	expect_eq(info.prot, RW);
	expect_eq(kpage_protect(SELF, (unsigned long)at, many - 1, PAGE_READ), 0);
	expect_eq(kpage_query(SELF, (unsigned long)at + (many - 2) * PAGE, &info), 0);
	expect_eq(info.prot, PAGE_READ);
	/* the last one may never be written to */
	weak = khandle_duplicate((int)other, SELF, RIGHT_READ);
	expect_eq(kpage_map(SELF, (unsigned long)at + (many - 1) * PAGE, (int)weak, 0, 1,
		PAGE_READ), 0);
	expect_eq(khandle_close((int)weak), 0);
	expect_eq(kpage_protect(SELF, (unsigned long)at, many, RW), -E_ACCES);
	expect_eq(kpage_query(SELF, (unsigned long)at, &info), 0);
	expect_eq(info.prot, PAGE_READ);
	expect_eq(kpage_unmap(SELF, (unsigned long)at + (many - 1) * PAGE, 1), 0);
	expect_eq(khandle_close((int)memory), 0);
	expect_eq(kt_stats(STATS_FRAMES_FREE), before - many);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, many - 1), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)at + many * PAGE, 1), 0);
	expect_eq(khandle_close((int)other), 0);
	wait_for_frames(before);
	expect_eq(khandle_close((int)keep), 0);
}

/* More than there is: nothing is taken, nothing stays. */
TEST(a_call_for_too_much_leaves_nothing)
{
	uint64_t before = kt_stats(STATS_FRAMES_FREE), at;

	expect_eq(kmem_alloc(SELF, (unsigned long)(before + 1) * PAGE, RW, &at), -E_NOMEM);
	expect_eq(kmemory_create((int)before + 1), -E_NOMEM);
	expect_eq(kt_stats(STATS_FRAMES_FREE), before);
	expect_eq(kmem_alloc(SELF, (unsigned long)(before / 2) * PAGE, RW, &at), 0);
	for (uint64_t i = 0; i < before / 2; i += 7)
		expect_eq(*(volatile uint32_t *)(uintptr_t)(at + i * PAGE), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, (int)(before / 2)), 0);
	expect_eq(kt_stats(STATS_FRAMES_FREE), before);
}

/* Killed in the middle of calls on many pages: what they held comes back. */
TEST(a_process_that_dies_in_a_long_call_leaves_nothing)
{
	uint64_t before = kt_stats(STATS_FRAMES_FREE);

	for (unsigned round = 0; round < 20; round++) {
		long proc = kt_spawn(HOARDER, round % 2, ANY_CORE);

		for (unsigned n = 0; n < 3 + 5 * round; n++)
			kt_stats(STATS_PROCS);
		expect_eq(kproc_kill((int)proc, 0), 0);
		kt_wait(proc, NULL);
	}
	expect_eq(kt_stats(STATS_FRAMES_FREE), before);
}

/* test: proc_events */
TEST(the_page_of_a_process_in_which_the_kernel_counts_comes_back)
{
	uint64_t before;

	expect_eq(kt_wait(kt_spawn(COUNTED, 0, ANY_CORE), NULL), 0);
	before = kt_stats(STATS_FRAMES_FREE);
	expect_eq(kt_wait(kt_spawn(COUNTED, 0, ANY_CORE), NULL), 0);
	expect_eq(kt_stats(STATS_FRAMES_FREE), before);
}

/* A call whose result cannot be written has done nothing. */
TEST(memory_is_not_lost_to_a_bad_address)
{
	uint64_t before, span[2], addr;
	struct page_info info;
	void *bad;

	while (kt_bad_place(8) != NULL)
		;
	before = kt_stats(STATS_FRAMES_FREE);
	for (int round = 0; round < 40; round++) {
		while ((bad = kt_bad_place(8)) != NULL)
			expect_eq(kmem_alloc(SELF, 8 * PAGE, RW, bad), -E_FAULT);
		while ((bad = kt_bad_place(sizeof(span))) != NULL)
			expect_eq(karchive_map(SELF, bad), -E_FAULT);
	}
	while ((bad = kt_bad_place(sizeof(info))) != NULL)
		expect_eq(kpage_query(SELF, (unsigned long)&info, bad), -E_FAULT);
	expect_eq(kt_stats(STATS_FRAMES_FREE), before);
	expect_eq(kmem_alloc(SELF, PAGE, RW, &addr), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)addr, 1), 0);
}

/* test: mem_alloc */
TEST(memory_is_zeroed_and_comes_back)
{
	uint64_t addr, before = 0;

	for (int round = 0; round < 4; round++) {
		if (round == 1)
			before = kt_stats(STATS_FRAMES_FREE);
		expect_eq(kmem_alloc(SELF, 100 * PAGE - 5, RW, &addr), 0);
		for (unsigned i = 0; i < 100 * PAGE; i += 512) {
			volatile uint32_t *word = (volatile uint32_t *)(uintptr_t)(addr + i);

			if (*word != 0)
				expect_eq(*word, 0);
			*word = 0xdeadbeef;
		}
		expect_eq(kpage_unmap(SELF, (unsigned long)addr, 100), 0);
	}
	expect_eq(kt_stats(STATS_FRAMES_FREE), before);
	expect_eq(kmem_alloc(SELF, 0, RW, &addr), -E_INVAL);
	expect_eq(kmem_alloc(SELF, ~0ul, RW, &addr), -E_INVAL);
	expect_eq(kmem_alloc(SELF, 1ul << (sizeof(long) == 8 ? 36 : 29), RW, &addr), -E_NOMEM);
	expect_eq(kmem_alloc(SELF, 1ul << (sizeof(long) == 8 ? 37 : 30), 0, &addr), -E_NOMEM);
	expect_eq(kmem_alloc(SELF, PAGE, PAGE_WRITE, &addr), -E_INVAL);
	expect_eq(kmem_alloc(77, PAGE, RW, &addr), -E_BADF);
	expect_eq(kt_stats(STATS_FRAMES_FREE), before);
}

TEST(large_pages_work)
{
	uint64_t addr, before = 0;
	struct page_info info;
	struct cluster_info cluster;
	int pages, first;

	kcluster_info(&cluster);
	pages = (int)(cluster.large_page_bytes / cluster.page_bytes);
	for (int round = 0; round < 2; round++) {
		before = kt_stats(STATS_FRAMES_FREE);
		if (kmem_alloc(SELF, 2 * cluster.large_page_bytes, RW | PAGE_LARGE, &addr) ==
			-E_NOMEM)
			return;		/* a small cluster has none */
		expect_eq(addr % cluster.large_page_bytes, 0);
		*(volatile uint32_t *)(uintptr_t)(addr + cluster.large_page_bytes + 12345 * 4) = 4;
		expect_eq(kpage_query(SELF, (unsigned long)addr + cluster.large_page_bytes, &info),
			0);
		first = info.frame;
		expect_eq(kpage_query(SELF,
			(unsigned long)addr + cluster.large_page_bytes + 3 * PAGE, &info), 0);
		expect_eq(info.prot, RW | PAGE_LARGE);
		expect_eq(info.frame, first + 3);
		/* where pages do not change their size; the others are in large.c */
		if (PAGE != 4096) {
			expect_eq(kpage_unmap(SELF, (unsigned long)addr, 3), -E_INVAL);
			expect_eq(kpage_protect(SELF, (unsigned long)addr + PAGE, 1, PAGE_READ),
				-E_INVAL);
		}
		expect_eq(kpage_protect(SELF, (unsigned long)addr, pages, PAGE_READ), 0);
		expect_eq(kpage_unmap(SELF, (unsigned long)addr, 2 * pages), 0);
	}
	expect_eq(kt_stats(STATS_FRAMES_FREE), before);
}

static uint32_t
references(unsigned long at)
{
	struct page_info info;

	expect_eq(kpage_query(SELF, at, &info), 0);
	return info.references;
}

/* Mapped in many steps: all frames of it, or none. */
TEST(frames_are_mapped_as_a_large_page)
{
	struct cluster_info cluster;
	uint64_t addr, before;
	unsigned long at, bytes;
	int pages;
	long memory;

	kcluster_info(&cluster);
	bytes = cluster.large_page_bytes;
	pages = (int)(bytes / cluster.page_bytes);
	if (kmem_alloc(SELF, bytes, RW | PAGE_LARGE, &addr) == -E_NOMEM)
		return;			/* a small cluster has none */
	at = (unsigned long)addr;
	expect_eq(kpage_unmap(SELF, at, pages), 0);
	before = kt_stats(STATS_FRAMES_FREE);
	memory = kmemory_create(pages);
	expect(memory > 0);
	expect_eq(kpage_map(SELF, at, (int)memory, 0, 1, RW | PAGE_LARGE), 0);
	expect_eq(references(at), 2);
	expect_eq(references(at + bytes - PAGE), 2);
	*(volatile uint32_t *)(at + bytes - 4) = 7;
	expect_eq(kpage_map(SELF, at, (int)memory, 0, 1, RW | PAGE_LARGE), -E_EXIST);
	expect_eq(references(at), 2);
	expect_eq(kpage_unmap(SELF, at, pages), 0);
	expect_eq(kpage_map(SELF, at, (int)memory, 1, 1, RW | PAGE_LARGE), -E_INVAL);
	expect_eq(kpage_map(SELF, at, (int)memory, 0, 1, RW), 0);
	expect_eq(references(at), 2);
	expect_eq(kpage_unmap(SELF, at, 1), 0);
	expect_eq(khandle_close((int)memory), 0);
	while (kt_stats(STATS_FRAMES_FREE) < before)
		kthread_yield();
	expect_eq(kt_stats(STATS_FRAMES_FREE), before);
}

/* Large pages that nobody unmapped come back with their process. */
TEST(large_pages_come_back_when_their_process_ends)
{
	uint64_t addr, before = kt_stats(STATS_FRAMES_FREE);
	struct cluster_info cluster;
	long proc = kproc_create();
	long e;

	kcluster_info(&cluster);
	e = kmem_alloc((int)proc, 2 * cluster.large_page_bytes, RW | PAGE_LARGE, &addr);
	expect(e == 0 || e == -E_NOMEM);
	expect_eq(kproc_kill((int)proc, 3), 0);
	expect_eq(kt_wait(proc, NULL), 3);
	expect_eq(kt_stats(STATS_FRAMES_FREE), before);
}

TEST(exhaustion_is_an_error_and_leaves_no_trace)
{
	uint64_t addr[400], before = kt_stats(STATS_FRAMES_FREE), after;
	unsigned long size = 64 * PAGE;
	int n = 0;
	long e = 0;

	while (n < 400 && (e = kmem_alloc(SELF, size, RW, &addr[n])) == 0)
		n++;
	expect(n == 400 || e == -E_NOMEM);
	for (int i = 0; i < n; i++)
		expect_eq(kpage_unmap(SELF, (unsigned long)addr[i], 64), 0);
	after = kt_stats(STATS_FRAMES_FREE);
	expect(before - after <= 60);	/* page tables */
}

/* test: page_protect */
TEST(narrowing_reaches_the_core_that_runs)
{
	int other = kt_other_core();
	uint32_t cause;
	long memory = kmemory_create(1);
	unsigned long mine = spot(SELF), at;
	volatile uint32_t *word = (volatile uint32_t *)mine;
	uint32_t seen;
	long proc;

	expect_eq(kpage_map(SELF, mine, (int)memory, 0, 1, RW), 0);
	if (other < 0)
		return;		/* the writer never gives up its core */
	/* both ways, several times: the child writes through its mapping, we take it away */
	for (int round = 0; round < 10; round++) {
		*word = 0;
		proc = kproc_create();
		at = spot((int)proc);
		expect_eq(kpage_map((int)proc, at, (int)memory, 0, 1, RW), 0);
		expect_eq(kt_spawn_in(proc, WRITER, at, other), proc);
		while (*word == 0)
			kthread_yield();
		if (round % 2)
			expect_eq(kpage_unmap((int)proc, at, 1), 0);
		else
			expect_eq(kpage_protect((int)proc, at, 1, PAGE_READ), 0);
		seen = *word;
		kt_pause(200);
		expect_eq(*word, seen);
		kt_wait(proc, &cause);
		expect_eq(cause, CRASH_ACCESS);
	}
	expect_eq(kpage_unmap(SELF, mine, 16), 0);
	expect_eq(khandle_close((int)memory), 0);
}

TEST(memory_of_others_is_refused)
{
	long memory = kmemory_create(1);

	expect_eq(kt_wait(kt_spawn(GUESSER, (unsigned long)memory, ANY_CORE), NULL), 0);
	expect_eq(khandle_close((int)memory), 0);
	expect_eq(kpage_map(SELF, spot(SELF), (int)memory, 0, 1, PAGE_READ), -E_BADF);
}

/* test: handle_duplicate, handle_revoke */
TEST(memory_that_was_given_for_reading_is_read)
{
	long memory = kmemory_create(1), proc = kproc_create(), given;
	int view = (int)khandle_duplicate((int)memory, SELF, RIGHTS_ALL | HANDLE_VIEW), lent;
	unsigned long at = spot(SELF);

	expect_eq(kpage_map(SELF, at, (int)memory, 0, 1, RW), 0);
	*(volatile uint32_t *)at = 77;
	given = khandle_duplicate((int)memory, (int)proc, RIGHT_READ | RIGHT_GRANT);
	expect(given > 0);
	expect_eq(kt_spawn_in(proc, READER, (unsigned long)given, ANY_CORE), proc);
	expect_eq(kt_wait(proc, NULL), 0);
	/* the rights are those of the handle that it was mapped by */
	lent = (int)khandle_duplicate(view, SELF, RIGHT_READ | RIGHT_WRITE);
	expect_eq(kpage_map(SELF, at + PAGE, lent, 0, 1, PAGE_READ), 0);
	expect_eq(kpage_protect(SELF, at + PAGE, 1, PAGE_READ | PAGE_EXEC), -E_ACCES);
	expect_eq(kpage_protect(SELF, at + PAGE, 1, RW), 0);
	expect_eq(kpage_protect(SELF, at, 1, RW | PAGE_EXEC), 0);
	expect_eq(khandle_revoke(view), 0);
	expect_eq(kpage_map(SELF, at + 2 * PAGE, lent, 0, 1, PAGE_READ), -E_BADF);
	expect_eq(kpage_map(SELF, at + 2 * PAGE, (int)memory, 0, 1, PAGE_READ), 0);
	expect_eq(kpage_unmap(SELF, at, 16), 0);
	expect_eq(khandle_close(lent), 0);
	expect_eq(khandle_close(view), 0);
	expect_eq(khandle_close((int)memory), 0);
}

/* Whoever gets the frames next finds nothing of what was in them. */
TEST(memory_that_was_given_up_is_never_read)
{
	unsigned long at = spot(SELF);

	for (int round = 0; round < 20; round++) {
		long memory = kmemory_create(8);

		expect_eq(kpage_map(SELF, at, (int)memory, 0, 8, RW), 0);
		for (unsigned i = 0; i < 8; i++) {
			expect_eq(*(volatile uint32_t *)(at + i * PAGE), 0);
			*(volatile uint32_t *)(at + i * PAGE) = 0xdead;
		}
		expect_eq(khandle_close((int)memory), 0);
		expect_eq(kpage_unmap(SELF, at, 8), 0);
	}
}

/* test: archive_map */
TEST(the_archive_is_readable_and_nothing_else)
{
	uint64_t span[2];
	uint32_t cause;
	long proc;

	expect_eq(karchive_map(SELF, span), 0);
	expect(span[1] > 0);
	expect_eq(*(const char *)(uintptr_t)span[0], '0');
	expect_eq(kpage_protect(SELF, (unsigned long)span[0], 1, RW), -E_ACCES);
	proc = kproc_create();
	expect_eq(karchive_map((int)proc, span), 0);
	expect_eq(kt_spawn_in(proc, WRITER, (unsigned long)span[0], ANY_CORE), proc);
	kt_wait(proc, &cause);
	expect_eq(cause, CRASH_ACCESS);
	expect_eq(karchive_map(77, span), -E_BADF);
}

/* test: core_count */
TEST(refills_are_counted_apart)
{
	uint64_t before = 0, after = 0, value, addr;

	expect_eq(kmem_alloc(SELF, 100 * PAGE, RW, &addr), 0);
	expect_eq(kcore_count(COUNT_REFILLS_CODE, &value), 0);
	expect_eq(kcore_count(COUNT_REFILLS_DATA, &before), 0);
	for (unsigned i = 0; i < 100; i++)
		*(volatile uint32_t *)(uintptr_t)(addr + i * PAGE) = i;
	expect_eq(kcore_count(COUNT_REFILLS_DATA, &after), 0);
	/* one for each fresh page where software fills the TLB, none where the hardware does */
	expect(after == 0 || (after - before >= 100 && after - before < 200));
	expect((after == 0) == (value == 0));
	expect_eq(kpage_unmap(SELF, (unsigned long)addr, 100), 0);
	expect_eq(kcore_count(-1, &value), -E_INVAL);
	expect_eq(kcore_count(COUNT_SHOT_DOWN + 1, &value), -E_INVAL);
	expect_eq(kcore_count(COUNT_REFILLS_DATA, (void *)16), -E_FAULT);
}

/* test: clock, cluster_info, stats */
TEST(the_cluster_tells_about_itself)
{
	struct cluster_info info;
	uint64_t a, b, value;

	expect_eq(kcluster_info(&info), 0);
	expect_eq(info.cluster, atoll_startup()->cluster);
	expect(info.page_bytes >= 4096 && (info.page_bytes & (info.page_bytes - 1)) == 0);
	expect(info.cores > info.core && info.clusters > info.cluster);
	expect_eq(kcluster_info((void *)16), -E_FAULT);
	expect_eq(kclock(&a), 0);
	expect_eq(kclock(&b), 0);
	expect(b >= a);
	expect_eq(kclock((void *)16), -E_FAULT);
	expect_eq(kstats(-1, &value), -E_INVAL);
	expect_eq(kstats(99, &value), -E_INVAL);
	expect(kt_stats(STATS_FRAMES_TOTAL) > kt_stats(STATS_FRAMES_FREE));
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (atoll_startup()->job != 0)
		return child(atoll_startup()->job, (unsigned long)atoll_startup()->shared);
	RUN(memory_comes_back_when_nothing_names_it);
	RUN(what_was_given_back_can_be_had_again_at_once);
	RUN(a_frame_lives_as_long_as_somebody_maps_it);
	RUN(bad_mappings_are_refused);
	RUN(own_memory_may_have_any_protection);
	RUN(a_page_that_a_server_gave_for_reading_stays_so);
	RUN(calls_on_many_pages_are_whole);
	RUN(a_call_for_too_much_leaves_nothing);
	RUN(a_process_that_dies_in_a_long_call_leaves_nothing);
	RUN(the_page_of_a_process_in_which_the_kernel_counts_comes_back);
	RUN(memory_is_not_lost_to_a_bad_address);
	RUN(memory_is_zeroed_and_comes_back);
	RUN(large_pages_work);
	RUN(frames_are_mapped_as_a_large_page);
	RUN(large_pages_come_back_when_their_process_ends);
	RUN(exhaustion_is_an_error_and_leaves_no_trace);
	RUN(narrowing_reaches_the_core_that_runs);
	RUN(memory_of_others_is_refused);
	RUN(memory_that_was_given_for_reading_is_read);
	RUN(memory_that_was_given_up_is_never_read);
	RUN(the_archive_is_readable_and_nothing_else);
	RUN(the_cluster_tells_about_itself);
	RUN(refills_are_counted_apart);
	kt_end();
}
