/* SPDX-License-Identifier: MIT
 *
 * What a process exhausts: tables, memory in each of its forms, limits that it was given. It gets a
 * documented error, others go on, the first process can act, and when the other is killed
 * everything is back, so that the next one gets exactly as much. A process that floods its kernel
 * core with calls or text keeps nobody from being served.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 */
#include <tests/kernel/ktest.h>
#include <usercpu/start.h>

/* the first is not compared: page tables of this process stay */
#define ROUNDS 3
#define CALLS 200
#define TURNS 50
#define SMALL_STACK 8192
#define CROWD 100			/* threads at once that have so small a stack */
/* of what there is, that a process with limits gets: one in so many */
#define SHARE 4
#define PAGE kt_page_bytes()
#define RW (PAGE_READ | PAGE_WRITE)

enum role {
	THREADS = 1, PROCESSES, MEMORY, FRAMES, HANDLES, AREAS, TABLES, HIGH_TABLES, MAILBOXES,
	PORTALS,
	EVERYTHING,			/* all of these in turn */
	ROLES,
	/* makes and gives up some of everything; gives limits to a child */
	WORKER, PARENT,
	STARVED,			/* makes threads without memory */
	CALL_FLOOD, TEXT_FLOOD
};

/* What a child says, in a page of its parent's. */
struct report {
	uint32_t error;			/* that ended its meal; 0: it still eats */
	uint32_t count;
};

static unsigned long
nap(unsigned long arg)
{
	for (;;)
		kthread_sleep(WAKE_ANY, FOREVER);
	return arg;
}

/* Pages with holes between them: each is an area of its own. */
static long
bite_area(void)
{
	static uint64_t at, end;
	long e;

	if (at == end) {
		e = kmem_alloc(SELF, 64 * PAGE, 0, &at);
		if (e != 0)
			return e;
		end = at + 64 * PAGE;
	}
	e = kpage_unmap(SELF, (unsigned long)at, 1);
	at += e == 0 ? 2 * PAGE : 0;
	return e;
}

/* A page that needs a table of its own, or two. The end of the addresses is an end, too. */
static long
bite_table(uint64_t step)
{
	static int frame = -1;
	static uint64_t at;
	long e;

	if (frame < 0) {
		e = kmem_alloc(SELF, PAGE, RW, &at);
		frame = (int)(e == 0 ? kmemory_create(1) : e);
		if (frame < 0)
			return frame;
	}
	at = (at / step + 1) * step;
	e = at == (unsigned long)at ? kpage_map(SELF, (unsigned long)at, frame, 0, 1, RW) :
		-E_INVAL;
	return e == -E_INVAL ? -E_NOMEM : e;
}

static long
bite(uint32_t role, uint32_t n)
{
	static int made;
	struct cluster_info info;
	uint64_t at;
	long e;

	kcluster_info(&info);
	switch (role) {
	case THREADS:
		return kt_thread(nap, 0, ANY_CORE);
	case PROCESSES:
		return kproc_create();
	case MEMORY:
		e = kmem_alloc(SELF, 64 * PAGE, RW, &at);
		return e == -E_NOMEM ? kmem_alloc(SELF, PAGE, RW, &at) : e;
	case FRAMES:
		e = kmemory_create(16);
		return e == -E_NOMEM ? kmemory_create(1) : e;
	case HANDLES:
		made = made == 0 ? (int)kthread_self() : made;
		return khandle_duplicate(made, SELF, RIGHTS_ALL | (n % 2 ? HANDLE_VIEW : 0));
	case AREAS:
		return bite_area();
	case TABLES:
		return bite_table(info.large_page_bytes);
	case HIGH_TABLES:
		return bite_table(1u << 30);
	case MAILBOXES:		/* there is one creator per port; an opened one is the same again */
		return n < info.mailbox_ports ? kmailbox_create((int)n) : -E_MFILE;
	case PORTALS:
		if (n < info.portal_ports)
			return kportal_create((int)n);
		n -= info.portal_ports;
		return n < info.portal_ports * info.portal_ports ?
			kportal_open((int)info.cluster, (int)(n % info.portal_ports),
			(int)(n / info.portal_ports)) : -E_MFILE;
	}
	return -E_INVAL;
}

static long
feast(uint32_t n)
{
	long best = -E_NOMEM;

	for (uint32_t role = THREADS; role < EVERYTHING; role++) {
		long e = bite(role, n);

		best = e >= 0 ? 0 : best;
	}
	return best;
}

static int
eat(uint32_t role, struct report *r)
{
	long e;

	while ((e = role == EVERYTHING ? feast(r->count) : bite(role, r->count)) >= 0)
		r->count++;
	__atomic_store_n(&r->error, (uint32_t)-e, __ATOMIC_RELEASE);
	for (; role == EVERYTHING; kthread_yield())	/* and it does not stop trying */
		feast(r->count);
	return (int)nap(0);
}

/* --- one that has limits of its own, and works within them --- */

static void
leave(uintptr_t arg)
{
	for (;;)
		kthread_exit(arg);
}

/* A thread that ends with a value, and whose stack is there. Its handle or an error. */
static long
thread_on(uintptr_t stack, uintptr_t value)
{
	struct context ctx;

	context_init(&ctx, (uintptr_t)leave, stack + SMALL_STACK - CONTEXT_CALL_BYTES, value, 0);
	return kthread_create(&ctx, ANY_CORE);
}

static long
small_thread(uintptr_t value)
{
	static unsigned char stack[SMALL_STACK] __attribute__((aligned(16)));

	return thread_on((uintptr_t)stack, value);
}

/* One of everything, and back. 0, or what went wrong. */
static long
turn(void)
{
	long thread = small_thread(7), id;
	uint64_t at;

	if (thread < 0 || kt_join(thread) != 7)
		return thread < 0 ? thread : -E_IO;
	id = kmem_alloc(SELF, 8 * PAGE, RW, &at);
	if (id == 0)
		id = kpage_unmap(SELF, (unsigned long)at, 8);
	if (id != 0)
		return id;
	id = kmemory_create(4);
	if (id < 0 || khandle_close((int)id) != 0)
		return id < 0 ? id : -E_IO;
	id = kmailbox_open(0, 1);
	if (id < 0 || khandle_close((int)id) != 0)
		return id < 0 ? id : -E_IO;
	id = kproc_create();
	if (id < 0 || khandle_close((int)id) != 0)
		return id < 0 ? id : -E_IO;
	return 0;
}

static _Noreturn void
work(struct report *r)
{
	for (;;) {
		long e = turn();

		/* a process that nobody names ends a little later */
		if (e != 0 && e != -E_NOSPC) {
			__atomic_store_n(&r->error, (uint32_t)-e, __ATOMIC_RELEASE);
			nap(0);
		}
		__atomic_fetch_add(&r->count, e == 0, __ATOMIC_RELEASE);
	}
}

/* A process that may do less than its parent: the number of the line where it may do more, or 0. */
static int
parent(void)
{
	struct proc_quota few = {.bytes = 24 * PAGE, .processes = 1}, none = {0};
	int proc = (int)kproc_create(), other = (int)kproc_create(), pages = 0;
	uint64_t at;

	if (kproc_quota(proc, &few) != 0 || kproc_quota(SELF, &few) != -E_BUSY ||
		kproc_quota(99, &few) != -E_BADF)
		return __LINE__;
	while (pages < 100 && kmem_alloc(proc, PAGE, RW, &at) == 0)
		pages++;
	if (pages < 8 || pages >= 24 || kmem_alloc(SELF, PAGE, RW, &at) != 0 ||
		kmem_alloc(other, PAGE, RW, &at) != 0)
		return __LINE__;
	if (kproc_quota(other, &few) != -E_BUSY || kproc_quota(proc, &none) != 0)
		return __LINE__;
	if (kmem_alloc(proc, PAGE, RW, &at) != -E_NOMEM || khandle_close(proc) != 0)
		return __LINE__;
	return 0;
}

static const int of_threads[] = {STATS_THREADS, STATS_FRAMES_FREE, STATS_PIECE_PAGES};
#define OF_THREADS ((int)(sizeof(of_threads) / sizeof(of_threads[0])))

/* What a call that makes a thread changes when it fails for want of memory: nothing. */
static bool
fails_without_trace(void)
{
	uint64_t was[OF_THREADS];

	for (int i = 0; i < OF_THREADS; i++)
		was[i] = kt_stats(of_threads[i]);
	for (int n = 0; n < CALLS; n++)
		if (small_thread(1) != -E_NOMEM)
			return false;
	for (int i = 0; i < OF_THREADS; i++)
		if (kt_stats(of_threads[i]) != was[i])
			return false;
	return true;
}

/*
 * Memory is taken until there is none for a thread: the number of the line that is wrong, or 0.
 * Threads that have ended keep their records until they are joined; one more fits when there is
 * memory again.
 */
static int
starved(void)
{
	uint64_t pages, stack, at;
	long thread[CROWD], e = 0;
	int n = 0;

	if (kmem_alloc(SELF, 2 * PAGE, RW, &pages) != 0 ||
			kmem_alloc(SELF, CROWD * SMALL_STACK, RW, &stack) != 0)
		return __LINE__;
	while (kmem_alloc(SELF, 64 * PAGE, RW, &at) == 0 || kmem_alloc(SELF, PAGE, RW, &at) == 0)
		continue;
	while (n < CROWD - 1 && (e = thread_on((uintptr_t)stack, (uintptr_t)n)) > 0) {
		thread[n++] = e;
		stack += SMALL_STACK;
	}
	if (e != -E_NOMEM || !fails_without_trace())
		return __LINE__;
	if (kpage_unmap(SELF, (unsigned long)pages, 2) != 0)
		return __LINE__;
	e = thread_on((uintptr_t)stack, (uintptr_t)n);
	if (e < 0)
		return __LINE__;
	thread[n++] = e;
	while (--n >= 0)
		if (kt_join(thread[n]) != n)
			return __LINE__;
	return 0;
}

static unsigned long
call(unsigned long arg)
{
	for (;;)
		kvoid_remote();
	return arg;
}

static unsigned long
talk(unsigned long arg)
{
	for (;;)
		kconsole_write("", 0);
	return arg;
}

/* A thread that gives nothing up on each core but the kernel's and init's. */
static int
flood(uint32_t role, const struct report *r)
{
	struct cluster_info info;

	kcluster_info(&info);
	for (uint32_t core = 1; core < info.cores; core++)
		if (core != r->count)
			kt_thread(role == CALL_FLOOD ? call : talk, 0, (int)core);
	return (int)nap(0);
}

/* --- init --- */

static struct report *report, *other_report;
static long report_memory, other_memory;

static struct report *
report_make(long *memory)
{
	uint64_t at;

	*memory = kmemory_create(1);
	expect_eq(kmem_alloc(SELF, PAGE, 0, &at), 0);
	expect_eq(kpage_map(SELF, (unsigned long)at, (int)*memory, 0, 1, RW), 0);
	return (struct report *)(uintptr_t)at;
}

static long
begin_with(uint32_t role, struct report *r, long memory, const struct proc_quota *most)
{
	long proc = kproc_create();
	uint64_t at;

	*r = (struct report){0, (uint32_t)(role > ROLES ? kt_own_core() : 0)};
	if (most != NULL)
		expect_eq(kproc_quota((int)proc, most), 0);
	expect_eq(kmem_alloc((int)proc, PAGE, 0, &at), 0);
	expect_eq(kpage_map((int)proc, (unsigned long)at, (int)memory, 0, 1, RW), 0);
	return kt_spawn_in(proc, role, (unsigned long)at, ANY_CORE);
}

static long
begin(uint32_t role)
{
	return begin_with(role, report, report_memory, NULL);
}

static void
end(long proc)
{
	expect_eq(kproc_kill((int)proc, 5), 0);
	expect_eq(kt_wait(proc, NULL), 5);
}

static bool
is_full(uint32_t error)
{
	return error == E_NOSPC || error == E_NOMEM || error == E_MFILE;
}

/*
 * Whatever a child has taken, this process has what it needs to go on: a thread, a handle, a
 * mailbox, a process, some memory.
 */
static void
act(void)
{
	long thread = small_thread(5), copy, box, proc;
	struct cluster_info info;
	struct proc_status status;
	uint64_t at;

	kcluster_info(&info);
	expect(thread > 0);
	copy = khandle_duplicate((int)thread, SELF, RIGHTS_ALL);
	expect(copy > 0);
	expect_eq(kt_join(copy), 5);
	khandle_close((int)copy);
	box = kmailbox_open((int)info.cluster, 0);
	expect(box >= 0);
	expect_eq(khandle_close((int)box), 0);
	proc = kproc_create();
	expect(proc > 0);
	expect_eq(kproc_kill((int)proc, 0), 0);
	/* it would end in steps of home, and there may be no other place */
	expect_eq(kproc_wait((int)proc, &status, FOREVER), 0);
	expect_eq(khandle_close((int)proc), 0);
	expect_eq(kmem_alloc(SELF, PAGE, RW, &at), 0);
	expect_eq(kpage_unmap(SELF, (unsigned long)at, 1), 0);
}

/*
 * A child eats until there is no more of it for it; this process is served meanwhile. Returns how
 * much it got.
 */
static uint32_t
meal(uint32_t role)
{
	long proc = begin(role);

	while (__atomic_load_n(&report->error, __ATOMIC_ACQUIRE) == 0)
		kthread_yield();
	expect(is_full(report->error));
	act();
	end(proc);
	return report->count;
}

static const int same[] = {STATS_PROCS, STATS_THREADS, STATS_MAILBOXES, STATS_PORTALS,
	STATS_FRAMES_FREE, STATS_PIECE_PAGES};
static uint64_t before[STATS_PIECE_PAGES + 1];

static void
balance(bool compare)
{
	while (kt_stats(STATS_PROCS) > 1)
		kthread_yield();
	for (unsigned i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		if (compare)
			expect_eq(kt_stats(same[i]), before[same[i]]);
		before[same[i]] = kt_stats(same[i]);
	}
}

/* test: proc_quota */
TEST(what_one_exhausts_is_there_for_the_next)
{
	for (uint32_t role = THREADS; role < ROLES; role++)
		for (int round = 0; round < ROUNDS; round++) {
			uint32_t count = report->count, got = meal(role);

			/* no addresses so high */
			expect(got > 0 || (role == HIGH_TABLES && sizeof(long) == 4));
			balance(round > 1);
			if (round > 1)
				expect_eq(got, count);
		}
}

/* A part of what there is. */
static struct proc_quota
share(void)
{
	return (struct proc_quota){
		.bytes = kt_stats(STATS_FRAMES_FREE) * PAGE / SHARE,
		.threads = 8,
		.processes = 3,
	};
}

TEST(who_has_limits_disturbs_nobody)
{
	struct proc_quota most = share();
	uint32_t turns;

	for (int round = 0; round < ROUNDS; round++) {
		long worker = begin_with(WORKER, other_report, other_memory, &most);
		long eater = begin_with(EVERYTHING, report, report_memory, &most);

		while (__atomic_load_n(&report->error, __ATOMIC_ACQUIRE) == 0)
			kthread_yield();
		turns = __atomic_load_n(&other_report->count, __ATOMIC_ACQUIRE) + TURNS;
		while (__atomic_load_n(&other_report->count, __ATOMIC_ACQUIRE) < turns &&
			other_report->error == 0)
			kthread_yield();
		expect_eq(other_report->error, 0);
		expect(kt_stats(STATS_FRAMES_FREE) * PAGE > most.bytes);
		end(eater);
		end(worker);
		balance(round > 1);
	}
}

TEST(a_child_gets_less_than_its_parent)
{
	for (int round = 0; round < ROUNDS; round++) {
		expect_eq(kt_wait(begin(PARENT), NULL), 0);
		balance(round > 1);
	}
}

/*
 * Without memory of its own account, and without any of the cluster's but what is kept for others.
 */
TEST(a_thread_that_cannot_be_made_leaves_nothing)
{
	struct proc_quota most = {.bytes = 400 * PAGE, .threads = CROWD, .processes = 1};

	for (int round = 0; round < ROUNDS; round++) {
		expect_eq(kt_wait(begin_with(STARVED, report, report_memory, &most), NULL), 0);
		expect_eq(kt_wait(begin(STARVED), NULL), 0);
		balance(round > 1);
	}
}

TEST(a_flood_keeps_nobody_from_being_served)
{
	for (uint32_t role = CALL_FLOOD; role <= TEXT_FLOOD; role++) {
		long proc = begin(role);

		for (int i = 0; i < CALLS; i++)
			kthread_yield();
		for (int i = 0; i < CALLS; i++)
			expect_eq(kvoid_remote(), 0);
		end(proc);
	}
}

static int
child(uint32_t role, struct report *r)
{
	switch (role) {
	case WORKER:
		work(r);
	case PARENT:
		return parent();
	case STARVED:
		return starved();
	case CALL_FLOOD:
	case TEXT_FLOOD:
		return flood(role, r);
	}
	return eat(role, r);
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (atoll_startup()->job != 0)
		return child(atoll_startup()->job,
			(struct report *)(unsigned long)atoll_startup()->shared);
	/*
	 * as its children: what waits for them by yielding would otherwise keep its core from them
	 */
	kthread_priority((int)kthread_self(), PRIORITY_PROGRAM);
	report = report_make(&report_memory);
	other_report = report_make(&other_memory);
	RUN(what_one_exhausts_is_there_for_the_next);
	RUN(who_has_limits_disturbs_nobody);
	RUN(a_child_gets_less_than_its_parent);
	RUN(a_thread_that_cannot_be_made_leaves_nothing);
	RUN(a_flood_keeps_nobody_from_being_served);
	kt_end();
}
