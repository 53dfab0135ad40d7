/* SPDX-License-Identifier: MIT
 *
 * A kernel core beside home fills frames with zeros before somebody needs them: pages that come
 * when they are touched hold zeros, whatever lay in their frames, while cores change their roles;
 * and where memory is short those that are ready are as good as others.
 *
 * machine: 1 4 KC
 * machine: 2 4 TC
 */
#include <tests/kernel/ktest.h>

#define PAGES 64
#define ROUNDS 20
#define CHANGES 40
#define TABLES 40		/* that stay, or a few less */
#define WORDS 64		/* between two that are looked at */

static int authority, core;
static volatile uint32_t over;

static void
give(uint32_t role)
{
	expect_eq(kcore_role(authority, core, (int)role), 0);
}

static volatile uint32_t *
lazy(unsigned long pages)
{
	uint64_t at = 0;

	expect_eq(kmem_alloc(SELF, pages * kt_page_bytes(), PAGE_READ | PAGE_WRITE | PAGE_LAZY,
		&at), 0);
	return (volatile uint32_t *)(uintptr_t)at;
}

/* How many words of these pages are no zeros; none is afterwards. */
static unsigned long
touch(volatile uint32_t *pages, unsigned long count)
{
	unsigned long wrong = 0, words = count * kt_page_bytes() / sizeof(*pages);

	for (unsigned long i = 0; i < words; i += WORDS) {
		wrong += pages[i] != 0;
		pages[i] = 0xa5a5a5a5;
	}
	return wrong;
}

static unsigned long
touches(unsigned long rounds)
{
	unsigned long wrong = 0;

	for (unsigned long i = 0; i < rounds; i++) {
		volatile uint32_t *pages = lazy(PAGES);

		wrong += touch(pages, PAGES);
		expect_eq(kpage_unmap(SELF, (unsigned long)(uintptr_t)pages, PAGES), 0);
	}
	over = 1;
	return wrong;
}

TEST(pages_that_a_kernel_core_has_filled_hold_zeros)
{
	uint64_t frames = kt_stats(STATS_FRAMES_FREE);
	uint32_t before;

	give(ROLE_KC);
	before = kt_core_info(core).messages;
	do
		expect_eq(touches(1), 0);
	while (kt_core_info(core).messages - before < ROUNDS);
	expect(kt_stats(STATS_FRAMES_FREE) + TABLES >= frames);
	give(ROLE_AC);
	before = kt_core_info(core).messages;
	expect_eq(touches(1), 0);
	expect_eq(kt_core_info(core).messages, before);
}

/* test: core_role */
TEST(its_role_may_change_at_any_moment)
{
	long tid;

	over = 0;
	tid = kt_thread(touches, ROUNDS, ANY_CORE);
	for (unsigned i = 0; i < CHANGES || over == 0; i++)
		give(i % 2 == 0 ? ROLE_KC : i % 4 == 1 ? ROLE_AC : ROLE_IDLE);
	expect_eq(kt_join(tid), 0);
	give(ROLE_AC);
}

/* As many pages as there are; how many. */
static unsigned long
take_all(void)
{
	unsigned long all = (unsigned long)kt_stats(STATS_FRAMES_FREE), had = 0;
	volatile uint32_t *pages = lazy(all);
	unsigned long words = kt_page_bytes() / sizeof(*pages);

	while (had < all && kpage_populate((unsigned long)(uintptr_t)(pages + had * words), 1,
		PAGE_WRITE) == 1) {
		expect_eq(pages[had * words], 0);
		had++;
	}
	expect_eq(kpage_unmap(SELF, (unsigned long)(uintptr_t)pages, (int)all), 0);
	return had;
}

TEST(ready_frames_are_as_good_as_others_where_memory_is_short)
{
	unsigned long without, with;

	take_all();
	without = take_all();
	give(ROLE_KC);
	touches(2);
	with = take_all();
	expect(with + TABLES >= without && without + TABLES >= with);
	expect(without > PAGES);
	give(ROLE_AC);
}

int
server_main(int argc, char **argv)
{
	struct cluster_info info;

	(void)argc;
	(void)argv;
	kcluster_info(&info);
	authority = atoll_startup()->authority;
	core = (int)info.cores - 2;	/* the last one is shared */
	RUN(pages_that_a_kernel_core_has_filled_hold_zeros);
	RUN(its_role_may_change_at_any_moment);
	RUN(ready_frames_are_as_good_as_others_where_memory_is_short);
	kt_end();
}
