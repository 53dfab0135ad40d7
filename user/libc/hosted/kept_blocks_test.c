/* SPDX-License-Identifier: MIT
 *
 * Kept blocks beside a naive list, under random calls.
 *
 * needs: user/libc/hosted/kept_blocks.c
 */
#include <stdint.h>
#include <stdlib.h>
#include <base/test.h>
#include <user/libc/hosted/kept_blocks.h>

#define KB 1024
#define STEPS 100000

static char memory[STEPS];

static struct kept_blocks
fresh(void)
{
	return (struct kept_blocks){.most = 1024 * KB};
}

static uint32_t
next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

TEST(a_block_is_taken_by_one_that_fits)
{
	struct kept_blocks k = fresh();

	kept_blocks_put(&k, &memory[0], 64 * KB);
	expect(kept_blocks_take(&k, 64 * KB + 1) == NULL);
	expect(kept_blocks_take(&k, 32 * KB) == NULL);
	expect(kept_blocks_take(&k, 60 * KB) == &memory[0]);
	expect(kept_blocks_take(&k, 60 * KB) == NULL);
	expect_eq(k.bytes, 0);
}

TEST(the_newest_block_goes_first_and_the_oldest_is_evicted)
{
	struct kept_blocks k = fresh();

	for (int i = 0; i < 16; i++)
		kept_blocks_put(&k, &memory[i], 64 * KB);
	expect(kept_blocks_evict(&k, KEPT_LEAST) == &memory[0]);
	expect(kept_blocks_evict(&k, KEPT_LEAST) == NULL);
	expect(kept_blocks_take(&k, 64 * KB) == &memory[15]);
}

TEST(small_and_huge_blocks_are_not_kept)
{
	struct kept_blocks k = fresh();

	expect(!kept_blocks_accept(&k, KEPT_LEAST - 1));
	expect(kept_blocks_accept(&k, KEPT_LEAST));
	expect(kept_blocks_accept(&k, k.most));
	expect(!kept_blocks_accept(&k, k.most + 1));
}

TEST(nothing_is_kept_without_a_bound)
{
	struct kept_blocks k = {.most = 0};

	expect(!kept_blocks_accept(&k, KEPT_LEAST));
}

/* A block is in the list or with the caller, never both, and the bounds hold. */
TEST(random_blocks_are_in_one_place_each)
{
	static char where[STEPS];	/* 1: in the list */
	struct kept_blocks k = fresh();
	uint32_t seed = 5;
	unsigned in_list = 0;
	char *p;

	for (int i = 0; i < STEPS; i++) {
		size_t bytes = KEPT_LEAST + next_random(&seed) % (256 * KB);

		if (next_random(&seed) % 2 == 0) {
			p = kept_blocks_take(&k, bytes);
			if (p == NULL)
				continue;
			expect_eq(where[p - memory], 1);
			where[p - memory] = 0;
			in_list--;
			continue;
		}
		for (; (p = kept_blocks_evict(&k, bytes)) != NULL; in_list--) {
			expect_eq(where[p - memory], 1);
			where[p - memory] = 0;
		}
		kept_blocks_put(&k, &memory[i], bytes);
		where[i] = 1;
		in_list++;
		expect(k.count == in_list && k.count <= KEPT_BLOCKS && k.bytes <= k.most);
	}
	for (; kept_blocks_evict(&k, SIZE_MAX) != NULL; in_list--)
		;
	expect_eq(in_list, 0);
	expect_eq(k.bytes, 0);
}

int
main(void)
{
	RUN(a_block_is_taken_by_one_that_fits);
	RUN(the_newest_block_goes_first_and_the_oldest_is_evicted);
	RUN(small_and_huge_blocks_are_not_kept);
	RUN(nothing_is_kept_without_a_bound);
	RUN(random_blocks_are_in_one_place_each);
	return TEST_FAILED;
}
