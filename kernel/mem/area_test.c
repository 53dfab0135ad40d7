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
#include <kernel/object/quota.h>

#define PAGE 4096ul
#define BASE (16 * PAGE)
#define PAGES 64
#define POOL 4		/* pieces that there are */
#define FULL (POOL * AREAS_PER_PIECE)	/* areas that have room in them */
#define MANY 250	/* areas that no step looks through */

static struct areas areas;
static unsigned pool = POOL;
static unsigned pieces;		/* of memory that areas have */
static unsigned char claimed[PAGES];	/* 0, or what comes there and 1 */

void
check_failed(const char *file, int line)
{
	printf("%s:%d: a check has failed\n", file, line);
	abort();
}

void *
quota_alloc(struct quota *q, struct slab *s, size_t bytes)
{
	(void)s;
	(void)q;
	if (pieces == pool)
		return NULL;
	pieces++;
	return malloc(bytes);
}

void
quota_free(struct quota *q, struct slab *s, void *piece, size_t bytes)
{
	(void)s;
	(void)q;
	(void)bytes;
	pieces--;
	free(piece);
}

static uintptr_t
at(unsigned page)
{
	return BASE + page * PAGE;
}

static void
begin(void)
{
	areas_init(&areas, NULL, NULL);
	memset(claimed, 0, sizeof(claimed));
}

static unsigned
count(void)
{
	unsigned n = 0;

	for (struct list *l = areas.list.next; l != &areas.list; l = l->next)
		n++;
	expect_eq(areas.count, n);
	return n;
}

static void
add(unsigned from, unsigned to)
{
	expect(area_may_add(&areas));
	area_add(&areas, at(from), at(to), 0);
}

static void
drop(unsigned from, unsigned to)
{
	expect(area_may_remove(&areas, at(from)));
	area_remove(&areas, at(from), at(to));
}

/* Give up all that is claimed, which needs no memory: nothing may stay behind. */
static void
end(void)
{
	while (areas.list.next != &areas.list) {
		const struct area *a = list_entry(areas.list.next, struct area, link);

		area_cut_first(&areas, a->end - a->start > PAGE ? a->start + PAGE : a->end);
	}
	while (!areas_close(&areas))
		continue;
	expect_eq(pieces, 0);
}

TEST(neighbours_become_one)
{
	begin();
	add(0, 2);
	add(4, 6);
	expect_eq(count(), 2);
	add(2, 4);
	expect_eq(count(), 1);
	expect(area_covers(&areas, at(0), at(6)));
	expect(!area_covers(&areas, at(0), at(7)));
	drop(2, 3);
	expect_eq(count(), 2);
	expect(!area_covers(&areas, at(1), at(4)) && area_overlaps(&areas, at(2), at(4)));
	end();
}

TEST(a_gap_is_the_lowest_that_fits)
{
	const uintptr_t bounds[2] = {at(0), at(PAGES)};
	uintptr_t addr;

	begin();
	add(0, 2);
	add(3, 10);
	expect_eq(area_find_gap(&areas, bounds, PAGE, PAGE, &addr), 0);
	expect_eq(addr, at(2));
	expect_eq(area_find_gap(&areas, bounds, 2 * PAGE, PAGE, &addr), 0);
	expect_eq(addr, at(10));
	expect_eq(area_find_gap(&areas, bounds, PAGE, 16 * PAGE, &addr), 0);
	expect_eq(addr % (16 * PAGE), 0);
	expect_eq(area_find_gap(&areas, bounds, PAGES * PAGE, PAGE, &addr), -E_NOMEM);
	expect_eq(area_find_gap(&areas, bounds, ~0ul - 3, PAGE, &addr), -E_NOMEM);
	end();
}

/* Also with more areas than one step looks at. */
TEST(a_search_goes_on_where_it_stopped)
{
	uintptr_t bounds[2] = {at(0), at(4 * MANY)}, addr;
	int steps = 0, e;

	begin();
	pool = MANY;
	for (unsigned i = 0; i < MANY; i++)
		add(2 * i, 2 * i + 1);
	while ((e = area_find_gap(&areas, bounds, 2 * PAGE, PAGE, &addr)) == -E_AGAIN) {
		expect(addr > bounds[0]);
		bounds[0] = addr;
		steps++;
	}
	expect_eq(e, 0);
	expect_eq(addr, at(2 * MANY - 1));
	expect_eq(steps, (MANY - 1) / 128);
	end();
	pool = POOL;
}

TEST(memory_for_areas_ends)
{
	begin();
	for (unsigned i = 0; i < FULL; i++)
		add(2 * i, 2 * i + 1);
	expect(!area_may_add(&areas));
	drop(4, 5);
	expect(area_may_add(&areas));
	end();
	/* what is in use can be given up from its beginning on, though not from its middle */
	begin();
	for (unsigned i = 0; i < FULL; i++)
		add(3 * i < PAGES ? 3 * i : PAGES + 3 * i, 3 * i < PAGES ? 3 * i + 2 :
			PAGES + 3 * i + 2);
	expect(!area_may_remove(&areas, at(1)));
	drop(0, 1);
	end();
}

TEST(neighbours_that_differ_stay_two)
{
	begin();
	add(0, 6);
	expect_eq(area_change(&areas, at(2), at(4), 7), 0);
	expect_eq(count(), 3);
	expect(area_covers(&areas, at(1), at(5)));
	expect_eq(area_edge(&areas, at(1), at(6)), at(2));
	expect_eq(area_find(&areas, at(3))->prot, 7);
	expect_eq(area_find(&areas, at(4))->prot, 0);
	expect(area_find(&areas, at(6)) == NULL);
	expect_eq(area_change(&areas, at(2), at(3), 0), 0);
	expect_eq(count(), 3);
	expect_eq(area_change(&areas, at(3), at(4), 0), 0);
	expect_eq(count(), 1);
	area_add(&areas, at(6), at(8), 7);
	expect_eq(count(), 2);
	end();
}

/* A change from which two areas would come has no memory for the second: nothing has changed. */
TEST(a_change_without_memory_leaves_no_trace)
{
	begin();
	pool = 1;
	add(0, 6);
	for (unsigned i = 1; i < AREAS_PER_PIECE - 1; i++)
		add(8 * i, 8 * i + 1);
	expect_eq(area_change(&areas, at(2), at(4), 7), -E_NOMEM);
	expect_eq(count(), AREAS_PER_PIECE - 1);
	expect_eq(area_find(&areas, at(2))->prot, 0);
	expect_eq(area_change(&areas, at(2), at(6), 7), 0);
	end();
	pool = POOL;
}

/* As few areas as say which pages are claimed, and what comes there. */
static void
compare_pages(void)
{
	unsigned runs = 0;

	for (unsigned i = 0; i < PAGES; i++) {
		const struct area *a = area_find(&areas, at(i));

		expect_eq(a == NULL ? 0 : a->prot + 1, claimed[i]);
		runs += claimed[i] != 0 && (i == 0 || claimed[i - 1] != claimed[i]);
	}
	expect_eq(count(), runs);
}

static void
compare(void)
{
	for (unsigned from = 0; from < PAGES; from += 3)
		for (unsigned to = from + 1; to <= PAGES && to < from + 6; to++) {
			bool all = true, some = false;

			for (unsigned i = from; i < to; i++) {
				all &= claimed[i] != 0;
				some |= claimed[i] != 0;
			}
			expect_eq(area_covers(&areas, at(from), at(to)), all);
			expect_eq(area_overlaps(&areas, at(from), at(to)), some);
		}
}

TEST(random_claims_agree_with_a_map_of_pages)
{
	begin();
	srand(3);
	for (int step = 0; step < 20000; step++) {
		unsigned from = (unsigned)rand() % PAGES, to = from + 1 + (unsigned)rand() % 5;
		uint32_t prot = (uint32_t)rand() % 3;

		if (to > PAGES)
			to = from + 1;
		if (!area_overlaps(&areas, at(from), at(to)) && area_may_add(&areas)) {
			area_add(&areas, at(from), at(to), prot);
			memset(claimed + from, (int)prot + 1, to - from);
		} else if (!area_covers(&areas, at(from), at(to)) ||
			area_edge(&areas, at(from), at(to)) < at(to)) {
			continue;
		} else if (prot < 2) {
			if (area_change(&areas, at(from), at(to), prot) == 0)
				memset(claimed + from, (int)prot + 1, to - from);
		} else if (area_may_remove(&areas, at(from))) {
			drop(from, to);
			memset(claimed + from, 0, to - from);
		}
		if (step % 16 == 0) {
			compare();
			compare_pages();
		}
	}
	end();
}

int
main(void)
{
	RUN(neighbours_become_one);
	RUN(a_gap_is_the_lowest_that_fits);
	RUN(a_search_goes_on_where_it_stopped);
	RUN(memory_for_areas_ends);
	RUN(neighbours_that_differ_stay_two);
	RUN(a_change_without_memory_leaves_no_trace);
	RUN(random_claims_agree_with_a_map_of_pages);
	return TEST_FAILED;
}
