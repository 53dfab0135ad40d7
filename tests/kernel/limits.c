/* SPDX-License-Identifier: MIT
 *
 * Tables and quotas that a process exhausts: it gets a documented error, others go on, and when it is killed everything is back, so that the
 * next one gets exactly as much. A process that floods its kernel core with calls or text keeps nobody from being served.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 */
#include <tests/kernel/ktest.h>

#define ROUNDS 3			/* the first is not compared: page tables of this process stay */
#define CALLS 200
#define RW (PAGE_READ | PAGE_WRITE)

enum role { THREADS = 1, PROCESSES, MEMORY, FRAMES, HANDLES, MAILBOXES, PORTALS, ROLES, CALL_FLOOD, TEXT_FLOOD };

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

static long
bite(uint32_t role, uint32_t n)
{
	static int made;
	struct cluster_info info;
	uint64_t at;

	kcluster_info(&info);
	switch (role) {
	case THREADS:
		return kt_thread(nap, 0, ANY_CORE);
	case PROCESSES:
		return kproc_create();
	case MEMORY:
		return kmem_alloc(SELF, 64 * kt_page_bytes(), RW, &at);
	case FRAMES:
		return kframe_alloc(16);
	case HANDLES:
		made = n == 0 ? (int)kproc_create() : made;
		return khandle_duplicate(made, SELF, RIGHTS_ALL);
	case MAILBOXES:
		return n < info.mailbox_ports ? kmailbox_create((int)n) : -E_MFILE;	/* there is one creator per port */
	case PORTALS:
		return n < info.portal_ports ? kportal_create((int)n) : -E_MFILE;
	}
	return -E_INVAL;
}

static int
eat(uint32_t role, struct report *r)
{
	long e;

	while ((e = bite(role, r->count)) >= 0)
		r->count++;
	__atomic_store_n(&r->error, (uint32_t)-e, __ATOMIC_RELEASE);
	return (int)nap(0);
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

static struct report *report;
static long report_frame;

static void
report_make(void)
{
	uint64_t at;

	report_frame = kframe_alloc(1);
	expect_eq(kmem_alloc(SELF, kt_page_bytes(), 0, &at), 0);
	expect_eq(kpage_map(SELF, (unsigned long)at, (int)report_frame, 1, RW), 0);
	report = (struct report *)(uintptr_t)at;
}

static long
begin(uint32_t role)
{
	long proc = kproc_create();
	uint64_t at;

	*report = (struct report){0, (uint32_t)(role > ROLES ? kt_own_core() : 0)};
	expect_eq(kmem_alloc((int)proc, kt_page_bytes(), 0, &at), 0);
	expect_eq(kpage_map((int)proc, (unsigned long)at, (int)report_frame, 1, RW), 0);
	return kt_spawn_in(proc, role, (unsigned long)at, ANY_CORE);
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

/* A child eats until there is no more of it for it; this process is served meanwhile. Returns how much it got. */
static uint32_t
meal(uint32_t role)
{
	long proc = begin(role);

	while (__atomic_load_n(&report->error, __ATOMIC_ACQUIRE) == 0)
		kthread_yield();
	expect(is_full(report->error));
	expect_eq(kvoid_remote(), 0);
	end(proc);
	return report->count;
}

TEST(what_one_exhausts_is_there_for_the_next)
{
	static const int same[] = {STATS_PROCS, STATS_THREADS, STATS_MAILBOXES, STATS_PORTALS, STATS_FRAMES_FREE};
	uint64_t before[STATS_PORTALS + 1] = {0};

	for (uint32_t role = THREADS; role < ROLES; role++)
		for (int round = 0; round < ROUNDS; round++) {
			uint32_t count = report->count, got = meal(role);

			expect(got > 0);
			while (kt_stats(STATS_PROCS) > 1)
				kthread_yield();
			for (unsigned i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
				if (round > 1)
					expect_eq(kt_stats(same[i]), before[same[i]]);
				before[same[i]] = kt_stats(same[i]);
			}
			if (round > 1)
				expect_eq(got, count);
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

int
server_main(int argc, char **argv)
{
	uint32_t role = atoll_startup()->job;
	unsigned long at = (unsigned long)atoll_startup()->shared;

	(void)argc;
	(void)argv;
	if (role != 0)
		return role > ROLES ? flood(role, (struct report *)at) : eat(role, (struct report *)at);
	report_make();
	RUN(what_one_exhausts_is_there_for_the_next);
	RUN(a_flood_keeps_nobody_from_being_served);
	kt_end();
}
