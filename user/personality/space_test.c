/* SPDX-License-Identifier: MIT
 *
 * What a program has mapped, also in random order against a table of pages.
 *
 * needs: user/personality/space.c
 */
#include <string.h>
#include <base/test.h>
#include <user/personality/space.h>

#define PAGES 400
#define STEPS 20000

enum { NOTHING, COPIED, SHARED };

static struct space space;
static unsigned char is[PAGES];

static void
add(uint32_t first, uint32_t end, bool is_shared)
{
	space_add(&space, (struct space_area){.first = first, .end = end, .is_shared = is_shared});
}

TEST(areas_that_touch_each_other_are_one)
{
	space = (struct space){0};
	add(10, 20, false);
	add(30, 40, false);
	expect_eq(space.count, 2);
	add(20, 30, false);
	expect_eq(space.count, 1);
	expect_eq(space.area[0].first, 10);
	expect_eq(space.area[0].end, 40);
	add(40, 41, true);
	expect_eq(space.count, 2);
	expect(space_find(&space, 40).is_shared && !space_find(&space, 39).is_shared &&
		!space_find(&space, 41).is_shared);
}

TEST(what_is_removed_leaves_the_rest)
{
	space = (struct space){0};
	add(10, 20, true);
	space_remove(&space, 0, 10);
	space_remove(&space, 20, 30);
	expect_eq(space.count, 1);
	space_remove(&space, 12, 14);
	expect_eq(space.count, 2);
	expect(space_find(&space, 11).is_shared && !space_find(&space, 13).is_shared &&
		space_find(&space, 14).is_shared);
	space_remove(&space, 0, 100);
	expect_eq(space.count, 0);
}

TEST(what_lies_behind_files_is_told_apart)
{
	space = (struct space){0};
	add(0, 5, false);
	for (uint32_t i = 1; i <= SPACE_FILES; i++) {
		expect_eq(space_free_file(&space), i);
		space_add(&space, (struct space_area){.first = 10 * i, .end = 10 * i + 10,
			.behind = i & SPACE_FILES});
	}
	expect_eq(space.count, SPACE_FILES + 1);
	expect_eq(space_free_file(&space), 0);
	space_remove(&space, 33, 37);
	expect(space_find(&space, 32).behind == 3 && space_find(&space, 37).behind == 3);
	expect_eq(space_free_file(&space), 0);
	space_remove(&space, 30, 40);
	expect_eq(space_free_file(&space), 3);
	expect(space_find(&space, 20).behind == 2 && space_find(&space, 4).behind == 0);
}

TEST(too_many_are_noticed)
{
	space = (struct space){0};
	for (uint32_t i = 0; i < SPACE_AREAS; i++)
		add(2 * i, 2 * i + 1, false);
	expect_eq(space.is_lost, 0);
	add(1000, 1001, false);
	expect_eq(space.is_lost, 1);
	/* one that is cut in two can be too many, too */
	space = (struct space){0};
	for (uint32_t i = 0; i < SPACE_AREAS; i++)
		add(4 * i, 4 * i + 3, false);
	space_remove(&space, 1, 2);
	expect_eq(space.is_lost, 1);
}

static uint32_t
draw(uint32_t n)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

static void
change(void)
{
	uint32_t first = draw(PAGES), end = first + 1 + draw(PAGES - first);
	bool is_shared = draw(2) != 0;

	if (end > first + 20)
		end = first + 20;
	space_remove(&space, first, end);
	memset(is + first, NOTHING, end - first);
	if (draw(3) == 0)
		return;
	add(first, end, is_shared);
	memset(is + first, is_shared ? SHARED : COPIED, end - first);
}

TEST(a_list_says_what_a_table_says)
{
	space = (struct space){0};
	memset(is, 0, sizeof(is));
	for (int n = 0; n < STEPS; n++) {
		uint32_t pages = 0, borders = 0;

		change();
		for (uint32_t i = 0; i < PAGES; i++) {
			expect_eq(space_find(&space, i).is_shared, is[i] == SHARED);
			borders += is[i] != NOTHING && (i == 0 || is[i - 1] != is[i]);
			pages += is[i] != NOTHING;
		}
		for (uint32_t i = 0; i < space.count; i++)
			pages -= space.area[i].end - space.area[i].first;
		expect_eq(pages, 0);
		expect_eq(space.count, borders);
	}
}

int
main(void)
{
	RUN(areas_that_touch_each_other_are_one);
	RUN(what_is_removed_leaves_the_rest);
	RUN(what_lies_behind_files_is_told_apart);
	RUN(too_many_are_noticed);
	RUN(a_list_says_what_a_table_says);
	return TEST_FAILED;
}
