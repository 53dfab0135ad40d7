/* SPDX-License-Identifier: MIT
 *
 * Many threads wait for one thing, and a process has as much of everything as it can get: what then
 * happens at once takes home no longer than any call (tests/boot/test_stretches.py measures that,
 * phase by phase), and all who wait go on.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 */
#include <hal/perf.h>
#include <tests/kernel/ktest.h>
#include <usercpu/start.h>

#define PORT 3
#define MANY 3000			/* more than there are */
#define LEFT 24				/* entries of the table of threads that stay free */
#define BIT 5
#define PAGE kt_page_bytes()
#define TIMES 900
#define PAIRS 250			/* of a page that is claimed and one that is not */
#define MAPPINGS 128			/* that a process may have through views */
#define SHARERS 4			/* processes that have as many */
#define DEPTH 8				/* views below each other */
#define AREAS 120			/* of them, besides */

enum what { WRITERS, ROOM, READERS };

static int in, out, view;
static enum what what;
static uint32_t ready;			/* threads that wait, or will do so next */
static uint32_t gone_on;		/* threads that came back from their wait */
static long result;			/* that the last of them got */
static unsigned char message[MAILBOX_MSG_SIZE];

static unsigned long
waiter(unsigned long arg)
{
	unsigned char text[MAILBOX_MSG_SIZE];
	long e;

	if (what == ROOM) {
		kevent_bind(EVENT_ROOM, 0, BIT);
		e = kmailbox_write(out, text);
		__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
		e = e == -E_AGAIN ? kthread_sleep(1u << BIT, FOREVER) : e;
	} else {
		__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
		e = kmailbox_wait(what == READERS ? in : view, ANY_SOURCE_CLUSTER, FOREVER);
	}
	__atomic_store_n(&result, e, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&gone_on, 1, __ATOMIC_SEQ_CST);
	return arg;
}

static void
begin(uintptr_t arg)
{
	for (;;)
		kthread_exit(waiter(arg));
}

/* Thread number n, on the stack that it had before. */
static long
start(uint32_t n)
{
	static uint64_t stack[MANY];
	struct context ctx;
	long e = stack[n] != 0 ? 0 : kmem_alloc(SELF, PAGE, PAGE_READ | PAGE_WRITE, &stack[n]);

	if (e < 0)
		return e;
	context_init(&ctx, (uintptr_t)begin, (uintptr_t)stack[n] + PAGE - CONTEXT_CALL_BYTES, n, 0);
	return kthread_create(&ctx, ANY_CORE);
}

/* As many threads as there can be that wait for something; how many. */
static uint32_t
gather(enum what for_what, long *thread)
{
	uint32_t n = 0;
	long e = 0;

	what = for_what;
	ready = gone_on = 0;
	for (; n < MANY; n++) {
		e = start(n);
		if (e < 0)
			break;
		thread[n] = e;
	}
	expect(n > LEFT);
	while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < n)
		kthread_yield();
	expect_eq(gone_on, 0);
	return n;
}

static void
all_go_on(long *thread, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		expect_eq(kt_join(thread[i]), i);
	expect_eq(gone_on, n);
}

static long thread[MANY];

static void
open_ports(void)
{
	in = (int)kmailbox_create(PORT);
	out = (int)kmailbox_open(0, PORT);
	expect(in > 0 && out > 0);
	view = (int)khandle_duplicate(out, SELF, RIGHTS_ALL | HANDLE_VIEW);
	expect(view > 0);
}

static void
close_ports(void)
{
	khandle_close(view);
	khandle_close(out);
	expect_eq(khandle_close(in), 0);
}

/* One message is read, and all threads that wait to write, or for room, go on. */
static void
one_read_wakes_all(enum what for_what)
{
	char sender[MAIL_SENDER_SIZE];
	uint32_t n;

	open_ports();
	expect_eq(kmailbox_write(out, message), 0);
	n = gather(for_what, thread);
	if (for_what == WRITERS)
		hal_mark(20);
	else
		hal_mark(21);
	expect_eq(kmailbox_read(in, ANY_SOURCE_CLUSTER, message, sender), 0);
	all_go_on(thread, n);
	hal_mark(19);
	close_ports();
}

TEST(all_that_wait_to_write_go_on)
{
	one_read_wakes_all(WRITERS);
}

TEST(all_that_wait_for_room_go_on)
{
	one_read_wakes_all(ROOM);
}

TEST(all_that_wait_to_read_go_on)
{
	uint32_t n;

	open_ports();
	n = gather(READERS, thread);
	hal_mark(22);
	expect_eq(kmailbox_write(out, message), 0);
	all_go_on(thread, n);
	hal_mark(19);
	close_ports();
}

TEST(all_waits_through_a_dead_handle_end)
{
	uint32_t n;

	open_ports();
	expect_eq(kmailbox_write(out, message), 0);
	n = gather(WRITERS, thread);
	hal_mark(23);
	expect_eq(khandle_revoke(view), 0);
	khandle_close(view);
	all_go_on(thread, n);
	hal_mark(19);
	expect_eq(result, -E_BADF);
	close_ports();
}

TEST(all_threads_lose_a_priority_and_cores)
{
	struct cluster_info here;
	uint32_t n;

	kcluster_info(&here);
	open_ports();
	n = gather(READERS, thread);
	hal_mark(24);
	expect_eq(kproc_priority(SELF, 0), 0);
	expect_eq(kproc_cores(SELF, 0, (int)here.cores), 0);
	expect_eq(kproc_cores(SELF, kt_own_core(), 1), 0);
	hal_mark(19);
	expect_eq(kmailbox_write(out, message), 0);
	all_go_on(thread, n);
	close_ports();
}

TEST(a_port_is_opened_again_and_again)
{
	hal_mark(25);
	for (int i = 0; i < TIMES; i++) {
		in = (int)kmailbox_create(PORT);
		out = (int)kmailbox_open(0, PORT);
		if (out < 0)
			break;
		expect_eq(kmailbox_write(out, message), 0);
		kmailbox_read(in, ANY_SOURCE_CLUSTER, message, message);
		expect_eq(kmailbox_write(out, message), 0);
		expect_eq(khandle_close(in), 0);
	}
	hal_mark(19);
}

/* Pages with holes between them. */
TEST(a_process_has_many_areas)
{
	uint64_t first, at;
	long e = kmem_alloc(SELF, 2 * PAIRS * PAGE, 0, &first);

	expect_eq(e, 0);
	for (at = first; at < first + 2 * PAIRS * PAGE; at += 2 * PAGE)
		expect_eq(kpage_unmap(SELF, (unsigned long)at, 1), 0);
	hal_mark(26);
	expect_eq(kmem_alloc(SELF, 6 * PAGE, PAGE_READ | PAGE_WRITE, &at), 0);
	/* the lowest is looked up, and then the highest */
	expect_eq(kpage_unmap(SELF, (unsigned long)first, 1), -E_INVAL);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 6), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)first, 1), -E_INVAL);
	expect_eq(kpage_unmap(SELF, (unsigned long)(first + (2 * PAIRS - 1) * PAGE), 1), 0);
	expect_eq(kmem_alloc(SELF, PAGE, 0, &at), 0);
	expect_eq(at, first);
	hal_mark(19);
	for (at = first; at < first + 2 * PAIRS * PAGE; at += PAGE)
		kpage_unmap(SELF, (unsigned long)at, 1);
}

/*
 * A page of a memory of many, which lives only by this mapping, through a view below seven others:
 * no handle of it is left.
 */
static void
map_deep(unsigned long at)
{
	int handle[2 + DEPTH] = {(int)kmemory_create(16)};

	for (int i = 0; i < DEPTH; i++)
		handle[i + 1] = (int)khandle_duplicate(handle[i], SELF, RIGHTS_ALL | HANDLE_VIEW);
	expect_eq(kpage_map(SELF, at, handle[DEPTH], 0, 1, PAGE_READ), 0);
	for (int i = 0; i <= DEPTH; i++)
		expect_eq(khandle_close(handle[i]), 0);
}

/*
 * Of a process with as many mappings of a memory as it can have, each in an area of its own, behind
 * the pages that are given.
 */
static void
map_many(int proc, unsigned long at, const int *by, int n)
{
	for (int i = 0; i < n; i++)
		expect_eq(kpage_map(proc, at + (unsigned)(2 * i) * PAGE, by[i % 2], i % 8, 1,
			PAGE_READ | PAGE_WRITE), 0);
}

/*
 * Half of the mappings of one memory in several processes are dead at once, and the others are
 * looked at.
 */
TEST(many_mappings_of_one_memory_go)
{
	int memory = (int)kmemory_create(8), view[2] = {memory, memory};
	long proc[SHARERS], alone;
	uint64_t at, there;

	for (int i = 0; i < DEPTH; i++)
		for (int n = 0; n < 2; n++)
			view[n] = (int)khandle_duplicate(view[n], SELF, RIGHTS_ALL | HANDLE_VIEW);
	expect_eq(kmem_alloc(SELF, (2 * MAPPINGS + 8) * PAGE, 0, &at), 0);
	hal_mark(27);
	for (unsigned i = 0; i < 6; i++)
		map_deep((unsigned long)at + i * PAGE);
	map_many(SELF, (unsigned long)at + 6 * PAGE, view, MAPPINGS - 6);
	for (int i = 0; i < SHARERS; i++) {
		proc[i] = kproc_create();
		expect_eq(kmem_alloc((int)proc[i], (2 * AREAS + 2) * PAGE, 0, &there), 0);
		for (unsigned n = 0; n < AREAS; n++)
			expect_eq(kpage_unmap((int)proc[i],
				(unsigned long)there + (2 * n + 1) * PAGE, 1), 0);
		map_many((int)proc[i], (unsigned long)there + (2 * AREAS + 4) * PAGE, view,
			MAPPINGS);
		expect_eq(kpage_unmap((int)proc[i], (unsigned long)there, 1), 0);
		expect_eq(kpage_unmap((int)proc[i],
			(unsigned long)there + (2 * AREAS + 2 + 2 * MAPPINGS) * PAGE, 1), 0);
		expect_eq(kpage_unmap((int)proc[i], (unsigned long)there + 2 * PAGE, 1), 0);
		expect_eq(kpage_map((int)proc[i],
			(unsigned long)there + (2 * AREAS + 2 + 2 * MAPPINGS) * PAGE, view[0], 0, 1,
			PAGE_READ), 0);
	}
	alone = kproc_create();		/* of whose tables nothing is left */
	expect_eq(kmem_alloc((int)alone, 8 * PAGE, 0, &there), 0);
	expect_eq(kpage_map((int)alone, (unsigned long)there, view[0], 0, 8, PAGE_READ), 0);
	expect_eq(kpage_map(SELF, (unsigned long)at + 2 * MAPPINGS * PAGE, view[0], 0, 1,
		PAGE_READ), -E_NOMEM);
	expect_eq(khandle_revoke(view[0]), 0);
	expect_eq(kpage_map(SELF, (unsigned long)at + 2 * MAPPINGS * PAGE, view[0], 0, 4,
		PAGE_READ), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)at + (2 * MAPPINGS + 1) * PAGE, 1), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 6), 0);
	expect_eq(kpage_map((int)alone, (unsigned long)there, view[1], 0, 8, PAGE_READ), 0);
	expect_eq(kpage_unmap((int)alone, (unsigned long)there, 8), 0);
	expect_eq(khandle_close((int)alone), 0);
	expect_eq(khandle_revoke(view[1]), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)at + 6 * PAGE, 2 * MAPPINGS - 5), 0);
	map_many(SELF, (unsigned long)at + 8 * PAGE, view, 8);
	for (int i = 0; i < SHARERS; i++) {
		expect_eq(kproc_kill((int)proc[i], 0), 0);
		kt_wait(proc[i], NULL);
	}
	hal_mark(19);
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	RUN(all_that_wait_to_write_go_on);
	RUN(all_that_wait_for_room_go_on);
	RUN(all_that_wait_to_read_go_on);
	RUN(all_waits_through_a_dead_handle_end);
	RUN(a_port_is_opened_again_and_again);
	RUN(a_process_has_many_areas);
	RUN(many_mappings_of_one_memory_go);
	RUN(all_threads_lose_a_priority_and_cores);
	kt_end();
}
