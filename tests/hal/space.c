/* SPDX-License-Identifier: MIT
 *
 * HAL contract: address spaces. Each test makes a space, changes it, and wants every page-table
 * page back.
 */
#include <base/str.h>
#include "testbed.h"

#define PAGES 4
#define LOOKS 16
#define IN_LARGE (HAL_LARGE_BYTES / HAL_PAGE_BYTES)
#define PROT_RW (PAGE_READ | PAGE_WRITE)

struct space_test {
	struct testbed *bed;
	struct hal_page_source source;
	/* to be mapped; the first `mapped_first` of them follow one another */
	char *page[PAGES];
	uintptr_t at;				/* a user address with a large page's alignment */
	unsigned before;
};

static void
begin(struct testbed *bed, struct space_test *t)
{
	struct page_pool *pool = &bed->pool;

	t->bed = bed;
	t->source = (struct hal_page_source){.take = page_take, .give = page_give, .ctx = pool};
	t->page[0] = pool->next;
	pool->next += PAGES * HAL_PAGE_BYTES;
	for (int i = 0; i < PAGES; i++)
		t->page[i] = t->page[0] + i * HAL_PAGE_BYTES;
	t->before = pool->taken;
	expect(bed, hal_space_init(&bed->space, &t->source) == 0);
	expect(bed, bed->space.first < bed->space.limit);
	t->at = (bed->space.first + 2 * HAL_LARGE_BYTES - 1) & ~(HAL_LARGE_BYTES - 1);
}

static void
end(struct space_test *t)
{
	while (!hal_space_destroy(&t->bed->space))
		continue;
	expect(t->bed, t->bed->pool.taken == t->before);
}

/* Is this page mapped to that memory with that protection? */
static bool
shows(struct hal_space *s, uintptr_t addr, const char *page, int prot)
{
	uint64_t paddr;
	int found;

	const int rights = PAGE_READ | PAGE_WRITE | PAGE_EXEC | PAGE_LARGE;

	return hal_query(s, addr, &paddr, &found) == 0 && paddr == hal_paddr(page) &&
		(found & rights) == prot && hal_hole(s, addr & ~(HAL_PAGE_BYTES - 1), LOOKS) == 0;
}

static bool
is_hole(struct hal_space *s, uintptr_t addr)
{
	uint64_t paddr;
	int found;

	return hal_query(s, addr, &paddr, &found) == -E_INVAL && (addr < s->first ||
		addr >= s->limit ||
		hal_hole(s, addr & ~(HAL_PAGE_BYTES - 1), LOOKS) >= HAL_PAGE_BYTES);
}

static void
addresses_translate_both_ways(struct testbed *bed)
{
	char *page = bed->pool.next;

	memset(page, 0xff, 2 * HAL_PAGE_BYTES);
	hal_zero_pages(page, HAL_PAGE_BYTES);
	expect(bed, page[0] == 0 && page[HAL_PAGE_BYTES - 1] == 0 &&
		page[HAL_PAGE_BYTES] == (char)0xff);
	expect(bed, hal_kaddr(hal_paddr(page)) == page);
	expect(bed, hal_paddr(page + HAL_PAGE_BYTES) == hal_paddr(page) + HAL_PAGE_BYTES);
	expect(bed, hal_paddr(page) % HAL_PAGE_BYTES == 0);
}

static void
map_query_unmap(struct testbed *bed)
{
	struct space_test t;
	struct hal_space *s = &bed->space;

	begin(bed, &t);
	expect(bed, is_hole(s, t.at));
	expect(bed, hal_map(s, t.at, hal_paddr(t.page[0]), PAGES, PROT_RW) == 0);
	for (int i = 0; i < PAGES; i++)
		expect(bed, shows(s, t.at + i * HAL_PAGE_BYTES, t.page[i], PROT_RW));
	expect(bed, shows(s, t.at + HAL_PAGE_BYTES + 12, t.page[1], PROT_RW));
	expect(bed, is_hole(s, t.at + PAGES * HAL_PAGE_BYTES));
	expect(bed, hal_unmap(s, t.at + HAL_PAGE_BYTES, 2) == 0);
	expect(bed, shows(s, t.at, t.page[0], PROT_RW));
	expect(bed, is_hole(s, t.at + HAL_PAGE_BYTES));
	expect(bed, is_hole(s, t.at + 2 * HAL_PAGE_BYTES));
	expect(bed, shows(s, t.at + 3 * HAL_PAGE_BYTES, t.page[3], PROT_RW));
	hal_tlb_flush();
	end(&t);
}

/* Pages that are found from the first address of the space on, with all holes left out. */
static int
found_behind_holes(const struct hal_space *s, uintptr_t end)
{
	uintptr_t at = s->first;
	size_t hole;
	int found = 0;

	while (at < end)
		if ((hole = hal_hole(s, at, LOOKS)) > 0) {
			at += hole;
		} else {
			found++;
			at += HAL_PAGE_BYTES;
		}
	return found;
}

/* The first page, its neighbour, the last of its table and the first of the next. */
static void
holes_end_at_what_is_mapped(struct testbed *bed)
{
	struct space_test t;
	struct hal_space *s = &bed->space;
	uintptr_t next, last;

	begin(bed, &t);
	next = (t.at + HAL_LARGE_BYTES) & ~(HAL_LARGE_BYTES - 1);
	last = next + HAL_LARGE_BYTES;
	expect(bed, found_behind_holes(s, last) == 0);
	expect(bed, hal_map(s, t.at, hal_paddr(t.page[0]), 2, PROT_RW) == 0);
	expect(bed, found_behind_holes(s, last) == 2);
	expect(bed, hal_map(s, next - HAL_PAGE_BYTES, hal_paddr(t.page[2]), 2, PROT_RW) == 0);
	expect(bed, found_behind_holes(s, last) == 4);
	expect(bed, hal_unmap(s, next - HAL_PAGE_BYTES, 1) == 0);
	expect(bed, found_behind_holes(s, last) == 3);
	expect(bed, hal_unmap(s, t.at, 2) == 0);
	expect(bed, hal_unmap(s, next, 1) == 0);
	expect(bed, found_behind_holes(s, last) == 0);
	end(&t);
}

static void
map_over_something_changes_nothing(struct testbed *bed)
{
	struct space_test t;
	struct hal_space *s = &bed->space;

	begin(bed, &t);
	expect(bed, hal_map(s, t.at + 2 * HAL_PAGE_BYTES, hal_paddr(t.page[2]), 1, PAGE_READ) == 0);
	expect(bed, hal_map(s, t.at, hal_paddr(t.page[0]), PAGES, PROT_RW) == -E_EXIST);
	expect(bed, is_hole(s, t.at));
	expect(bed, is_hole(s, t.at + HAL_PAGE_BYTES));
	expect(bed, shows(s, t.at + 2 * HAL_PAGE_BYTES, t.page[2], PAGE_READ));
	expect(bed, is_hole(s, t.at + 3 * HAL_PAGE_BYTES));
	end(&t);
}

static void
bad_ranges_are_refused(struct testbed *bed)
{
	struct space_test t;
	struct hal_space *s = &bed->space;
	uint64_t paddr;

	begin(bed, &t);
	paddr = hal_paddr(t.page[0]);
	expect(bed, hal_map(s, t.at + 1, paddr, 1, PROT_RW) == -E_INVAL);
	expect(bed, hal_map(s, t.at, paddr, ~(size_t)0 / 2, PROT_RW) == -E_INVAL);
	expect(bed, hal_map(s, s->limit, paddr, 1, PROT_RW) == -E_INVAL);
	expect(bed, hal_map(s, s->limit - HAL_PAGE_BYTES, paddr, 2, PROT_RW) == -E_INVAL);
	expect(bed, hal_map(s, s->limit - HAL_PAGE_BYTES, paddr, 1, PROT_RW) == 0);
	expect(bed, s->first == 0 || hal_map(s, s->first - HAL_PAGE_BYTES, paddr, 1, PROT_RW) ==
		-E_INVAL);
	expect(bed, hal_map(s, t.at + HAL_PAGE_BYTES, paddr, 1, PROT_RW | PAGE_LARGE) == -E_INVAL);
	expect(bed, hal_unmap(s, t.at, 1) == -E_INVAL);
	expect(bed, hal_protect(s, t.at, 1, PAGE_READ) == -E_INVAL);
	expect(bed, is_hole(s, s->limit));
	expect(bed, is_hole(s, t.at));
	end(&t);
}

static void
unmap_and_protect_are_all_or_nothing(struct testbed *bed)
{
	struct space_test t;
	struct hal_space *s = &bed->space;

	begin(bed, &t);
	expect(bed, hal_map(s, t.at, hal_paddr(t.page[0]), 2, PROT_RW) == 0);
	expect(bed, hal_unmap(s, t.at, 3) == -E_INVAL);
	expect(bed, hal_protect(s, t.at, 3, PAGE_READ) == -E_INVAL);
	expect(bed, shows(s, t.at, t.page[0], PROT_RW));
	expect(bed, shows(s, t.at + HAL_PAGE_BYTES, t.page[1], PROT_RW));
	expect(bed, hal_protect(s, t.at + HAL_PAGE_BYTES, 1, PAGE_READ) == 0);
	expect(bed, shows(s, t.at, t.page[0], PROT_RW));
	expect(bed, shows(s, t.at + HAL_PAGE_BYTES, t.page[1], PAGE_READ));
	end(&t);
}

/*
 * Rights of a mapping that exists may come back after they were taken, but none that it was made
 * without.
 */
static void
protection_stays_below_the_maximum(struct testbed *bed)
{
	struct space_test t;
	struct hal_space *s = &bed->space;
	uintptr_t second;

	begin(bed, &t);
	second = t.at + HAL_PAGE_BYTES;
	expect(bed, hal_map(s, t.at, hal_paddr(t.page[0]), 1, PROT_RW) == 0);
	expect(bed, hal_map(s, second, hal_paddr(t.page[1]), 1, PAGE_READ) == 0);
	expect(bed, hal_map(s, second + HAL_PAGE_BYTES, hal_paddr(t.page[2]), 1,
		PAGE_READ | HAL_MAY(PAGE_WRITE)) == 0);
	expect(bed, hal_protect(s, second, 1, PROT_RW) == -E_ACCES);
	expect(bed, hal_protect(s, second, 1, PAGE_READ | PAGE_EXEC) == -E_ACCES);
	expect(bed, hal_protect(s, t.at, 2, PROT_RW) == -E_ACCES);
	expect(bed, shows(s, t.at, t.page[0], PROT_RW));
	expect(bed, shows(s, second, t.page[1], PAGE_READ));
	expect(bed, hal_protect(s, t.at, 2, PAGE_READ) == 0);
	expect(bed, shows(s, t.at, t.page[0], PAGE_READ));
	expect(bed, hal_protect(s, t.at, 1, PAGE_READ | PAGE_EXEC) == -E_ACCES);
	expect(bed, hal_protect(s, t.at, 2, 0) == 0);
	expect(bed, shows(s, t.at, t.page[0], 0) && shows(s, second, t.page[1], 0));
	expect(bed, hal_protect(s, second, 1, PROT_RW) == -E_ACCES);
	expect(bed, hal_protect(s, second, 1, PAGE_READ) == 0);
	expect(bed, shows(s, second, t.page[1], PAGE_READ));
	expect(bed, hal_protect(s, t.at, 1, PROT_RW) == 0);
	expect(bed, shows(s, t.at, t.page[0], PROT_RW));
	expect(bed, shows(s, second + HAL_PAGE_BYTES, t.page[2], PAGE_READ));
	expect(bed, hal_protect(s, second + HAL_PAGE_BYTES, 1, PAGE_READ | PAGE_EXEC) == -E_ACCES);
	expect(bed, hal_protect(s, second + HAL_PAGE_BYTES, 1, PROT_RW) == 0);
	expect(bed, shows(s, second + HAL_PAGE_BYTES, t.page[2], PROT_RW));
	expect(bed, hal_unmap(s, t.at, 1) == 0 && is_hole(s, t.at));
	expect(bed, hal_map(s, t.at, hal_paddr(t.page[0]), 1, 0) == 0);
	expect(bed, shows(s, t.at, t.page[0], 0));
	end(&t);
}

/* Only the page that the caller means is replaced, and only as long as nobody may write to it. */
static void
a_page_takes_the_place_of_another(struct testbed *bed)
{
	struct space_test t;
	struct hal_space *s = &bed->space;
	uint64_t was, now;

	begin(bed, &t);
	was = hal_paddr(t.page[0]);
	now = hal_paddr(t.page[1]);
	expect(bed, hal_remap(s, t.at, was, now, PROT_RW) == -E_EXIST);
	expect(bed, is_hole(s, t.at));
	expect(bed, hal_map(s, t.at, was, 1, PROT_RW) == 0);
	expect(bed, hal_remap(s, t.at, was, now, PROT_RW) == -E_EXIST);
	expect(bed, shows(s, t.at, t.page[0], PROT_RW));
	expect(bed, hal_protect(s, t.at, 1, PAGE_READ) == 0);
	expect(bed, hal_remap(s, t.at, now, now, PROT_RW) == -E_EXIST);
	expect(bed, shows(s, t.at, t.page[0], PAGE_READ));
	expect(bed, hal_remap(s, t.at, was, now, PAGE_READ) == 0);
	expect(bed, shows(s, t.at, t.page[1], PAGE_READ));
	expect(bed, hal_remap(s, t.at, now, now, PROT_RW) == 0);
	expect(bed, shows(s, t.at, t.page[1], PROT_RW));
	/* the maximum is that of the mapping */
	expect(bed, hal_protect(s, t.at, 1, PAGE_READ | PAGE_EXEC) == -E_ACCES);
	end(&t);
}

/* Runs end at a hole, at other rights if they count, at another maximum unless nothing counts. */
static void
runs_are_of_pages_that_are_alike(struct testbed *bed)
{
	const int all = PAGE_READ | PAGE_WRITE | PAGE_EXEC;
	uint64_t paddr[PAGES];
	struct space_test t;
	struct hal_space *s = &bed->space;
	int prot = 0;

	begin(bed, &t);
	expect(bed, hal_query_run(s, t.at, PAGES, all, paddr, &prot) == 0);
	expect(bed, hal_map(s, t.at, hal_paddr(t.page[0]), 3, PROT_RW) == 0);
	expect(bed, hal_query_run(s, t.at, PAGES, all, paddr, &prot) == 3);
	for (int i = 0; i < 3; i++)
		expect(bed, paddr[i] == hal_paddr(t.page[i]));
	expect(bed, (prot & all) == PROT_RW && (prot & HAL_MAY_ALL) == HAL_MAY(PROT_RW));
	expect(bed, hal_query_run(s, t.at + HAL_PAGE_BYTES, 1, all, paddr, &prot) == 1);
	expect(bed, paddr[0] == hal_paddr(t.page[1]));
	expect(bed, hal_protect(s, t.at, 1, PAGE_READ) == 0);
	expect(bed, hal_query_run(s, t.at, PAGES, all, paddr, &prot) == 1);
	expect(bed, (prot & all) == PAGE_READ);
	expect(bed, hal_query_run(s, t.at, PAGES, PAGE_READ, paddr, &prot) == 3);
	expect(bed, (prot & all) == PROT_RW);
	expect(bed, hal_map(s, t.at + 3 * HAL_PAGE_BYTES, hal_paddr(t.page[3]), 1, PAGE_READ) == 0);
	expect(bed, hal_query_run(s, t.at, PAGES, PAGE_READ, paddr, &prot) == 3);
	expect(bed, hal_query_run(s, t.at, PAGES, 0, paddr, &prot) == 4);
	expect(bed, paddr[3] == hal_paddr(t.page[3]));
	end(&t);
}

/*
 * Pages of a run appear in another space, at another address too: both lose the right to write and
 * no other, and what hal_protect may give stays.
 */
static void
a_run_is_shared_with_another_space(struct testbed *bed)
{
	struct space_test t;
	struct hal_space *s = &bed->space, *other = &bed->other;
	const uintptr_t page = HAL_PAGE_BYTES;
	uintptr_t at;

	begin(bed, &t);
	expect(bed, hal_space_init(other, &t.source) == 0);
	at = other->first + (t.at - s->first) + page;
	for (int i = 0; i < 3; i++)
		expect(bed, hal_map(s, t.at + i * page, hal_paddr(t.page[2 - i]), 1,
			PAGE_READ | (i != 1 ? PAGE_WRITE : HAL_MAY(PAGE_WRITE))) == 0);
	expect(bed, hal_share(s, t.at, 3, other, at) == 0);
	for (int i = 0; i < 3; i++) {
		expect(bed, shows(s, t.at + i * page, t.page[2 - i], PAGE_READ));
		expect(bed, shows(other, at + i * page, t.page[2 - i], PAGE_READ));
	}
	expect(bed, is_hole(other, at - page) && is_hole(other, at + 3 * page));
	expect(bed, hal_protect(other, at, 3, PAGE_READ | PAGE_EXEC) == -E_ACCES);
	expect(bed, hal_protect(other, at, 3, PROT_RW) == 0);
	expect(bed, shows(s, t.at, t.page[2], PAGE_READ));
	expect(bed, hal_protect(s, t.at, 3, PROT_RW) == 0);
	/* where a table is already, and where none is */
	expect(bed, hal_share(s, t.at, 1, other, at + 3 * page) == 0);
	expect(bed, shows(other, at + 3 * page, t.page[2], PAGE_READ));
	expect(bed, shows(s, t.at, t.page[2], PAGE_READ));
	expect(bed, shows(s, t.at + page, t.page[1], PROT_RW));
	at += 2 * HAL_LARGE_BYTES - 4 * page;
	expect(bed, hal_share(s, t.at, 3, other, at) == 0);
	for (int i = 0; i < 3; i++)
		expect(bed, shows(other, at + i * page, t.page[2 - i], PAGE_READ));
	while (!hal_space_destroy(other))
		continue;
	end(&t);
}

/*
 * A table that a core may still walk must go while a shoot-down is coming: that is true of
 * hal_unmap, and not of hal_map.
 */
static void
unmap_gives_empty_tables_back(struct testbed *bed)
{
	struct space_test t;
	struct hal_space *s = &bed->space;
	struct page_pool *pool = &bed->pool;
	unsigned empty, taken;

	begin(bed, &t);
	/* the tables above those of pages stay */
	expect(bed, hal_map(s, t.at, hal_paddr(t.page[0]), 1, PROT_RW) == 0);
	expect(bed, hal_unmap(s, t.at, 1) == 0);
	empty = pool->taken;
	expect(bed, hal_map(s, t.at, hal_paddr(t.page[0]), 2, PROT_RW) == 0);
	taken = pool->taken;
	expect(bed, hal_map(s, t.at + HAL_LARGE_BYTES - HAL_PAGE_BYTES, hal_paddr(t.page[2]), 2,
		PROT_RW) == 0);
	expect(bed, hal_unmap(s, t.at + HAL_LARGE_BYTES - HAL_PAGE_BYTES, 2) == 0);
	expect(bed, pool->taken == taken);
	expect(bed, hal_unmap(s, t.at, 1) == 0);
	expect(bed, pool->taken == taken);
	expect(bed, hal_unmap(s, t.at + HAL_PAGE_BYTES, 1) == 0);
	expect(bed, pool->taken == empty);
	end(&t);
}

static void
large_pages_map(struct testbed *bed)
{
	struct page_pool *pool = &bed->pool;
	size_t into = hal_paddr(pool->next) % HAL_LARGE_BYTES;
	char *large = pool->next + (into ? HAL_LARGE_BYTES - into : 0);
	struct space_test t;
	struct hal_space *s = &bed->space;

	if (pool->end < large || (size_t)(pool->end - large) < HAL_LARGE_BYTES) {
		test_skip(bed, "too little memory");
		return;
	}
	begin(bed, &t);
	expect(bed, hal_map(s, t.at, hal_paddr(large), 1, PROT_RW | PAGE_LARGE) == 0);
	expect(bed, shows(s, t.at, large, PROT_RW | PAGE_LARGE));
	expect(bed, shows(s, t.at + 3 * HAL_PAGE_BYTES, large, PROT_RW | PAGE_LARGE));
	expect(bed, hal_map(s, t.at + HAL_PAGE_BYTES, hal_paddr(t.page[0]), 1, PROT_RW) ==
		-E_EXIST);
	expect(bed, hal_map(s, t.at + HAL_LARGE_BYTES, hal_paddr(t.page[0]), 1, PAGE_READ) == 0);
	expect(bed, hal_map(s, t.at + HAL_LARGE_BYTES, hal_paddr(large), 1, PROT_RW | PAGE_LARGE) ==
		-E_EXIST);
	expect(bed, hal_protect(s, t.at, 1, PAGE_READ) == -E_INVAL);
	expect(bed, hal_unmap(s, t.at + HAL_PAGE_BYTES, IN_LARGE) == -E_INVAL);
	expect(bed, shows(s, t.at, large, PROT_RW | PAGE_LARGE));
	expect(bed, hal_protect(s, t.at, IN_LARGE, PAGE_READ) == 0);
	expect(bed, shows(s, t.at, large, PAGE_READ | PAGE_LARGE));
	expect(bed, hal_protect(s, t.at, IN_LARGE, PAGE_READ | PAGE_EXEC) == -E_ACCES);
	expect(bed, hal_protect(s, t.at, IN_LARGE, PROT_RW) == 0);
	expect(bed, shows(s, t.at, large, PROT_RW | PAGE_LARGE));
	expect(bed, hal_unmap(s, t.at, IN_LARGE + 1) == 0);
	expect(bed, is_hole(s, t.at));
	expect(bed, is_hole(s, t.at + HAL_LARGE_BYTES));
	end(&t);
}

/*
 * A large page becomes small ones and back: they show the same, have the same maximum, and nothing
 * else than what looks like one large page becomes one.
 */
static void
pages_change_their_size(struct testbed *bed)
{
	struct page_pool *pool = &bed->pool;
	size_t into = hal_paddr(pool->next) % HAL_LARGE_BYTES;
	char *large = pool->next + (into ? HAL_LARGE_BYTES - into : 0);
	struct space_test t;
	struct hal_space *s = &bed->space;
	unsigned taken;

	if (pool->end < large || (size_t)(pool->end - large) < HAL_LARGE_BYTES) {
		test_skip(bed, "too little memory");
		return;
	}
	begin(bed, &t);
	expect(bed, hal_split(s, t.at) == -E_INVAL);
	expect(bed, hal_join(s, t.at) == -E_INVAL);
	expect(bed, hal_map(s, t.at, hal_paddr(large), 1,
		PAGE_READ | HAL_MAY(PAGE_WRITE) | PAGE_LARGE) == 0);
	expect(bed, hal_join(s, t.at) == -E_INVAL);
	taken = pool->taken;
	pool->left = 0;
	if (hal_split(s, t.at) == -E_INVAL) {
		pool->left = ~0u;
		test_skip(bed, "pages do not change their size");
		end(&t);
		return;
	}
	expect(bed, hal_split(s, t.at + 5) == -E_NOMEM);
	pool->left = ~0u;
	expect(bed, shows(s, t.at, large, PAGE_READ | PAGE_LARGE));
	expect(bed, hal_split(s, t.at + 3 * HAL_PAGE_BYTES) == 0);
	expect(bed, pool->taken == taken + 1);
	for (unsigned i = 0; i < IN_LARGE; i++)
		expect(bed, shows(s, t.at + i * HAL_PAGE_BYTES, large + i * HAL_PAGE_BYTES,
			PAGE_READ));
	expect(bed, hal_split(s, t.at) == -E_INVAL);
	expect(bed, hal_join(s, t.at + HAL_PAGE_BYTES) == -E_INVAL);
	/* one with another right, and one that is not there */
	expect(bed, hal_protect(s, t.at + 7 * HAL_PAGE_BYTES, 1, PROT_RW) == 0);
	expect(bed, hal_protect(s, t.at, 1, PAGE_READ | PAGE_EXEC) == -E_ACCES);
	expect(bed, hal_join(s, t.at) == -E_INVAL);
	expect(bed, hal_protect(s, t.at + 7 * HAL_PAGE_BYTES, 1, PAGE_READ) == 0);
	expect(bed, hal_unmap(s, t.at + (IN_LARGE - 1) * HAL_PAGE_BYTES, 1) == 0);
	expect(bed, hal_join(s, t.at) == -E_INVAL);
	expect(bed, hal_map(s, t.at + (IN_LARGE - 1) * HAL_PAGE_BYTES,
		hal_paddr(large + (IN_LARGE - 1) * HAL_PAGE_BYTES), 1, PAGE_READ) == 0);
	expect(bed, hal_join(s, t.at) == -E_INVAL);	/* its maximum is another */
	expect(bed, hal_unmap(s, t.at + (IN_LARGE - 1) * HAL_PAGE_BYTES, 1) == 0);
	expect(bed, hal_map(s, t.at + (IN_LARGE - 1) * HAL_PAGE_BYTES,
		hal_paddr(large + (IN_LARGE - 1) * HAL_PAGE_BYTES), 1,
		PAGE_READ | HAL_MAY(PAGE_WRITE)) == 0);
	expect(bed, hal_join(s, t.at) == 0);
	expect(bed, pool->taken == taken);
	expect(bed, shows(s, t.at + 9 * HAL_PAGE_BYTES, large, PAGE_READ | PAGE_LARGE));
	expect(bed, hal_protect(s, t.at, IN_LARGE, PROT_RW) == 0);
	expect(bed, hal_unmap(s, t.at, IN_LARGE) == 0);
	expect(bed, is_hole(s, t.at));
	end(&t);
}

/* Let the source fail after 0, 1, 2 ... pages: each failure must leave no trace. */
static void
out_of_table_pages(struct testbed *bed)
{
	struct page_pool *pool = &bed->pool;
	struct space_test t;
	struct hal_space *s = &bed->space;
	unsigned asked, taken, i;
	int error = -E_NOMEM;

	begin(bed, &t);
	asked = pool->asked;
	taken = pool->taken;
	for (i = 0; i < 16 && error == -E_NOMEM; i++) {
		pool->left = i;
		error = hal_map(s, t.at + HAL_LARGE_BYTES - 2 * HAL_PAGE_BYTES,
			hal_paddr(t.page[0]), PAGES, PROT_RW);
		if (error == -E_NOMEM) {
			expect(bed, pool->taken == taken);
			expect(bed, is_hole(s, t.at + HAL_LARGE_BYTES - 2 * HAL_PAGE_BYTES));
		}
	}
	pool->left = ~0u;
	expect(bed, error == 0);
	expect(bed, (pool->asked == asked) == (i == 1));
	expect(bed, shows(s, t.at + HAL_LARGE_BYTES + HAL_PAGE_BYTES, t.page[3], PROT_RW));
	end(&t);
}

static void
spaces_are_independent(struct testbed *bed)
{
	struct hal_space second;
	struct space_test t;

	begin(bed, &t);
	expect(bed, hal_space_init(&second, &t.source) == 0);
	expect(bed, hal_map(&bed->space, t.at, hal_paddr(t.page[0]), 1, PROT_RW) == 0);
	expect(bed,
		is_hole(&second,
		(second.first + 2 * HAL_LARGE_BYTES - 1) & ~(HAL_LARGE_BYTES - 1)));
	while (!hal_space_destroy(&second))
		continue;
	expect(bed, shows(&bed->space, t.at, t.page[0], PROT_RW));
	end(&t);
}

const struct hal_test space_tests[] = {
	{"kernel_addresses_translate_both_ways", addresses_translate_both_ways, 1, 1},
	{"mapped_pages_are_found_and_unmapped_ones_are_not", map_query_unmap, 1, 1},
	{"holes_end_at_what_is_mapped", holes_end_at_what_is_mapped, 1, 1},
	{"a_map_over_something_changes_nothing", map_over_something_changes_nothing, 1, 1},
	{"bad_ranges_are_refused", bad_ranges_are_refused, 1, 1},
	{"unmap_and_protect_do_all_or_nothing", unmap_and_protect_are_all_or_nothing, 1, 1},
	{"protection_stays_below_the_maximum", protection_stays_below_the_maximum, 1, 1},
	{"a_page_takes_the_place_of_another", a_page_takes_the_place_of_another, 1, 1},
	{"runs_are_of_pages_that_are_alike", runs_are_of_pages_that_are_alike, 1, 1},
	{"a_run_is_shared_with_another_space", a_run_is_shared_with_another_space, 1, 1},
	{"unmap_gives_empty_tables_back", unmap_gives_empty_tables_back, 1, 1},
	{"large_pages_map_beside_small_ones", large_pages_map, 1, 1},
	{"pages_change_their_size", pages_change_their_size, 1, 1},
	{"a_map_without_table_pages_leaves_no_trace", out_of_table_pages, 1, 1},
	{"spaces_are_independent", spaces_are_independent, 1, 1},
	{NULL, NULL, 0, 0},
};
