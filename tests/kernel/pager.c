/* SPDX-License-Identifier: MIT
 *
 * A pager at user level: memory of a process that lies in another cluster. Cluster 1 keeps the
 * pages of a region; init of cluster 0 handles the faults of a child whose threads use the region,
 * and holds a few pages of it at a time, the rest goes back. A page is lent for reading first, so
 * that the first write is a fault, too, and only what was written travels back. Nothing is lost,
 * kernel calls of the child reach the region as its own accesses do, and when the store's cluster
 * dies the child ends with a fault.
 *
 * machine: 2 4 KC
 * machine: 2 2 TC
 * machine: 2 1 TC
 */
#include <base/str.h>
#include <tests/kernel/ktest.h>

#define PAGE kt_page_bytes()
#define RW (PAGE_READ | PAGE_WRITE)
#define PAGES 24		/* of the region */
#define HELD 5			/* of them at a time */
#define THREADS 3
#define ADDS 150		/* of each thread */
#define BIT_FAULT 3
#define FAR (64 * 1024 * 1024)	/* above what mem_alloc gives: there the region begins */
#define PORT_ASK 1
#define PORT_DATA 2
#define FETCHES_OF_A_SHORT_LIFE 4

enum role { NONE, ADDS_UP, READS_ONLY, CALLS, WAITS_FOR_EVER };
enum operation { FETCH = 1, STORE, DIE };

struct request {
	uint32_t operation;
	uint32_t page;
	unsigned char rest[MAILBOX_MSG_SIZE - 8];
};

/* --- cluster 1: keeps the pages --- */

static int
keep_pages(void)
{
	int in = (int)kmailbox_create(PORT_ASK), from = (int)kportal_create(PORT_DATA);
	int to = (int)kportal_open(0, PORT_DATA, PORT_DATA);
	uint64_t region = 0;
	struct request r;

	kmem_alloc(SELF, PAGES * PAGE, RW | PAGE_LAZY, &region);
	while (mailbox_receive(in, 0, &r) == 0) {
		unsigned long at = (unsigned long)region + r.page % PAGES * PAGE;

		if (r.operation == FETCH) {
			kportal_write(to, at, PAGE, FOREVER);
		} else if (r.operation == STORE) {
			kportal_allow(from, 0, PORT_DATA);
			kportal_read(from, at, PAGE, FOREVER);
		} else {
			break;
		}
	}
	return 0;
}

/* --- cluster 0: the child --- */

static volatile uint32_t *
word_at(uint64_t region, uint32_t page, uint32_t word)
{
	return (volatile uint32_t *)(uintptr_t)(region + page * PAGE) + word;
}

static uint64_t region_of_child;

/* The next of a sequence of numbers: which page. */
static uint32_t
step(uint32_t *x)
{
	*x = *x * 1664525 + 1013904223;
	return (*x >> 16) % PAGES;
}

static unsigned long
add_up(unsigned long me)
{
	uint32_t x = (uint32_t)me;

	for (int i = 0; i < ADDS; i++)
		__atomic_fetch_add(word_at(region_of_child, step(&x), (uint32_t)me % 2), 1,
			__ATOMIC_RELAXED);
	return 0;
}

static bool
reads_only(uint64_t region)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < 2 * PAGES; i++)
		sum += *word_at(region, i % PAGES, 0) + *word_at(region, i % PAGES, 1);
	return sum == 2 * THREADS * ADDS;
}

/* Results of kernel calls, and arguments, in pages that are not there, over their borders, too. */
static bool
calls(uint64_t region)
{
	for (uint32_t p = 0; p + 1 < PAGES; p++) {
		char *border = (char *)(uintptr_t)(region + (p + 1) * PAGE) - 4;
		uint64_t now = 0;

		if (kclock((uint64_t *)border) != 0)
			return false;
		memcpy(&now, border, sizeof(now));
		if (now == 0 || kconsole_write(border, 0) != 0 ||
			kstats(STATS_PROCS, (uint64_t *)border) != 0)
			return false;
	}
	return true;
}

static bool
be_child(enum role role, uint64_t region)
{
	long thread[THREADS];
	bool well = true;

	region_of_child = region;
	switch (role) {
	case ADDS_UP:
		for (unsigned i = 0; i < THREADS; i++)
			thread[i] = kt_thread(add_up, i, ANY_CORE);
		for (unsigned i = 0; i < THREADS; i++)
			well &= kt_join(thread[i]) == 0;
		return well;
	case READS_ONLY:
		return reads_only(region);
	case CALLS:
		return calls(region);
	default:
		for (uint32_t i = 0;; i++)
			*word_at(region, i % PAGES, 3) = i;
	}
}

/* --- the pager --- */

/* What is held of the region. */
struct held {
	int memory;			/* one page */
	uint64_t here;			/* where the pager has it */
	uint32_t page;			/* PAGES: none */
	bool written;
};

static struct {
	int ask, data_in, data_out;
	struct held held[HELD];
	uint32_t oldest;
	int child;
	uint64_t region;		/* of the child */
	uint32_t fetched, stored;
} pager;

/* A message that names a page, and the page itself. 0 or an error. */
static long
fetch(uint32_t page, const struct held *h)
{
	struct request r = {.operation = FETCH, .page = page};
	long e = kportal_allow(pager.data_in, 1, PORT_DATA);

	if (e == 0)
		e = mailbox_send(pager.ask, &r);
	if (e == 0)
		e = kportal_read(pager.data_in, (unsigned long)h->here, PAGE, FOREVER);
	pager.fetched++;
	return e < 0 ? e : 0;
}

static long
store(const struct held *h)
{
	struct request r = {.operation = STORE, .page = h->page};
	long e = mailbox_send(pager.ask, &r);

	if (e == 0)
		e = kportal_write(pager.data_out, (unsigned long)h->here, PAGE, FOREVER);
	pager.stored++;
	return e < 0 ? e : 0;
}

/* The child has it no more; what it wrote is in the store. */
static long
give_back(struct held *h)
{
	long e = 0;

	if (h->page == PAGES)
		return 0;
	kpage_unmap(pager.child, (unsigned long)(pager.region + h->page * PAGE), 1);
	if (h->written)
		e = store(h);
	h->page = PAGES;
	h->written = false;
	return e;
}

/* A page of the region that is not held. */
static long
bring(uint32_t page)
{
	struct held *h = &pager.held[pager.oldest++ % HELD];
	long e = give_back(h);

	if (e == 0)
		e = fetch(page, h);
	if (e != 0)
		return e;
	h->page = page;
	return kpage_map(pager.child, (unsigned long)(pager.region + page * PAGE), h->memory, 0, 1,
		PAGE_READ);
}

/* The child's page may be written to from now on: what was mapped to be read stays so. */
static long
let_write(struct held *h)
{
	unsigned long at = (unsigned long)(pager.region + h->page * PAGE);

	h->written = true;
	kpage_unmap(pager.child, at, 1);
	return kpage_map(pager.child, at, h->memory, 0, 1, RW);
}

/* What happens next to the thread that stopped there: where it goes on. */
static unsigned long
serve(const struct crash_info *info)
{
	uint64_t page = (info->addr - pager.region) / PAGE;

	if (info->addr < pager.region || page >= PAGES)
		return FAULT_REFUSED;
	for (unsigned i = 0; i < HELD; i++)
		if (pager.held[i].page == page)
			return info->write && let_write(&pager.held[i]) != 0 ? FAULT_REFUSED : 0;
	return bring((uint32_t)page) == 0 ? 0 : FAULT_REFUSED;
}

/* Serve a child until it ends: its status, *cause. Its pages go back then. */
static int
run_child(enum role role, uint32_t most, uint32_t *cause)
{
	struct crash_info info = {.tid = 0};
	long proc = kproc_create();
	unsigned long pc = 0;
	int status;

	pager.child = (int)proc;
	expect_eq(kmem_alloc((int)proc, PAGE, 0, &pager.region), 0);
	pager.region += FAR;
	expect_eq(kevent_bind(EVENT_FAULT, (int)proc, BIT_FAULT), 0);
	expect_eq(kt_spawn_in(proc, role, (unsigned long)pager.region, ANY_CORE), proc);
	for (uint32_t served = 0; kfault_next((int)proc, (uint32_t)info.tid, pc, &info,
		FOREVER) == 0;
		served++) {
		struct request last = {.operation = DIE};

		if (served == most)
			mailbox_send(pager.ask, &last);
		pc = serve(&info);
	}
	for (unsigned i = 0; i < HELD; i++)
		give_back(&pager.held[i]);
	*cause = 0;
	status = kt_end_of(proc, cause);
	khandle_close((int)proc);
	return status;
}

static void
pager_start(void)
{
	pager.ask = (int)kmailbox_open(1, PORT_ASK);
	pager.data_in = (int)kportal_create(PORT_DATA);
	pager.data_out = (int)kportal_open(1, PORT_DATA, PORT_DATA);
	for (unsigned i = 0; i < HELD; i++) {
		struct held *h = &pager.held[i];

		h->memory = (int)kmemory_create(1);
		h->page = PAGES;
		expect_eq(kmem_alloc(SELF, PAGE, 0, &h->here), 0);
		expect_eq(kpage_unmap(SELF, (unsigned long)h->here, 1), 0);
		expect_eq(kpage_map(SELF, (unsigned long)h->here, h->memory, 0, 1, RW), 0);
	}
}

/* --- tests --- */

/* What the threads of add_up leave in a word. */
static uint32_t
expected(uint32_t page, uint32_t word)
{
	uint32_t n = 0;

	for (uint32_t me = 0; me < THREADS; me++) {
		uint32_t x = me;

		for (int i = 0; i < ADDS; i++)
			n += step(&x) == page && me % 2 == word;
	}
	return n;
}

/* test: fault_next, page_map, page_unmap */
TEST(threads_work_in_memory_of_another_cluster)
{
	uint32_t cause;

	pager_start();
	expect_eq(run_child(ADDS_UP, -1u, &cause), ADDS_UP);
	expect_eq(cause, CRASH_NONE);
	expect(pager.fetched > PAGES && pager.stored > PAGES);
	for (uint32_t p = 0; p < PAGES; p++) {
		expect_eq(fetch(p, &pager.held[0]), 0);
		for (uint32_t w = 0; w < 2; w++)
			expect_eq(*word_at(pager.held[0].here, 0, w), expected(p, w));
	}
}

TEST(what_was_only_read_does_not_travel_back)
{
	uint32_t cause;

	pager.fetched = pager.stored = 0;
	expect_eq(run_child(READS_ONLY, -1u, &cause), READS_ONLY);
	expect_eq(cause, CRASH_NONE);
	expect_eq(pager.fetched, 2 * PAGES);
	expect_eq(pager.stored, 0);
}

TEST(kernel_calls_reach_it_too)
{
	uint32_t cause;

	expect_eq(run_child(CALLS, -1u, &cause), CALLS);
	expect_eq(cause, CRASH_NONE);
}

TEST(when_the_store_dies_the_process_ends_with_its_fault)
{
	uint32_t cause;

	expect(run_child(WAITS_FOR_EVER, FETCHES_OF_A_SHORT_LIFE, &cause) != WAITS_FOR_EVER);
	expect_eq(cause, CRASH_ACCESS);
}

int
server_main(int argc, char **argv)
{
	struct cluster_info info;
	enum role role = (enum role)atoll_startup()->job;

	(void)argc;
	(void)argv;
	kcluster_info(&info);
	if (info.cluster == 1)
		return keep_pages();
	if (role != NONE)
		kproc_exit(be_child(role, (uint64_t)atoll_startup()->shared) ? (int)role :
			1000 + (int)role);
	RUN(threads_work_in_memory_of_another_cluster);
	RUN(what_was_only_read_does_not_travel_back);
	RUN(kernel_calls_reach_it_too);
	RUN(when_the_store_dies_the_process_ends_with_its_fault);
	kt_end();
}
