/* SPDX-License-Identifier: MIT
 *
 * Memory that comes when it is touched: by threads, by kernel calls, by several at once; what is
 * said about it before; what happens where there is none left, and when who touches it is killed.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 */
#include <base/str.h>
#include <tests/kernel/ktest.h>
#include <usercpu/handler.h>
#include <usercpu/kcall.h>
#include <usercpu/start.h>

#define PAGE kt_page_bytes()
#define RW (PAGE_READ | PAGE_WRITE)
#define LAZY (RW | PAGE_LAZY)
#define STACK (32 * 1024)
#define BIT_FAULT 3
#define SMALL 40		/* pages that a child may have */
#define CROWD 6
#define CROWD_PAGES 12

/* what a child does; its exit status is the role if all was well */
enum role { NONE, FILLS, WRITES_TO_READ_ONLY, READS_GIVEN, HANDLES_WANT, HAS_LAZY_STACKS, CHURNS,
	TOUCHES_HOLE, IS_A_CROWD };

static volatile uint32_t *
word_at(uint64_t at, unsigned page)
{
	return (volatile uint32_t *)(uintptr_t)(at + page * PAGE);
}

/* Lazy memory of so many pages. */
static uint64_t
lazy(unsigned pages)
{
	uint64_t at = 0;

	return kmem_alloc(SELF, pages * PAGE, LAZY, &at) == 0 ? at : 0;
}

/* --- children --- */

static uint64_t wanted;			/* where the handler finds a page to give up */
static uint32_t given_up;

HANDLER_ENTRY(handler, serve)

/* There is no memory left: a page that was used goes, and the access comes again. */
long
serve(const struct handler_event *e)
{
	(void)e;
	kpage_unmap(SELF, (unsigned long)(wanted + given_up++ * PAGE), 1);
	return 0;
}

static bool
handles_want(void)
{
	uint64_t stack = 0;
	unsigned pages = 300;

	wanted = lazy(pages);
	if (kmem_alloc(SELF, STACK, RW, &stack) != 0)
		return false;
	kthread_handler(HANDLE_FAULTS, (unsigned long)handler, (unsigned long)stack + STACK);
	for (unsigned i = 0; i < pages; i++)
		*word_at(wanted, i) = i;
	for (unsigned i = given_up; i < pages; i++)
		if (*word_at(wanted, i) != i)
			return false;
	return given_up > 0 && given_up < pages;
}

static uint64_t hole;
static uint32_t served;

HANDLER_ENTRY(mapper, serve_hole)

/* Deep enough for pages of its stack that nobody has touched. */
long
serve_hole(const struct handler_event *e)
{
	volatile char deep[2 * 8192];
	long memory = kmemory_create(1);

	deep[0] = deep[sizeof(deep) - 1] = 1;
	served++;
	kpage_map(SELF, (unsigned long)e->addr & ~(PAGE - 1), (int)memory, 0, 1, RW);
	return 0;
}

/* Its handler's stack, and then its own, are lazy. */
static unsigned long
on_lazy_stacks(unsigned long arg)
{
	uint64_t stack = lazy(16), clock;

	if (kthread_handler(HANDLE_FAULTS, (unsigned long)mapper,
		(unsigned long)stack + 16 * PAGE) != 0)
		return 1;
	*word_at(hole, 0) = 5;
	if (kclock((uint64_t *)(uintptr_t)(hole + PAGE)) != 0 || kclock(&clock) != 0)
		return 2;
	return served != 2 || *word_at(hole, 0) != 5 ? 3 : arg;
}

static void
start_on_lazy_stacks(uintptr_t arg)
{
	for (;;)
		kthread_exit(on_lazy_stacks(arg));
}

static void
touch_hole(uintptr_t arg)
{
	(void)arg;
	*word_at(hole, 0) = 1;
	for (;;)
		kthread_exit(*word_at(hole, 0));
}

static bool
has_lazy_stacks(void)
{
	struct context ctx;
	uint64_t stack = lazy(16);

	kmem_alloc(SELF, 4 * PAGE, 0, &hole);
	context_init(&ctx, (uintptr_t)start_on_lazy_stacks, (uintptr_t)stack + 16 * PAGE -
		CONTEXT_CALL_BYTES, 0, 0);
	return kt_join(kthread_create(&ctx, ANY_CORE)) == 0;
}

/* Its fault is another process's to handle, with a stack that it has hardly used. */
static bool
faults_on_a_lazy_stack(unsigned long at)
{
	struct context ctx;
	uint64_t stack = lazy(16);

	hole = at;
	context_init(&ctx, (uintptr_t)touch_hole, (uintptr_t)stack + 16 * PAGE -
		CONTEXT_CALL_BYTES, 0, 0);
	return kt_join(kthread_create(&ctx, ANY_CORE)) == 1;
}

static uint64_t common;

static unsigned long
add_to_all(unsigned long first)
{
	for (unsigned i = 0; i < CROWD_PAGES; i++)
		__atomic_fetch_add((uint32_t *)(uintptr_t)(common +
			(first + i) % CROWD_PAGES * PAGE), 1, __ATOMIC_RELAXED);
	return 0;
}

/* Several touch a page at once. */
static bool
is_a_crowd(void)
{
	long thread[CROWD];
	bool well = true;

	for (int round = 0; round < 10; round++) {
		common = lazy(CROWD_PAGES);
		for (int i = 0; i < CROWD; i++)
			thread[i] = kt_thread(add_to_all, (unsigned long)i / 2, ANY_CORE);
		for (int i = 0; i < CROWD; i++)
			kt_join(thread[i]);
		for (unsigned i = 0; i < CROWD_PAGES; i++)
			well &= *word_at(common, i) == CROWD;
		kpage_unmap(SELF, (unsigned long)common, CROWD_PAGES);
	}
	return well;
}

/* Takes and gives up without end. */
static void
churn(void)
{
	for (;;) {
		uint64_t at = lazy(8);

		for (unsigned i = 0; at != 0 && i < 8; i += 2)
			*word_at(at, i) = 1;
		if (at != 0)
			kpage_populate((unsigned long)at, 8, PAGE_WRITE);
		if (at != 0)
			kpage_unmap(SELF, (unsigned long)at, 8);
	}
}

static bool
be_child(enum role role, unsigned long arg)
{
	uint64_t at;

	switch (role) {
	case FILLS:
		for (unsigned i = 0;; i++)
			*word_at(arg, i) = i;
	case WRITES_TO_READ_ONLY:
		at = lazy(2);
		if (kpage_protect(SELF, (unsigned long)at, 1, PAGE_READ) != 0 ||
			*word_at(at, 0) != 0)
			return false;
		*word_at(at, 1) = 1;
		*word_at(at, 0) = 1;
		return false;
	case READS_GIVEN:
		*word_at(arg, 1) = 7;
		return *word_at(arg, 0) == 0 && *word_at(arg, 1) == 7;
	case HANDLES_WANT:
		return handles_want();
	case HAS_LAZY_STACKS:
		return has_lazy_stacks();
	case TOUCHES_HOLE:
		return faults_on_a_lazy_stack(arg);
	case IS_A_CROWD:
		return is_a_crowd();
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

/* Page tables for an area stay with their process. */
static void
warm(void)
{
	uint64_t at = lazy(2);

	*word_at(at, 0) = 1;
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 2), 0);
}

/* test: mem_alloc, page_query */
TEST(a_page_comes_when_it_is_touched)
{
	struct page_info info;
	uint64_t at, before;

	warm();
	before = kt_stats(STATS_FRAMES_FREE);
	at = lazy(1000);
	expect(at != 0);
	expect(kt_stats(STATS_FRAMES_FREE) >= before - 1);
	expect_eq(kpage_query(SELF, (unsigned long)at + 5 * PAGE, &info), 0);
	expect_eq(info.prot, LAZY);
	expect_eq(info.references, 0);
	expect_eq(info.frame, -1);
	expect_eq(*word_at(at, 5), 0);
	*word_at(at, 7) = 17;
	expect_eq(*word_at(at, 5) + *word_at(at, 7), 17);
	for (int i = 5; i <= 7; i += 2) {
		expect_eq(kpage_query(SELF, (unsigned long)at + (unsigned)i * PAGE + 9, &info), 0);
		expect_eq(info.prot, RW);
		expect_eq(info.references, 1);
		expect(info.frame >= 0);
	}
	expect_eq(kpage_query(SELF, (unsigned long)at + 6 * PAGE, &info), 0);
	expect_eq(info.references, 0);
	expect(kt_stats(STATS_FRAMES_FREE) >= before - 5);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 7), 0);
	expect_eq(*word_at(at, 7), 17);
	expect_eq(kpage_query(SELF, (unsigned long)at + 5 * PAGE, &info), -E_INVAL);
	expect_eq(kpage_unmap(SELF, (unsigned long)at + 7 * PAGE, 993), 0);
	wait_for_frames(before);
}

/* More than there are frames. */
TEST(addresses_cost_nothing)
{
	uint64_t before = kt_stats(STATS_FRAMES_FREE);
	uint64_t at = lazy((unsigned)before * 2);

	expect(at != 0);
	*word_at(at, (unsigned)before * 2 - 1) = 3;
	expect_eq(*word_at(at, (unsigned)before * 2 - 1), 3);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, (int)before * 2), 0);
	wait_for_frames(before);
}

TEST(a_kernel_call_brings_the_pages_that_it_needs)
{
	uint64_t at = lazy(12), addr;
	char *end = (char *)(uintptr_t)(at + 3 * PAGE);

	expect_eq(kclock((uint64_t *)(uintptr_t)at), 0);
	expect(*word_at(at, 0) != 0 || word_at(at, 0)[1] != 0);
	/* over the border of two pages */
	expect_eq(kmem_alloc(SELF, PAGE, 0, (uint64_t *)(end - 4)), 0);
	memcpy(&addr, end - 4, sizeof(addr));
	expect_eq(kpage_unmap(SELF, (unsigned long)addr, 1), 0);
	expect_eq(kconsole_write((const void *)word_at(at, 5), 0), 0);
	expect_eq(kmailbox_write(12345, (const void *)word_at(at, 6)), -E_BADF);
	expect_eq(kfutex_wait((unsigned long)at + 7 * PAGE, 1, FOREVER), -E_AGAIN);
	expect_eq(kfutex_wait((unsigned long)at + 8 * PAGE, 0, 0), -E_TIMEDOUT);
	expect_eq(kpage_query(SELF, (unsigned long)at, (void *)word_at(at, 9)), 0);
	expect_eq(((const struct page_info *)word_at(at, 9))->references, 1);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 12), 0);
}

/* test: page_protect */
TEST(protection_holds_for_pages_that_come_later)
{
	uint64_t at = lazy(200);
	struct page_info info;
	uint32_t cause = 0;

	*word_at(at, 1) = 4;
	expect_eq(kpage_protect(SELF, (unsigned long)at, 3, PAGE_READ), 0);
	for (unsigned i = 0; i < 4; i++) {
		expect_eq(kpage_query(SELF, (unsigned long)at + i * PAGE, &info), 0);
		expect_eq(info.prot, i == 1 ? PAGE_READ : i == 3 ? LAZY : PAGE_READ | PAGE_LAZY);
	}
	expect_eq(*word_at(at, 0), 0);
	expect_eq(kpage_query(SELF, (unsigned long)at, &info), 0);
	expect_eq(info.prot, PAGE_READ);
	*word_at(at, 3) = 5;
	expect_eq(kpage_protect(SELF, (unsigned long)at, 200, RW), 0);
	for (unsigned i = 0; i < 200; i++)
		*word_at(at, i) = i;
	expect_eq(kpage_protect(SELF, (unsigned long)at + 50 * PAGE, 100, PAGE_READ | PAGE_EXEC),
		0);
	expect_eq(kpage_query(SELF, (unsigned long)at + 149 * PAGE, &info), 0);
	expect_eq(info.prot, PAGE_READ | PAGE_EXEC);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 200), 0);
	expect_eq(kpage_protect(SELF, (unsigned long)at, 200, RW), -E_INVAL);
	kt_wait(kt_spawn(WRITES_TO_READ_ONLY, 0, ANY_CORE), &cause);
	expect_eq(cause, CRASH_ACCESS);
}

TEST(what_cannot_be_is_refused)
{
	uint64_t at, plain, before = kt_stats(STATS_FRAMES_FREE);
	long memory = kmemory_create(3);

	expect_eq(kmem_alloc(SELF, PAGE, PAGE_LAZY | PAGE_WRITE, &at), -E_INVAL);
	expect_eq(kmem_alloc(SELF, PAGE, PAGE_LAZY | PAGE_EXEC, &at), -E_INVAL);
	expect_eq(kmem_alloc(SELF, PAGE, LAZY | PAGE_LARGE, &at), -E_INVAL);
	expect_eq(kmem_alloc(SELF, 0, LAZY, &at), -E_INVAL);
	expect_eq(kmem_alloc(12345, PAGE, LAZY, &at), -E_BADF);
	expect_eq(kmem_alloc(SELF, ~0ul / 4, LAZY, &at), -E_NOMEM);
	at = lazy(3);
	expect_eq(kpage_map(SELF, (unsigned long)at, (int)memory, 0, 1, RW), -E_EXIST);
	expect_eq(kpage_map(SELF, (unsigned long)at, (int)memory, 0, 1, LAZY), -E_INVAL);
	expect_eq(kpage_protect(SELF, (unsigned long)at, 3, LAZY), -E_INVAL);
	expect_eq(kpage_protect(SELF, (unsigned long)at, 3, PAGE_WRITE), -E_INVAL);
	expect_eq(kproc_events(SELF, (unsigned long)at), -E_INVAL);
	/* what follows without a gap is no part of it */
	expect_eq(kmem_alloc(SELF, 2 * PAGE, 0, &plain), 0);
	if (plain == at + 3 * PAGE) {
		expect_eq(kpage_protect(SELF, (unsigned long)at, 4, PAGE_READ), -E_INVAL);
		*word_at(at, 2) = 1;
	}
	expect_eq(kpage_unmap(SELF, (unsigned long)plain, 2), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 3), 0);
	expect_eq(khandle_close((int)memory), 0);
	wait_for_frames(before);
}

TEST(several_touch_a_page_at_once)
{
	uint64_t before = kt_stats(STATS_FRAMES_FREE);

	ends_well(kt_spawn(IS_A_CROWD, 0, ANY_CORE), IS_A_CROWD);
	wait_for_frames(before);
}

/* A child that may have little, ready to be started. */
static long
poor_child(void)
{
	const struct proc_quota few = {.bytes = SMALL * kt_page_bytes() + 64 * 1024 + 40 * 8192,
		.threads = 4, .processes = 1};
	long proc = kproc_create();

	expect_eq(kproc_quota((int)proc, &few), 0);
	return proc;
}

/* test: proc_quota */
TEST(where_no_memory_is_left_a_touch_is_a_fault)
{
	uint64_t at = 0, before = kt_stats(STATS_FRAMES_FREE);
	uint32_t cause = 0;
	long proc = poor_child();

	expect_eq(kmem_alloc((int)proc, 100 * SMALL * PAGE, LAZY, &at), 0);
	expect_eq(kt_spawn_in(proc, FILLS, (unsigned long)at, ANY_CORE), proc);
	kt_wait(proc, &cause);
	expect_eq(cause, CRASH_ACCESS);
	wait_for_frames(before);
}

TEST(a_handler_makes_room)
{
	uint64_t before = kt_stats(STATS_FRAMES_FREE);
	long proc = poor_child();

	expect_eq(kt_spawn_in(proc, HANDLES_WANT, 0, ANY_CORE), proc);
	ends_well(proc, HANDLES_WANT);
	wait_for_frames(before);
}

TEST(memory_of_another_process_comes_when_that_touches_it)
{
	long proc = kproc_create();
	uint64_t at = 0;

	expect_eq(kmem_alloc((int)proc, 2 * PAGE, LAZY, &at), 0);
	expect_eq(kt_spawn_in(proc, READS_GIVEN, (unsigned long)at, ANY_CORE), proc);
	ends_well(proc, READS_GIVEN);
}

TEST(stacks_may_be_lazy)
{
	ends_well(kt_spawn(HAS_LAZY_STACKS, 0, ANY_CORE), HAS_LAZY_STACKS);
}

/* test: fault_next */
TEST(other_faults_go_where_they_went)
{
	struct crash_info info = {.tid = 0};
	long proc = kproc_create(), memory = kmemory_create(1);
	uint64_t at = 0, lazy_at = 0;

	expect_eq(kmem_alloc((int)proc, PAGE, LAZY, &lazy_at), 0);
	expect_eq(kmem_alloc((int)proc, PAGE, 0, &at), 0);
	expect_eq(kevent_bind(EVENT_FAULT, (int)proc, BIT_FAULT), 0);
	expect_eq(kt_spawn_in(proc, TOUCHES_HOLE, (unsigned long)at, ANY_CORE), proc);
	expect_eq(kfault_next((int)proc, 0, 0, &info, FOREVER), 0);
	expect_eq(info.addr, at);
	expect_eq(kpage_map((int)proc, (unsigned long)at, (int)memory, 0, 1, RW), 0);
	expect_eq(kfault_next((int)proc, (uint32_t)info.tid, 0, &info, FOREVER), -E_SRCH);
	ends_well(proc, TOUCHES_HOLE);
	expect_eq(khandle_close((int)memory), 0);
}

/* Pages from one on come by as many calls as it takes: how many there are then. */
static long
populate(uint64_t at, int pages, int prot)
{
	long n, done = 0;

	do {
		n = kpage_populate((unsigned long)(at + (unsigned long)done * PAGE),
			pages - (int)done, prot);
		if (n > 0)
			done += n;
	} while (n > 0 && done < pages);
	return done > 0 ? done : n;
}

/* test: page_populate */
TEST(pages_come_before_they_are_touched)
{
	uint64_t at, before, with;

	warm();
	at = lazy(100);
	before = kt_stats(STATS_FRAMES_FREE);
	*word_at(at, 3) = 9;
	expect_eq(populate(at, 40, PAGE_READ), 40);
	with = kt_stats(STATS_FRAMES_FREE);
	expect(before - with >= 40 && before - with <= 42);
	for (unsigned i = 0; i < 40; i++)
		expect_eq(*word_at(at, i), i == 3 ? 9 : 0);
	expect_eq(populate(at, 40, PAGE_WRITE), 40);
	expect_eq(kt_stats(STATS_FRAMES_FREE), with);
	/* what can be reached ends there */
	expect_eq(populate(at + 90 * PAGE, 20, PAGE_WRITE), 10);
	expect_eq(kpage_protect(SELF, (unsigned long)at, 1, PAGE_READ), 0);
	expect_eq(kpage_populate((unsigned long)at, 1, PAGE_WRITE), -E_FAULT);
	expect_eq(kpage_populate((unsigned long)at, 1, PAGE_READ), 1);
	expect_eq(kpage_populate((unsigned long)at, 1, PAGE_EXEC), -E_FAULT);
	expect_eq(kpage_populate((unsigned long)at + 8, 1, PAGE_READ), -E_INVAL);
	expect_eq(kpage_populate((unsigned long)at, 0, PAGE_READ), -E_INVAL);
	expect_eq(kpage_populate((unsigned long)at, 1, LAZY), -E_INVAL);
	expect_eq(kpage_populate(~0ul - PAGE + 1, 2, PAGE_READ), -E_FAULT);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 100), 0);
	expect_eq(kpage_populate((unsigned long)at, 1, PAGE_READ), -E_FAULT);
}

TEST(as_many_come_as_there_is_memory_for)
{
	uint64_t before = kt_stats(STATS_FRAMES_FREE);
	uint64_t at = lazy((unsigned)before + 50);
	long there = populate(at, (int)before + 50, PAGE_WRITE);

	expect(there > 0 && there < (long)before);
	expect_eq(kpage_populate((unsigned long)at + (unsigned long)there * PAGE, 1, PAGE_WRITE),
		-E_NOMEM);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, (int)before + 50), 0);
	wait_for_frames(before);
}

TEST(who_is_killed_at_a_touch_leaves_nothing)
{
	uint64_t before = kt_stats(STATS_FRAMES_FREE);

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
		kproc_exit(be_child(role, (unsigned long)atoll_startup()->shared) ? (int)role :
			1000 + (int)role);
	RUN(a_page_comes_when_it_is_touched);
	RUN(addresses_cost_nothing);
	RUN(a_kernel_call_brings_the_pages_that_it_needs);
	RUN(protection_holds_for_pages_that_come_later);
	RUN(what_cannot_be_is_refused);
	RUN(several_touch_a_page_at_once);
	RUN(where_no_memory_is_left_a_touch_is_a_fault);
	RUN(a_handler_makes_room);
	RUN(memory_of_another_process_comes_when_that_touches_it);
	RUN(stacks_may_be_lazy);
	RUN(other_faults_go_where_they_went);
	RUN(pages_come_before_they_are_touched);
	RUN(as_many_come_as_there_is_memory_for);
	RUN(who_is_killed_at_a_touch_leaves_nothing);
	kt_end();
}
