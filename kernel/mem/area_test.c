/* SPDX-License-Identifier: MIT
 *
 * Claimed address ranges against a naive map of claimed pages.
 *
 * needs: kernel/mem/area.c
 */
#include <abi/errors.h>
#include <base/check.h>
#include <base/test.h>
#include <kernel/mem/area.h>

#define PAGE 4096ul
#define BASE (16 * PAGE)
#define PAGES 64
#define POOL 24

static struct area table[POOL];
static struct areas pool;
static struct list head;
static unsigned char claimed[PAGES];

void
check_failed(const char *file, int line, const char *what)
{
	printf("%s:%d: %s\n", file, line, what);
	abort();
}

static uintptr_t
at(unsigned page)
{
	return BASE + page * PAGE;
}

static void
begin(void)
{
	areas_init(&pool, table, POOL);
	list_init(&head);
	memset(claimed, 0, sizeof(claimed));
}

static unsigned
count(void)
{
	unsigned n = 0;

	for (struct list *l = head.next; l != &head; l = l->next)
		n++;
	return n;
}

TEST(neighbours_become_one)
{
	begin();
	area_add(&pool, &head, at(0), at(2));
	area_add(&pool, &head, at(4), at(6));
	expect_eq(count(), 2);
	area_add(&pool, &head, at(2), at(4));
	expect_eq(count(), 1);
	expect(area_covers(&head, at(0), at(6)));
	expect(!area_covers(&head, at(0), at(7)));
	area_remove(&pool, &head, at(2), at(3));
	expect_eq(count(), 2);
	expect(!area_covers(&head, at(1), at(4)) && area_overlaps(&head, at(2), at(4)));
}

TEST(a_gap_is_the_lowest_that_fits)
{
	const uintptr_t bounds[2] = {at(0), at(PAGES)};
	uintptr_t addr;

	begin();
	area_add(&pool, &head, at(0), at(2));
	area_add(&pool, &head, at(3), at(10));
	expect_eq(area_find_gap(&head, bounds, PAGE, PAGE, &addr), 0);
	expect_eq(addr, at(2));
	expect_eq(area_find_gap(&head, bounds, 2 * PAGE, PAGE, &addr), 0);
	expect_eq(addr, at(10));
	expect_eq(area_find_gap(&head, bounds, PAGE, 16 * PAGE, &addr), 0);
	expect_eq(addr % (16 * PAGE), 0);
	expect_eq(area_find_gap(&head, bounds, PAGES * PAGE, PAGE, &addr), -E_NOMEM);
	expect_eq(area_find_gap(&head, bounds, ~0ul - 3, PAGE, &addr), -E_NOMEM);
}

TEST(the_pool_ends)
{
	begin();
	for (unsigned i = 0; i < POOL; i++) {
		expect(areas_has_room(&pool));
		area_add(&pool, &head, at(2 * i), at(2 * i + 1));
	}
	expect(!areas_has_room(&pool));
	area_remove(&pool, &head, at(4), at(5));
	expect(areas_has_room(&pool));
}

static void
compare(void)
{
	for (unsigned from = 0; from < PAGES; from += 3)
		for (unsigned to = from + 1; to <= PAGES && to < from + 6; to++) {
			bool all = true, some = false;

			for (unsigned i = from; i < to; i++) {
				all &= claimed[i];
				some |= claimed[i];
			}
			expect_eq(area_covers(&head, at(from), at(to)), all);
			expect_eq(area_overlaps(&head, at(from), at(to)), some);
		}
}

TEST(random_claims_agree_with_a_map_of_pages)
{
	begin();
	srand(3);
	for (int step = 0; step < 20000; step++) {
		unsigned from = (unsigned)rand() % PAGES, to = from + 1 + (unsigned)rand() % 5;

		if (to > PAGES || !areas_has_room(&pool))
			to = from + 1;
		if (!area_overlaps(&head, at(from), at(to)) && areas_has_room(&pool)) {
			area_add(&pool, &head, at(from), at(to));
			memset(claimed + from, 1, to - from);
		} else if (area_covers(&head, at(from), at(to)) && areas_has_room(&pool)) {
			area_remove(&pool, &head, at(from), at(to));
			memset(claimed + from, 0, to - from);
		}
		if (step % 16 == 0)
			compare();
	}
}

int
main(void)
{
	RUN(neighbours_become_one);
	RUN(a_gap_is_the_lowest_that_fits);
	RUN(the_pool_ends);
	RUN(random_claims_agree_with_a_map_of_pages);
	return TEST_FAILED;
}
