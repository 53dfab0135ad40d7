/* SPDX-License-Identifier: MIT
 *
 * Memory that was lent through a view, and the view is revoked: whoever has mapped it can reach it
 * no more when the call has returned, in this process and in others, whatever else happens
 * meanwhile; what is mapped through another view stays; nothing is lost.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 * machine: 1 3 KC 2
 */
#include <tests/kernel/ktest.h>

#define PAGE kt_page_bytes()
#define RW (PAGE_READ | PAGE_WRITE)
#define LENT (RIGHT_READ | RIGHT_WRITE)
#define PAGES 15			/* that a child may map at control->at */
#define SECRET 0x5ec0de
#define MANY 60				/* pages: calls on them go in steps */
#define MAPPINGS 128			/* that a process may have through views */

enum role { WRITER = 1, OWN_WRITER, CALLER, JOINER, MAPPER, REVOKER, SPY, HOLDER };

/* In a page of the parent's. */
struct control {
	int handle;			/* what the child was given */
	uint32_t started;
	uint32_t go;
	uint64_t at;
};

/* of the child that was started last, in its parent */
static volatile struct control *control;

/* --- children --- */

static int
map_lent(volatile struct control *c)
{
	return (int)kpage_map(SELF, (unsigned long)c->at, c->handle, 0, 1, RW);
}

static unsigned long
write_on(unsigned long at)
{
	for (;;)
		++*(volatile uint32_t *)at;
	return 0;
}

/* Revokes what its own second thread writes to. */
static int
own_writer(volatile struct control *c)
{
	long memory = kmemory_create(1),
		view = khandle_duplicate((int)memory, SELF, RIGHTS_ALL | HANDLE_VIEW);
	volatile uint32_t *word = (volatile uint32_t *)(uintptr_t)c->at;

	if (kpage_map(SELF, (unsigned long)c->at, (int)view, 0, 1, RW) != 0)
		return 1;
	kt_thread(write_on, (unsigned long)c->at, kt_other_core());
	while (*word == 0)
		kthread_yield();
	if (khandle_revoke((int)view) != 0)
		return 2;
	(void)*word;
	return 3;
}

/* Results are written to the page until it is gone: each call does as it says. */
static int
caller(volatile struct control *c)
{
	long e;

	if (map_lent(c) != 0)
		return 1;
	while ((e = kstats(STATS_PROCS, (void *)(uintptr_t)c->at)) == 0)
		c->started = 1;
	return e == -E_FAULT && map_lent(c) == -E_BADF ? 0 : 2;
}

static unsigned long
end_on_word(unsigned long at)
{
	while (((volatile struct control *)at)->go == 0)
		kthread_yield();
	return 7;
}

/* The page goes while a call waits that will write its result there. */
static int
joiner(volatile struct control *c)
{
	long thread = kt_thread(end_on_word, (unsigned long)(uintptr_t)c, ANY_CORE);

	if (map_lent(c) != 0)
		return 1;
	c->started = 1;
	return kthread_join((int)thread, (void *)(uintptr_t)c->at, FOREVER) == -E_FAULT ? 0 : 2;
}

/* Maps and unmaps until the handle is dead: then nothing is mapped. */
static int
mapper(volatile struct control *c)
{
	unsigned long at = (unsigned long)c->at;
	struct page_info info;
	long e;

	while ((e = kpage_map(SELF, at, c->handle, 0, PAGES, RW)) == 0) {
		c->started++;
		if (c->started % 2)
			kpage_unmap(SELF, at, PAGES);
		else	/* the middle first */
			for (unsigned i = 0; i < PAGES; i++)
				kpage_unmap(SELF, at + (i * 4 + 7) % PAGES * PAGE, 1);
	}
	for (unsigned i = 0; i < PAGES; i++)
		if (kpage_query(SELF, at + i * PAGE, &info) != -E_INVAL)
			return 2;
	return e == -E_BADF ? 0 : 1;
}

/* Has no handle any more, which would keep the page. */
static int
spy(volatile struct control *c)
{
	if (map_lent(c) != 0 || khandle_close(c->handle) != 0)
		return 1;
	c->started = 1;
	while (*(volatile uint32_t *)(uintptr_t)c->at != SECRET)
		;
	return 66;
}

/* Each page is a mapping of its own. */
static int
hold(volatile struct control *c)
{
	for (unsigned i = PAGES; i-- > 0;)
		if (kpage_map(SELF, (unsigned long)c->at + i * PAGE, c->handle, (int)i, 1, RW) != 0)
			return 1;
	c->started = 1;
	for (;;)
		kthread_sleep(WAKE_ANY, FOREVER);
}

static int
child(uint32_t role, volatile struct control *c)
{
	switch (role) {
	case WRITER:
		if (map_lent(c) != 0)
			return 1;
		return (int)write_on((unsigned long)c->at);
	case OWN_WRITER:
		return own_writer(c);
	case CALLER:
		return caller(c);
	case JOINER:
		return joiner(c);
	case MAPPER:
		return mapper(c);
	case REVOKER:
		c->started = 1;
		while (c->go == 0)
			kthread_yield();
		return (int)khandle_revoke(c->handle);
	case SPY:
		return spy(c);
	case HOLDER:
		return hold(c);
	}
	return 99;
}

/* --- their parent --- */

static unsigned long
spot(int proc)
{
	uint64_t addr;

	return kmem_alloc(proc, (PAGES + 1) * PAGE, 0, &addr) < 0 ? 0 : (unsigned long)addr;
}

/* A child with a copy of a handle. */
static long
start(uint32_t role, int handle, unsigned rights, int core)
{
	static long page;
	static unsigned long mine;
	long proc = kproc_create();
	unsigned long at = spot((int)proc);

	if (mine == 0)
		mine = spot(SELF);
	else
		expect_eq(kpage_unmap(SELF, mine, 1), 0);
	page = kmemory_create(1);
	expect_eq(kpage_map(SELF, mine, (int)page, 0, 1, RW), 0);
	expect_eq(kpage_map((int)proc, at + PAGES * PAGE, (int)page, 0, 1, RW), 0);
	expect_eq(khandle_close((int)page), 0);
	control = (volatile struct control *)mine;
	control->at = at;
	control->handle = handle > 0 ? (int)khandle_duplicate(handle, (int)proc, rights) : 0;
	expect(control->handle >= 0);
	expect_eq(kt_spawn_in(proc, role, at + PAGES * PAGE, core), proc);
	return proc;
}

static void
wait_for_start(void)
{
	while (control->started == 0)
		kthread_yield();
}

static bool
is_mapped(long proc, unsigned long at)
{
	struct page_info info;

	return kpage_query((int)proc, at, &info) == 0;
}

static uint64_t
kernel_pages(void)
{
	return kt_stats(STATS_FRAMES_FREE) + kt_stats(STATS_PIECE_PAGES);
}

/* What nothing names comes back in steps. */
static void
wait_for_pages(uint64_t n)
{
	while (kernel_pages() != n)
		kthread_yield();
}

static int
view_of(long handle)
{
	return (int)khandle_duplicate((int)handle, SELF, RIGHTS_ALL | HANDLE_VIEW);
}

static void
close_all(long a, long b, long c)
{
	expect_eq(khandle_close((int)a), 0);
	expect_eq(khandle_close((int)b), 0);
	expect(c == 0 || khandle_close((int)c) == 0);
}

/* test: handle_revoke, page_map */
TEST(what_was_mapped_through_a_revoked_view_faults)
{
	long memory = kmemory_create(1), proc;
	unsigned long mine = spot(SELF);
	volatile uint32_t *word = (volatile uint32_t *)mine;
	int view = view_of(memory), other = kt_other_core();
	uint32_t cause, seen;

	expect_eq(kpage_map(SELF, mine, (int)memory, 0, 1, RW), 0);
	for (int round = 0; round < 10 && other >= 0; round++) {
		*word = 0;
		proc = start(WRITER, view, LENT, other);
		while (*word == 0)
			kthread_yield();
		expect_eq(khandle_revoke(view), 0);
		seen = *word;
		expect(!is_mapped(proc, (unsigned long)control->at));
		kt_pause(200);
		expect_eq(*word, seen);
		kt_wait(proc, &cause);
		expect_eq(cause, CRASH_ACCESS);
		proc = start(OWN_WRITER, 0, 0, ANY_CORE);
		kt_wait(proc, &cause);
		expect_eq(cause, CRASH_ACCESS);
	}
	expect_eq(kpage_unmap(SELF, mine, PAGES + 1), 0);
	close_all(memory, view, 0);
}

/*
 * Through the memory's own handle, through another view, and through the same one after it was
 * revoked.
 */
TEST(what_was_mapped_through_others_stays)
{
	unsigned long at = spot(SELF);
	long memory = kmemory_create(PAGES);
	int a = view_of(memory), below = view_of(a), b = view_of(memory);
	const int by[] = {a, below, b, (int)memory, a, a, a, a, a, a, below};

	for (int i = 0; i < 11; i++)
		expect_eq(kpage_map(SELF, at + (unsigned)i * PAGE, by[i], i, 1, RW), 0);
	*(volatile uint32_t *)(at + 2 * PAGE) = 5;
	expect_eq(kpage_unmap(SELF, at + 6 * PAGE, 1), 0);
	expect_eq(kpage_map(SELF, at + 6 * PAGE, b, 2, 1, PAGE_READ), 0);
	expect_eq(kpage_protect(SELF, at + 8 * PAGE, 1, PAGE_READ), 0);
	expect_eq(khandle_revoke(a), 0);
	for (int i = 0; i < 11; i++)
		expect_eq(is_mapped(SELF, at + (unsigned)i * PAGE), i == 2 || i == 3 || i == 6);
	expect_eq(*(volatile uint32_t *)(at + 6 * PAGE), 5);
	expect_eq(kpage_map(SELF, at, below, 0, 1, RW), -E_BADF);
	expect_eq(kpage_map(SELF, at, a, 0, PAGES - 12, RW), -E_EXIST);	/* the other's is there */
	expect_eq(kpage_map(SELF, at, a, 2, 2, RW), 0);
	expect_eq(*(volatile uint32_t *)at, 5);
	expect_eq(khandle_revoke(b), 0);
	expect_eq(is_mapped(SELF, at + 2 * PAGE) || is_mapped(SELF, at + 6 * PAGE), false);
	expect_eq(is_mapped(SELF, at) && is_mapped(SELF, at + PAGE) &&
		is_mapped(SELF, at + 3 * PAGE), true);
	expect_eq(khandle_revoke(a), 0);
	expect_eq(is_mapped(SELF, at) || is_mapped(SELF, at + PAGE), false);
	expect_eq(kpage_unmap(SELF, at, PAGES + 1), 0);
	expect_eq(khandle_close(below), 0);
	close_all(memory, a, b);
}

/* Many pages, in one mapping and in several processes, and a large one. */
TEST(all_pages_of_a_mapping_go)
{
	uint64_t before = 0, at;
	struct cluster_info info;
	unsigned large;

	kcluster_info(&info);
	large = (unsigned)(info.large_page_bytes / info.page_bytes);
	for (int round = 0; round < 2; round++) {
		long memory, proc;
		unsigned long other;
		int view, alone;

		before = kernel_pages();
		proc = kproc_create();
		other = spot((int)proc);
		memory = kmemory_create(MANY);
		view = view_of(memory);
		expect_eq(kmem_alloc(SELF, MANY * PAGE, 0, &at), 0);
		expect_eq(kpage_map(SELF, (unsigned long)at, view, 0, MANY, RW), 0);
		expect_eq(kpage_map((int)proc, other, view, 30, PAGES, RW), 0);
		expect_eq(kpage_unmap(SELF, (unsigned long)at + 20 * PAGE, 10), 0);
		expect_eq(khandle_revoke(view), 0);
		for (unsigned i = 0; i < MANY; i++)
			expect_eq(is_mapped(SELF, (unsigned long)at + i * PAGE), false);
		for (unsigned i = 0; i < PAGES; i++)
			expect_eq(is_mapped(proc, other + i * PAGE), false);
		expect_eq(kpage_unmap(SELF, (unsigned long)at, 20), 0);
		expect_eq(kpage_unmap(SELF, (unsigned long)at + 30 * PAGE, MANY - 30), 0);
		close_all(memory, view, 0);
		memory = kmem_alloc(SELF, info.large_page_bytes, RW | PAGE_LARGE, &at) == 0 &&
			kpage_unmap(SELF, (unsigned long)at, (int)large) == 0 ?
			kmemory_create((int)large) : -E_NOMEM;
		if (memory > 0) {
			view = view_of(memory);
			alone = view_of(memory);
			expect_eq(kpage_map(SELF, (unsigned long)at, view, 0, 1, RW | PAGE_LARGE),
				0);
			*(volatile uint32_t *)(uintptr_t)(at + 5 * PAGE) = 1;
			expect_eq(khandle_revoke(alone), 0);
			expect_eq(is_mapped(SELF, (unsigned long)at), true);
			expect_eq(khandle_revoke(view), 0);
			expect_eq(is_mapped(SELF, (unsigned long)at), false);
			expect_eq(kpage_unmap(SELF, (unsigned long)at, (int)large), 0);
			close_all(memory, view, alone);
		}
		expect_eq(kproc_kill((int)proc, 0), 0);
		kt_wait(proc, NULL);
	}
	wait_for_pages(before);
}

TEST(calls_that_use_the_page_end_with_an_error)
{
	const uint32_t role[] = {CALLER, JOINER};

	for (int round = 0; round < 10; round++) {
		long memory = kmemory_create(1), proc;
		int view = view_of(memory);

		proc = start(role[round % 2], view, LENT, ANY_CORE);
		wait_for_start();
		expect_eq(khandle_revoke(view), 0);
		control->go = 1;
		expect_eq(kt_wait(proc, NULL), 0);
		close_all(memory, view, 0);
	}
}

TEST(who_maps_meanwhile_has_nothing_in_the_end)
{
	for (int round = 0; round < 30; round++) {
		long memory = kmemory_create(PAGES), proc;
		int view = view_of(memory);

		proc = start(MAPPER, view, LENT, ANY_CORE);
		for (int i = 0; i < round * 3; i++)
			kt_stats(STATS_PROCS);
		expect_eq(khandle_revoke(view), 0);
		expect_eq(kt_wait(proc, NULL), 0);
		close_all(memory, view, 0);
	}
}

/*
 * Whoever dies, the one that revokes or the one that has mapped it, or both: the pages go, and come
 * back.
 */
TEST(deaths_meanwhile_leave_nothing)
{
	uint64_t before = 0;

	for (int round = 0; round < 24; round++) {
		long memory, holder, revoker;
		int view, copy;
		unsigned long at;

		memory = kmemory_create(PAGES);
		view = view_of(memory);
		copy = (int)khandle_duplicate(view, SELF, LENT);
		holder = start(HOLDER, view, LENT, ANY_CORE);
		wait_for_start();
		at = (unsigned long)control->at;
		revoker = start(REVOKER, view, RIGHTS_ALL & ~RIGHT_GRANT, ANY_CORE);
		wait_for_start();
		control->go = 1;
		for (int i = 0; i < round / 3; i++)
			kt_stats(STATS_PROCS);
		if (round % 3 != 0)
			expect_eq(kproc_kill((int)holder, 0), 0);
		if (round % 3 != 1)
			expect_eq(kproc_kill((int)revoker, 0), 0);
		kt_wait(revoker, NULL);
		if (round % 3 == 0) {
			long alive = khandle_duplicate(copy, SELF, LENT);

			expect(alive == -E_BADF || khandle_close((int)alive) == 0);
			for (unsigned i = 0; alive < 0 && i < PAGES; i++)
				while (is_mapped(holder, at + i * PAGE))
					kthread_yield();
			kproc_kill((int)holder, 0);
		}
		kt_wait(holder, NULL);
		if (round == 0)		/* page tables of this process stay */
			before = kernel_pages() + PAGES;
		close_all(memory, view, copy);
		wait_for_pages(before);
	}
}

static volatile uint32_t *watched;

/* Whoever has revoked it sees no more of its writer. */
static unsigned long
revoke_and_watch(unsigned long view)
{
	uint32_t seen;
	long e = khandle_revoke((int)view);

	if (e != 0)
		return e == -E_BADF ? 1 : 9;
	seen = *watched;
	kt_pause(100);
	return *watched == seen ? 0 : 8;
}

TEST(two_may_revoke_at_once)
{
	long memory = kmemory_create(1);
	unsigned long mine = spot(SELF);
	int above = view_of(memory), other = kt_other_core();
	uint32_t cause;

	watched = (volatile uint32_t *)mine;
	expect_eq(kpage_map(SELF, mine, (int)memory, 0, 1, RW), 0);
	for (int round = 0; round < 20 && other >= 0; round++) {
		int below = view_of(above), aside = view_of(memory);
		long proc, a, b;
		unsigned long ended;

		*watched = 0;
		proc = start(WRITER, below, LENT, other);
		while (*watched == 0)
			kthread_yield();
		a = kt_thread(revoke_and_watch, (unsigned long)(round % 2 ? above : below),
			kt_own_core());
		b = kt_thread(revoke_and_watch,
			(unsigned long)(round % 4 > 1 ? aside : round % 2 ? below : above),
			kt_own_core());
		/* whoever comes last may find that what is below has been revoked with the other */
		ended = (unsigned long)kt_join(a);
		expect(ended == 0 || (ended == 1 && round % 4 == 0));
		ended = (unsigned long)kt_join(b);
		expect(ended == 0 || (ended == 1 && round % 4 == 1));
		if (round % 4 > 1)
			expect_eq(khandle_revoke(above), 0);
		kt_wait(proc, &cause);
		expect_eq(cause, CRASH_ACCESS);
		close_all(below, aside, 0);
	}
	expect_eq(kpage_unmap(SELF, mine, PAGES + 1), 0);
	close_all(memory, above, 0);
}

/*
 * Their frames are somebody else's at once: the second page stays, so that the first is a piece of
 * its own, of which the next are made.
 */
TEST(who_had_the_page_never_reads_what_comes_next)
{
	for (int round = 0; round < 20 && kt_other_core() >= 0; round++) {
		long memory = kmemory_create(2), proc;
		int view = view_of(memory);
		struct page_info lent = {.frame = -1}, info = {.frame = -2};
		unsigned long at = spot(SELF);
		static uint64_t addr[600];
		uint32_t cause;
		int n = 0;

		expect_eq(kpage_map(SELF, at, (int)memory, 1, 1, RW), 0);
		proc = start(SPY, view, LENT, kt_other_core());
		wait_for_start();
		expect_eq(kpage_query((int)proc, (unsigned long)control->at, &lent), 0);
		expect_eq(khandle_revoke(view), 0);
		close_all(memory, view, 0);
		while (n < 600 && info.frame != lent.frame &&
			kmem_alloc(SELF, PAGE, RW, &addr[n]) == 0) {
			*(volatile uint32_t *)(uintptr_t)addr[n] = SECRET;
			kpage_query(SELF, (unsigned long)addr[n++], &info);
		}
		expect_eq(info.frame, lent.frame);
		kt_wait(proc, &cause);
		expect_eq(cause, CRASH_ACCESS);
		while (n > 0)
			expect_eq(kpage_unmap(SELF, (unsigned long)addr[--n], 1), 0);
		expect_eq(kpage_unmap(SELF, at, PAGES + 1), 0);
	}
}

/*
 * As many mappings as there may be, in this process and in another: one more is an error, and all
 * go.
 */
TEST(more_mappings_than_there_may_be_leave_no_trace)
{
	uint64_t before = 0, at;

	for (int round = 0; round < 2; round++) {
		long memory, proc;
		int view, n = 1;
		uint64_t there;
		long e = 0;

		before = kernel_pages();
		proc = kproc_create();
		memory = kmemory_create(3);
		view = view_of(memory);
		expect_eq(kmem_alloc(SELF, (2 * MAPPINGS + 8) * PAGE, 0, &at), 0);
		expect_eq(kmem_alloc((int)proc, (2 * MAPPINGS + 8) * PAGE, 0, &there), 0);
		expect_eq(kpage_map(SELF, (unsigned long)at, view, 0, 3, RW), 0);
		while (n <= MAPPINGS &&
			(e = kpage_map(SELF, (unsigned long)at + (unsigned)(2 * n + 2) * PAGE, view,
			0, 1, RW)) == 0)
			n++;
		expect_eq(n, MAPPINGS);
		expect_eq(e, -E_NOMEM);
		expect_eq(is_mapped(SELF, (unsigned long)at + (unsigned)(2 * n + 2) * PAGE), false);
		expect_eq(kpage_unmap(SELF, (unsigned long)at + PAGE, 1), -E_NOMEM);
		expect_eq(is_mapped(SELF, (unsigned long)at + PAGE), true);
		for (int i = 0; i < MAPPINGS; i++)
			expect_eq(kpage_map((int)proc,
				(unsigned long)there + (unsigned)(2 * i) * PAGE, view, 0, 1, RW),
				0);
		expect_eq(khandle_revoke(view), 0);
		for (int i = 0; i < 2 * MAPPINGS + 8; i++)
			expect_eq(is_mapped(SELF, (unsigned long)at + (unsigned)i * PAGE) ||
				is_mapped(proc, (unsigned long)there + (unsigned)i * PAGE), false);
		expect_eq(kpage_unmap(SELF, (unsigned long)at, 2 * MAPPINGS + 8), 0);
		close_all(memory, view, 0);
		expect_eq(kproc_kill((int)proc, 0), 0);
		kt_wait(proc, NULL);
	}
	expect_eq(kernel_pages(), before);
}

/* The account of the process pays for them: without room there is no mapping. */
TEST(a_mapping_that_cannot_be_charged_is_none)
{
	long memory = kmemory_create(1);
	int view = view_of(memory), failed = 0;

	for (unsigned round = 0; round < 2; round++) {
		struct proc_quota most = {.bytes = 16 * PAGE, .threads = 1, .processes = 1};
		uint64_t before = kernel_pages(), at;
		long proc = kproc_create(), e;

		expect_eq(kproc_quota((int)proc, &most), 0);
		expect_eq(kmem_alloc((int)proc, 2 * PAGE, 0, &at), 0);
		/* the tables are there, and stay as long as a page is mapped */
		expect_eq(kpage_map((int)proc, (unsigned long)at + PAGE, (int)memory, 0, 1, RW), 0);
		for (most.bytes = PAGE, e = -E_NOMEM; e == -E_NOMEM && most.bytes < 16 * PAGE;
			most.bytes += 32) {
			expect_eq(kproc_quota((int)proc, &most), 0);
			e = kpage_map((int)proc, (unsigned long)at, view, 0, 1, RW);
			expect_eq(is_mapped(proc, (unsigned long)at), e == 0);
			failed += e == -E_NOMEM;
		}
		expect_eq(e, 0);
		expect_eq(khandle_revoke(view), 0);
		expect_eq(is_mapped(proc, (unsigned long)at), false);
		expect_eq(is_mapped(proc, (unsigned long)at + PAGE), true);
		expect_eq(kproc_kill((int)proc, 0), 0);
		kt_wait(proc, NULL);
		expect(round == 0 || kernel_pages() == before);
	}
	expect(failed > 0);
	close_all(memory, view, 0);
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (atoll_startup()->job != 0)
		return child(atoll_startup()->job,
			(volatile struct control *)(uintptr_t)atoll_startup()->shared);
	/* that of the children, who run while we yield */
	kproc_priority(SELF, PRIORITY_PROGRAM);
	RUN(what_was_mapped_through_a_revoked_view_faults);
	RUN(what_was_mapped_through_others_stays);
	RUN(all_pages_of_a_mapping_go);
	RUN(calls_that_use_the_page_end_with_an_error);
	RUN(who_maps_meanwhile_has_nothing_in_the_end);
	RUN(deaths_meanwhile_leave_nothing);
	RUN(two_may_revoke_at_once);
	RUN(who_had_the_page_never_reads_what_comes_next);
	RUN(more_mappings_than_there_may_be_leave_no_trace);
	RUN(a_mapping_that_cannot_be_charged_is_none);
	kt_end();
}
