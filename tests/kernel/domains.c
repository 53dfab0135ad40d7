/* SPDX-License-Identifier: MIT
 *
 * Memory domains: where pages of processes come from, and where these run. Which domain a process
 * got is seen by the counts of the domains; no other process is made meanwhile. The size of the
 * memory tells the test which policy its machine has.
 *
 * machine: 1 8 TC 32 0 4 amp
 * machine: 1 8 TC 64 0 4 ampbadcol
 * machine: 1 8 TC 128 0 4 ampcol0
 * machine: 1 8 TC 256 0 4 smp
 * machine: 1 8 TC 512 0 4 smpcol0
 */
#include <tests/kernel/ktest.h>

#define DOMAINS 4
#define CORES 8			/* two of each domain */
#define PAGE 4096ul
#define PAGES 200
#define RW (PAGE_READ | PAGE_WRITE)
#define CHILDREN 6

enum role { TAKES = 1, WAITS, EATS };
enum policy { AMP, AMPBADCOL, AMPCOL0, SMP, SMPCOL0 };

static uint64_t
of_domain(unsigned domain, int what)
{
	return kt_stats(STATS_DOMAIN + (int)domain * DOMAIN_WORDS + what);
}

static enum policy
policy(void)
{
	enum policy p = AMP;

	while (((8ul << 20) / PAGE) << p < of_domain(1, DOMAIN_PAGES))
		p++;
	return p;
}

static void
taken(uint64_t counts[DOMAINS])
{
	for (unsigned d = 0; d < DOMAINS; d++)
		counts[d] = of_domain(d, DOMAIN_NEAR) + of_domain(d, DOMAIN_FAR);
}

/* What became of a child. */
static struct {
	unsigned domain;	/* with most pages of a child */
	uint64_t most, all;
	int core;		/* on which that ran */
} seen[CHILDREN];

static void
look_at_a_child(unsigned n)
{
	uint64_t before[DOMAINS], after[DOMAINS];
	long proc;

	taken(before);
	proc = kt_spawn(TAKES, PAGES, ANY_CORE);
	seen[n].core = kt_wait(proc, NULL);
	taken(after);
	seen[n].most = seen[n].all = 0;
	for (unsigned d = 0; d < DOMAINS; d++) {
		uint64_t more = after[d] - before[d];

		seen[n].all += more;
		if (more > seen[n].most) {
			seen[n].most = more;
			seen[n].domain = d;
		}
	}
	expect(seen[n].all >= PAGES);
}

TEST(domains_are_parts_of_the_memory)
{
	uint64_t free = 0, pages = 0, value;

	for (unsigned d = 0; d < DOMAINS; d++) {
		free += of_domain(d, DOMAIN_FREE);
		pages += of_domain(d, DOMAIN_PAGES);
		expect_eq(of_domain(d, DOMAIN_PAGES) > of_domain(1, DOMAIN_PAGES), 0);
		expect(d == 0 || of_domain(d, DOMAIN_PAGES) == ((8ul << 20) / PAGE) << policy());
	}
	expect_eq(pages, kt_stats(STATS_FRAMES_TOTAL));
	expect_eq(free, kt_stats(STATS_FRAMES_FREE));
	expect_eq(kstats(STATS_DOMAIN + DOMAINS * DOMAIN_WORDS, &value), -E_INVAL);
	expect_eq(kstats(STATS_DOMAIN - 1, &value), -E_INVAL);
	expect_eq(kstats(INT32_MAX, &value), -E_INVAL);
}

TEST(pages_come_from_where_the_policy_says)
{
	unsigned cores = 0;

	for (unsigned n = 0; n < CHILDREN; n++) {
		unsigned domain;

		look_at_a_child(n);
		domain = (unsigned)seen[n].core / (CORES / DOMAINS);
		cores |= 1u << seen[n].core;
		if (policy() == SMP) {
			/* blocks take turns, and one may be the most of what a child has */
			expect(seen[n].most * 10 < seen[n].all * 9);
			continue;
		}
		expect(seen[n].most * 10 > seen[n].all * 9);
		if (policy() == AMP)
			expect_eq(seen[n].domain, domain);
		else if (policy() == AMPBADCOL)
			expect(seen[n].domain != domain);
		else
			expect_eq(seen[n].domain, 0);
	}
	/* one after the other: in turn, or each the first one that is empty */
	expect_eq((cores & (cores - 1)) != 0, policy() == SMP || policy() == SMPCOL0);
}

/* More than a domain has comes from the others, and is back when the process has ended. */
TEST(what_a_domain_lacks_others_give)
{
	uint64_t before = kt_stats(STATS_FRAMES_FREE), free = 0;

	expect_eq(kt_wait(kt_spawn(EATS, of_domain(1, DOMAIN_PAGES) + 900, ANY_CORE), NULL), 0);
	while (kt_stats(STATS_FRAMES_FREE) != before)
		kthread_yield();
	for (unsigned d = 0; d < DOMAINS; d++)
		free += of_domain(d, DOMAIN_FREE);
	expect_eq(free, before);
}

/* As many processes as there are cores for programs: each has its own, whatever the domain. */
TEST(no_core_stays_empty)
{
	long proc[CHILDREN];
	uint32_t cores = 0;

	for (unsigned n = 0; n < CHILDREN; n++)
		proc[n] = kt_spawn(WAITS, 0, ANY_CORE);
	for (int core = 1; core < CORES; core++) {
		struct core_info info = {0};

		expect_eq(kcore_info(core, &info), 0);
		cores += info.threads > 0;
		expect(info.threads <= 2);
	}
	expect(cores >= CHILDREN);
	for (unsigned n = 0; n < CHILDREN; n++) {
		expect_eq(kproc_kill((int)proc[n], 1), 0);
		kt_wait(proc[n], NULL);
	}
}

/* A child: with so many pages. */
static int
takes(unsigned long pages)
{
	uint64_t at;

	return kmem_alloc(SELF, pages * PAGE, RW, &at) == 0 ? (int)kt_own_core() : -1;
}

static int
eats(unsigned long pages)
{
	uint64_t at;

	for (unsigned long n = 0; n < pages; n++) {
		if (kmem_alloc(SELF, PAGE, RW, &at) != 0)
			return 1;
		*(volatile uint32_t *)(uintptr_t)at = (uint32_t)n;
	}
	return 0;
}

int
server_main(int argc, char **argv)
{
	unsigned long arg = (unsigned long)atoll_startup()->shared;

	(void)argc;
	(void)argv;
	switch (atoll_startup()->job) {
	case TAKES:
		return takes(arg);
	case WAITS:
		for (;;)
			kthread_sleep(1, FOREVER);
	case EATS:
		return eats(arg);
	}
	RUN(domains_are_parts_of_the_memory);
	RUN(pages_come_from_where_the_policy_says);
	RUN(what_a_domain_lacks_others_give);
	RUN(no_core_stays_empty);
	kt_end();
}
