/* SPDX-License-Identifier: MIT
 *
 * Private memory: pages of a memory object, or of another process, that are copied when they are
 * written to. Nobody sees what others write, the last who has a frame keeps it, calls of the kernel
 * write as threads do, and nothing is lost when memory ends or a process is killed.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 */
#include <base/str.h>
#include <tests/kernel/ktest.h>

#define PAGE kt_page_bytes()
#define RW (PAGE_READ | PAGE_WRITE)
#define PRIVATE (RW | PAGE_PRIVATE)
#define PAGES 20		/* more than one step copies */
#define MANY 200	/* more than a poor child may have */
#define CHILDREN 4
#define POOR_BYTES (200 * 1024 + 30 * kt_page_bytes())

/* what a child does; its exit status is the role if all was well */
enum role { NONE, READS_AND_WRITES, COPIES_ON, SEES_NO_CHANGE, FILLS, CHURNS, IS_A_PARENT,
	TOUCHES, TAKES_RIGHTS };

static volatile uint32_t *
word_at(uint64_t at, unsigned page)
{
	return (volatile uint32_t *)(uintptr_t)(at + page * PAGE);
}

static uint64_t
reserve(unsigned pages)
{
	uint64_t at = 0;

	return kmem_alloc(SELF, pages * PAGE, 0, &at) == 0 ? at : 0;
}

static uint64_t
lazy(unsigned pages)
{
	uint64_t at = 0;

	return kmem_alloc(SELF, pages * PAGE, RW | PAGE_LAZY, &at) == 0 ? at : 0;
}

/* Where pages of this process appear in another: on some ports they have no address in common. */
static uint64_t
copy_to(long proc, uint64_t at, unsigned pages)
{
	uint64_t to = 0;

	if (kmem_alloc((int)proc, pages * PAGE, 0, &to) != 0 ||
		kpage_unmap((int)proc, (unsigned long)to, (int)pages) != 0 ||
		kpage_copy((int)proc, (unsigned long)at, (int)pages, (unsigned long)to) != 0)
		return 0;
	return to;
}

static struct page_info
info_of(uint64_t at, unsigned page)
{
	struct page_info info = {.frame = -2};

	expect_eq(kpage_query(SELF, (unsigned long)at + page * PAGE, &info), 0);
	return info;
}

/* --- children: `at` has PAGES pages, page i begins with i + 1, and page 3 is empty --- */

static bool
is_as_made(uint64_t at)
{
	for (unsigned i = 0; i < PAGES; i++)
		if (*word_at(at, i) != (i == 3 ? 0 : i + 1))
			return false;
	return true;
}

static bool
reads_and_writes(uint64_t at)
{
	if (!is_as_made(at))
		return false;
	for (unsigned i = 0; i < PAGES; i += 2)
		*word_at(at, i) = 100 + i;
	for (unsigned i = 0; i < PAGES; i++)
		if (*word_at(at, i) != (i % 2 == 0 ? 100 + i : i == 3 ? 0 : i + 1))
			return false;
	return true;
}

/* A child's child has what the child had. */
static bool
copies_on(uint64_t at)
{
	long proc = kproc_create();

	uint64_t to = copy_to(proc, at, PAGES);

	if (!is_as_made(at) || to == 0)
		return false;
	for (unsigned i = 0; i < PAGES; i++)
		*word_at(at, i) = 7;
	kt_spawn_in(proc, READS_AND_WRITES, (unsigned long)to, ANY_CORE);
	if (kt_wait(proc, NULL) != READS_AND_WRITES)
		return false;
	for (unsigned i = 0; i < PAGES; i++)
		if (*word_at(at, i) != 7)
			return false;
	return true;
}

/* Others write to what it was copied from: it sees one state. */
static bool
sees_no_change(uint64_t at)
{
	for (unsigned i = 0; i < PAGES; i++) {
		uint32_t first = *word_at(at, i);

		for (int n = 0; n < 100; n++) {
			if (*word_at(at, i) != first)
				return false;
			if (n % 10 == 0)
				kthread_yield();
		}
	}
	return true;
}

/* Maps, copies and writes without end. */
static void
churn(void)
{
	long memory = kmemory_create(4);
	uint64_t at = reserve(4);

	for (;;) {
		long proc = kproc_create();

		if (kpage_map(SELF, (unsigned long)at, (int)memory, 0, 4, PRIVATE) == 0) {
			*word_at(at, 1) = 1;
			copy_to(proc, at, 4);
			*word_at(at, 1) = 2;
			*word_at(at, 2) = 2;
		}
		kpage_unmap(SELF, (unsigned long)at, 4);
		khandle_close((int)proc);
	}
}

static uint64_t common;
static uint32_t stop;

static unsigned long
writer(unsigned long first)
{
	uint32_t n = 0;

	while (__atomic_load_n(&stop, __ATOMIC_RELAXED) == 0) {
		for (unsigned i = 0; i < PAGES; i++)
			__atomic_fetch_add((uint32_t *)(uintptr_t)(common + (first + i) % PAGES *
				PAGE), 1, __ATOMIC_RELAXED);
		n++;
		kthread_yield();
	}
	return n;
}

/* Has all pages come as if it wrote to them, again and again. */
static unsigned long
populater(unsigned long wrong)
{
	while (__atomic_load_n(&stop, __ATOMIC_RELAXED) == 0) {
		for (long done = 0, n; done < PAGES; done += n) {
			n = kpage_populate((unsigned long)(common + (unsigned long)done * PAGE),
				PAGES - (int)done, PAGE_WRITE);
			if (n <= 0)
				return wrong + 1;
		}
		kthread_yield();
	}
	return wrong;
}

/* Its threads write to all pages while it is copied: no addition is lost, and no copy changes. */
static bool
is_a_parent(void)
{
	uint32_t rounds = 0;
	long thread[2], third;
	bool well = true;

	common = lazy(PAGES);
	third = kt_thread(populater, 0, ANY_CORE);
	for (unsigned i = 0; i < 2; i++)
		thread[i] = kt_thread(writer, i * 7, ANY_CORE);
	for (int n = 0; n < CHILDREN; n++) {
		long proc = kproc_create();
		uint64_t to = copy_to(proc, common, PAGES);

		well &= to != 0;
		kt_spawn_in(proc, SEES_NO_CHANGE, (unsigned long)to, ANY_CORE);
		well &= kt_wait(proc, NULL) == SEES_NO_CHANGE;
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	well &= kt_join(third) == 0;
	for (unsigned i = 0; i < 2; i++)
		rounds += (uint32_t)kt_join(thread[i]);
	for (unsigned i = 0; i < PAGES; i++)
		well &= *word_at(common, i) == rounds;
	return well;
}

/* Two pages that nobody may touch are its own when it has given itself the rights. */
static bool
takes_rights(uint64_t at)
{
	bool well = kpage_protect(SELF, (unsigned long)at, 2, RW) == 0 && *word_at(at, 0) == 7 &&
		*word_at(at, 1) == 8;

	*word_at(at, 0) = *word_at(at, 1) = 99;
	return well && *word_at(at, 1) == 99;
}

static bool
be_child(enum role role, uint64_t at)
{
	switch (role) {
	case READS_AND_WRITES:
		return reads_and_writes(at);
	case COPIES_ON:
		return copies_on(at);
	case SEES_NO_CHANGE:
		return sees_no_change(at);
	case FILLS:
		for (unsigned i = 0; i < MANY; i++)
			*word_at(at, i) = 5;
		return true;
	case IS_A_PARENT:
		return is_a_parent();
	case TOUCHES:
		return *word_at(at, 1) == 0;
	case TAKES_RIGHTS:
		return takes_rights(at);
	default:
		churn();
		return false;
	}
}

/* --- tests --- */

static void
wait_for_frames(uint64_t n)
{
	while (kt_stats(STATS_FRAMES_FREE) != n)
		kthread_yield();
}

static void
ends_well(long proc, enum role role)
{
	uint32_t cause = 0;

	expect_eq(kt_wait(proc, &cause), role);
	expect_eq(cause, CRASH_NONE);
}

/* Page tables and pieces that this process needs from then on are there. */
static uint64_t
frames_after_warming(void)
{
	uint64_t at = lazy(PAGES);

	*word_at(at, 0) = 1;
	expect_eq(kpage_unmap(SELF, (unsigned long)at, PAGES), 0);
	khandle_close((int)kmemory_create(1));
	return kt_stats(STATS_FRAMES_FREE);
}

/* test: page_map, page_query */
TEST(who_writes_gets_a_page_of_his_own)
{
	uint64_t before = frames_after_warming(), at = reserve(6);
	volatile uint32_t *shared = word_at(at, 0), *own = word_at(at, 3);
	long memory = kmemory_create(3);
	struct page_info first;

	expect_eq(kpage_map(SELF, (unsigned long)at, (int)memory, 0, 3, RW), 0);
	*shared = 11;
	expect_eq(kpage_map(SELF, (unsigned long)at + 3 * PAGE, (int)memory, 0, 3, PRIVATE), 0);
	first = info_of(at, 0);
	expect_eq(first.references, 3);
	expect_eq(info_of(at, 3).frame, first.frame);
	expect_eq(*own, 11);
	*shared = 12;
	expect_eq(*own, 12);
	*own = 13;
	expect_eq(*shared, 12);
	expect_eq(*own, 13);
	expect(info_of(at, 3).frame != first.frame);
	expect_eq(info_of(at, 3).references, 1);
	expect_eq(info_of(at, 3).prot, RW);
	expect_eq(info_of(at, 0).references, 2);
	expect_eq(info_of(at, 4).references, 3);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 6), 0);
	expect_eq(khandle_close((int)memory), 0);
	wait_for_frames(before);
}

TEST(the_last_who_has_a_frame_keeps_it)
{
	uint64_t before = frames_after_warming(), at = reserve(2);
	long memory = kmemory_create(2);
	struct page_info info;

	expect_eq(kpage_map(SELF, (unsigned long)at, (int)memory, 0, 2, PRIVATE), 0);
	expect_eq(khandle_close((int)memory), 0);
	while (info_of(at, 1).references > 1)
		kthread_yield();
	info = info_of(at, 1);
	*word_at(at, 1) = 5;
	expect_eq(info_of(at, 1).frame, info.frame);
	expect_eq(info_of(at, 1).prot, RW);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 2), 0);
	wait_for_frames(before);
}

/* test: page_populate */
TEST(a_private_page_comes_before_it_is_written_to)
{
	uint64_t before = frames_after_warming(), at = reserve(4), with;
	long memory = kmemory_create(2);

	expect_eq(kpage_map(SELF, (unsigned long)at, (int)memory, 0, 2, PRIVATE), 0);
	expect_eq(kpage_map(SELF, (unsigned long)at + 2 * PAGE, (int)memory, 0, 2, PAGE_READ), 0);
	expect_eq(kpage_populate((unsigned long)at, 2, PAGE_READ), 2);
	expect_eq(info_of(at, 1).frame, info_of(at, 3).frame);
	with = kt_stats(STATS_FRAMES_FREE);
	expect_eq(kpage_populate((unsigned long)at, 4, PAGE_WRITE), 2);
	expect_eq(with - kt_stats(STATS_FRAMES_FREE), 2);
	expect(info_of(at, 1).frame != info_of(at, 3).frame);
	*word_at(at, 1) = 5;
	expect_eq(*word_at(at, 3), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 4), 0);
	expect_eq(khandle_close((int)memory), 0);
	wait_for_frames(before);
}

/* test: handle_duplicate, page_protect */
TEST(a_private_page_needs_no_right_to_write)
{
	uint64_t at = reserve(3);
	long memory = kmemory_create(2), reader = khandle_duplicate((int)memory, SELF, RIGHT_READ);

	expect_eq(kpage_map(SELF, (unsigned long)at, (int)reader, 0, 1, RW), -E_ACCES);
	expect_eq(kpage_map(SELF, (unsigned long)at, (int)reader, 0, 1, PRIVATE), 0);
	expect_eq(kpage_map(SELF, (unsigned long)at + PAGE, (int)memory, 0, 1, PAGE_READ), 0);
	*word_at(at, 0) = 3;
	expect_eq(*word_at(at, 1), 0);
	/* narrowed and widened: it is its own as before */
	expect_eq(kpage_protect(SELF, (unsigned long)at, 1, PAGE_READ), 0);
	expect_eq(kpage_protect(SELF, (unsigned long)at, 1, RW), 0);
	*word_at(at, 0) = 4;
	/* mapped for reading, and widened: it never was */
	expect_eq(kpage_map(SELF, (unsigned long)at + 2 * PAGE, (int)reader, 0, 1,
		PAGE_READ | PAGE_PRIVATE), 0);
	expect_eq(kpage_protect(SELF, (unsigned long)at + 2 * PAGE, 1, RW), 0);
	*word_at(at, 2) = 5;
	expect_eq(*word_at(at, 1), 0);
	expect_eq(kpage_protect(SELF, (unsigned long)at, 1, PAGE_READ | PAGE_EXEC), -E_ACCES);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 3), 0);
	khandle_close((int)reader);
	khandle_close((int)memory);
}

TEST(kernel_calls_write_to_private_pages)
{
	uint64_t at = reserve(4);
	long memory = kmemory_create(2);

	expect_eq(kpage_map(SELF, (unsigned long)at, (int)memory, 0, 2, PAGE_READ), 0);
	expect_eq(kpage_map(SELF, (unsigned long)at + 2 * PAGE, (int)memory, 0, 2, PRIVATE), 0);
	expect_eq(kclock((uint64_t *)(uintptr_t)(at + 3 * PAGE - 4)), 0);
	expect(word_at(at, 3)[-1] != 0 || *word_at(at, 3) != 0);
	expect_eq(word_at(at, 1)[-1], 0);
	expect_eq(*word_at(at, 1), 0);
	expect_eq(info_of(at, 3).references, 1);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 4), 0);
	khandle_close((int)memory);
}

static uint64_t
made_pages(void)
{
	uint64_t at = lazy(PAGES);

	for (unsigned i = 0; i < PAGES; i++)
		if (i != 3)
			*word_at(at, i) = i + 1;
	return at;
}

/* test: page_copy */
TEST(a_process_has_a_copy_of_anothers_memory)
{
	uint64_t before = frames_after_warming(), at = made_pages(), used, to;
	long proc = kproc_create();

	used = kt_stats(STATS_FRAMES_FREE);
	to = copy_to(proc, at, PAGES);
	expect(to != 0);
	expect(kt_stats(STATS_FRAMES_FREE) >= used - 5);
	expect_eq(info_of(at, 0).references, 2);
	expect_eq(info_of(at, 3).references, 0);
	for (unsigned i = 0; i < PAGES; i += 3)
		*word_at(at, i) = 55;
	expect_eq(kt_spawn_in(proc, READS_AND_WRITES, (unsigned long)to, ANY_CORE), proc);
	ends_well(proc, READS_AND_WRITES);
	for (unsigned i = 0; i < PAGES; i++)
		expect_eq(*word_at(at, i), i % 3 == 0 ? 55 : i + 1);
	/* the child is gone */
	while (info_of(at, 1).references > 1)
		kthread_yield();
	*word_at(at, 1) = 56;
	expect_eq(kpage_unmap(SELF, (unsigned long)at, PAGES), 0);
	wait_for_frames(before);
}

/* test: page_copy, page_protect */
TEST(memory_that_was_there_at_once_is_copied_like_any_other)
{
	uint64_t before = frames_after_warming(), at = reserve(PAGES + 2), other = reserve(1), to;
	long proc = kproc_create(), memory = kmemory_create(PAGES);

	expect_eq(kpage_map(SELF, (unsigned long)at, (int)memory, 0, PAGES, RW), 0);
	expect_eq(kpage_map(SELF, (unsigned long)other, (int)memory, 0, 1, RW), 0);
	for (unsigned i = 0; i < PAGES; i++)
		*word_at(at, i) = i == 3 ? 0 : i + 1;
	expect_eq(kpage_protect(SELF, (unsigned long)at + 5 * PAGE, 2, PAGE_READ), 0);
	expect_eq(kpage_protect(SELF, (unsigned long)at + 6 * PAGE, 1, RW), 0);
	to = copy_to(proc, at, PAGES + 2);
	expect(to != 0);
	for (unsigned i = 0; i < PAGES; i += 3)
		*word_at(at, i) = 55;
	/* it is this process's own now, whoever else has the memory */
	expect_eq(*word_at(other, 0), 1);
	/* what was reserved still is, and what had fewer rights may get them back */
	expect_eq(kpage_map(SELF, (unsigned long)at + PAGES * PAGE, (int)memory, 0, 2, PAGE_READ),
		0);
	expect_eq(kpage_protect(SELF, (unsigned long)at + 5 * PAGE, 1, RW), 0);
	*word_at(at, 5) = 56;
	expect_eq(kt_spawn_in(proc, READS_AND_WRITES, (unsigned long)to, ANY_CORE), proc);
	ends_well(proc, READS_AND_WRITES);
	for (unsigned i = 0; i < PAGES; i++)
		expect_eq(*word_at(at, i), i % 3 == 0 ? 55 : i == 5 ? 56 : i + 1);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, PAGES + 2), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)other, 1), 0);
	khandle_close((int)memory);
	wait_for_frames(before);
}

TEST(copies_are_copied)
{
	uint64_t before = frames_after_warming(), at = made_pages();
	uint64_t to[CHILDREN];
	long proc[CHILDREN];

	for (int i = 0; i < CHILDREN; i++) {
		proc[i] = kproc_create();
		to[i] = copy_to(proc[i], at, PAGES);
		expect(to[i] != 0);
	}
	for (int i = 0; i < CHILDREN; i++)
		expect_eq(kt_spawn_in(proc[i], COPIES_ON, (unsigned long)to[i], ANY_CORE), proc[i]);
	for (int i = 0; i < CHILDREN; i++)
		ends_well(proc[i], COPIES_ON);
	expect(is_as_made(at));
	expect_eq(kpage_unmap(SELF, (unsigned long)at, PAGES), 0);
	wait_for_frames(before);
}

TEST(threads_write_while_their_memory_is_copied)
{
	uint64_t before = kt_stats(STATS_FRAMES_FREE);

	ends_well(kt_spawn(IS_A_PARENT, 0, ANY_CORE), IS_A_PARENT);
	wait_for_frames(before);
}

/* test: handle_revoke */
TEST(what_cannot_be_copied_is_refused)
{
	uint64_t at = lazy(3), to = 0;
	long proc = kproc_create(), memory = kmemory_create(2), view;

	expect_eq(kmem_alloc((int)proc, 4 * PAGE, 0, &to), 0);
	expect_eq(kpage_unmap((int)proc, (unsigned long)to, 4), 0);
	expect_eq(kpage_copy(12345, (unsigned long)at, 1, (unsigned long)to), -E_BADF);
	expect_eq(kpage_copy(SELF, (unsigned long)at, 1, (unsigned long)to), -E_INVAL);
	expect_eq(kpage_copy((int)proc, (unsigned long)at + 1, 1, (unsigned long)to), -E_INVAL);
	expect_eq(kpage_copy((int)proc, (unsigned long)at, 0, (unsigned long)to), -E_INVAL);
	expect_eq(kpage_copy((int)proc, (unsigned long)at, -1, (unsigned long)to), -E_INVAL);
	expect_eq(kpage_copy((int)proc, 0, 1, (unsigned long)to), -E_INVAL);
	expect_eq(kpage_copy((int)proc, (unsigned long)at, 1, 0), -E_INVAL);
	expect_eq(kpage_copy((int)proc, (unsigned long)at, 4, (unsigned long)to), -E_INVAL);
	expect_eq(kpage_unmap((int)proc, (unsigned long)to, 3), 0);
	view = khandle_duplicate((int)proc, SELF, RIGHT_READ);
	expect_eq(kpage_copy((int)view, (unsigned long)at, 1, (unsigned long)to), -E_ACCES);
	khandle_close((int)view);
	to = copy_to(proc, at, 3);
	expect(to != 0);
	expect_eq(kpage_copy((int)proc, (unsigned long)at, 3, (unsigned long)to), -E_EXIST);
	/* what was lent can be taken back, and with it what was written there */
	view = khandle_duplicate((int)memory, SELF, RIGHTS_ALL | HANDLE_VIEW);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 3), 0);
	at = reserve(2);
	expect_eq(kpage_map(SELF, (unsigned long)at, (int)view, 0, 2, PRIVATE), 0);
	*word_at(at, 0) = 9;
	expect_eq(kpage_copy((int)proc, (unsigned long)at, 1, (unsigned long)to), -E_ACCES);
	expect_eq(khandle_revoke((int)view), 0);
	expect_eq(kclock((uint64_t *)(uintptr_t)at), -E_FAULT);
	expect_eq(kclock((uint64_t *)(uintptr_t)(at + PAGE)), -E_FAULT);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 2), 0);
	expect_eq(kpage_map(SELF, (unsigned long)at, (int)memory, 0, 1, PRIVATE | PAGE_LARGE),
		-E_INVAL);
	khandle_close((int)memory);
	khandle_close((int)proc);
}

TEST(who_touches_what_has_no_rights_faults)
{
	uint64_t at[2] = {reserve(2), lazy(2)};
	long memory = kmemory_create(2);
	uint32_t cause;

	expect_eq(kpage_map(SELF, (unsigned long)at[0], (int)memory, 0, 2, RW), 0);
	khandle_close((int)memory);
	for (int i = 0; i < 2; i++) {
		*word_at(at[i], 0) = 7;
		*word_at(at[i], 1) = 8;
		expect_eq(kpage_protect(SELF, (unsigned long)at[i], 2, 0), 0);
		expect_eq(info_of(at[i], 1).prot & RW, 0);
		for (enum role role = TOUCHES; role <= TAKES_RIGHTS; role++) {
			long proc = kproc_create();
			uint64_t to = copy_to(proc, at[i], 2);

			expect_eq(kt_spawn_in(proc, role, (unsigned long)to, ANY_CORE), proc);
			cause = CRASH_NONE;
			expect_eq(kt_wait(proc, &cause) == (int)role, role == TAKES_RIGHTS);
			expect_eq(cause, role == TOUCHES ? CRASH_ACCESS : CRASH_NONE);
		}
		expect_eq(kpage_protect(SELF, (unsigned long)at[i], 2, RW), 0);
		expect_eq(*word_at(at[i], 0), 7);
		expect_eq(*word_at(at[i], 1), 8);
		expect_eq(kpage_unmap(SELF, (unsigned long)at[i], 2), 0);
	}
	/* what begins so */
	expect_eq(kmem_alloc(SELF, 2 * PAGE, PAGE_LAZY, &at[0]), 0);
	expect_eq(kpage_populate((unsigned long)at[0], 2, PAGE_READ), -E_FAULT);
	expect_eq(kpage_protect(SELF, (unsigned long)at[0], 1, RW), 0);
	*word_at(at[0], 0) = 3;
	expect_eq(kpage_populate((unsigned long)at[0] + PAGE, 1, PAGE_READ), -E_FAULT);
	expect_eq(kpage_unmap(SELF, (unsigned long)at[0], 2), 0);
	at[0] = reserve(1);
	memory = kmemory_create(1);
	expect_eq(kpage_map(SELF, (unsigned long)at[0], (int)memory, 0, 1, PAGE_PRIVATE), 0);
	expect_eq(kpage_populate((unsigned long)at[0], 1, PAGE_READ), -E_FAULT);
	expect_eq(kpage_protect(SELF, (unsigned long)at[0], 1, RW), 0);
	*word_at(at[0], 0) = 4;
	expect_eq(kpage_unmap(SELF, (unsigned long)at[0], 1), 0);
	khandle_close((int)memory);
}

/* test: proc_quota */
TEST(where_no_memory_is_left_a_write_is_a_fault)
{
	uint64_t before = frames_after_warming(), at = lazy(MANY), to;
	const struct proc_quota few = {.bytes = POOR_BYTES, .threads = 2, .processes = 1};
	uint32_t cause[2] = {CRASH_NONE, CRASH_NONE};

	for (unsigned i = 0; i < MANY; i++)
		*word_at(at, i) = i;
	for (int i = 0; i < 2; i++) {
		long proc = kproc_create();

		if (i == 1)
			expect_eq(kproc_quota((int)proc, &few), 0);
		to = copy_to(proc, at, MANY);
		expect_eq(kt_spawn_in(proc, FILLS, (unsigned long)to, ANY_CORE), proc);
		kt_wait(proc, &cause[i]);
	}
	expect_eq(cause[0], CRASH_NONE);
	expect_eq(cause[1], CRASH_ACCESS);
	for (unsigned i = 0; i < MANY; i++)
		expect_eq(*word_at(at, i), i);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, MANY), 0);
	wait_for_frames(before);
}

TEST(who_is_killed_at_a_copy_leaves_nothing)
{
	uint64_t before = frames_after_warming();

	for (unsigned round = 0; round < 20; round++) {
		long proc = kt_spawn(CHURNS, 0, ANY_CORE);

		for (unsigned n = 0; n < 3 + 5 * round; n++)
			kt_stats(STATS_PROCS);
		expect_eq(kproc_kill((int)proc, 0), 0);
		kt_wait(proc, NULL);
	}
	wait_for_frames(before);
}

int
server_main(int argc, char **argv)
{
	enum role role = (enum role)atoll_startup()->job;

	(void)argc;
	(void)argv;
	if (role != NONE)
		kproc_exit(be_child(role, atoll_startup()->shared) ? (int)role : 1000 + (int)role);
	RUN(who_writes_gets_a_page_of_his_own);
	RUN(the_last_who_has_a_frame_keeps_it);
	RUN(a_private_page_needs_no_right_to_write);
	RUN(kernel_calls_write_to_private_pages);
	RUN(a_private_page_comes_before_it_is_written_to);
	RUN(a_process_has_a_copy_of_anothers_memory);
	RUN(memory_that_was_there_at_once_is_copied_like_any_other);
	RUN(copies_are_copied);
	RUN(threads_write_while_their_memory_is_copied);
	RUN(what_cannot_be_copied_is_refused);
	RUN(who_touches_what_has_no_rights_faults);
	RUN(where_no_memory_is_left_a_write_is_a_fault);
	RUN(who_is_killed_at_a_copy_leaves_nothing);
	kt_end();
}
