/* SPDX-License-Identifier: MIT
 *
 * The lean heap on pages that are counted.
 *
 * needs: user/libc/riscv64/lean_heap.c
 */
#include <stdint.h>
#include <base/test.h>
#include <user/libc/riscv64/lean_heap.h>

#define PAGE 4096
#define BLOCKS 300
#define STEPS 60000

#define REGIONS 100

static size_t given, limit;
static void *region[REGIONS];

static void *
get(size_t bytes)
{
	int i = 0;

	if (given + bytes > limit)
		return NULL;
	while (i < REGIONS - 1 && region[i] != NULL)
		i++;
	given += bytes;
	return region[i] = aligned_alloc(PAGE, bytes);
}

static void
put(void *memory, size_t bytes)
{
	for (int i = 0; i < REGIONS; i++)
		if (region[i] == memory)
			region[i] = NULL;
	given -= bytes;
	free(memory);
}

static void
release_all(void)
{
	for (int i = 0; i < REGIONS; i++) {
		free(region[i]);
		region[i] = NULL;
	}
}

/* A heap that has so much memory; the one before is gone. */
static struct heap
fresh(size_t bytes)
{
	release_all();
	given = 0;
	limit = bytes;
	return (struct heap){.get = get, .put = put, .page_bytes = PAGE};
}

TEST(a_block_costs_its_bytes_and_little_more)
{
	struct heap h = fresh(1 << 20);
	void *blocks[12];

	for (int i = 0; i < 12; i++)
		blocks[i] = heap_alloc(&h, HEAP_UNIT, 9776);
	expect(h.held <= 12 * 3 * PAGE);
	for (int i = 0; i < 12; i++)
		heap_free(&h, blocks[i]);
	expect_eq(h.held, 0);
	expect_eq(given, 0);
	/* small ones of many sizes share a page */
	for (int i = 0; i < 12; i++)
		blocks[i] = heap_alloc(&h, HEAP_UNIT, (size_t)(16 + 40 * i));
	expect_eq(h.held, PAGE);
	for (int i = 0; i < 12; i++)
		heap_free(&h, blocks[i]);
}

TEST(what_was_freed_is_used_again_in_one_piece)
{
	struct heap h = fresh(1 << 20);
	char *a = heap_alloc(&h, HEAP_UNIT, 1000), *b = heap_alloc(&h, HEAP_UNIT, 1000),
		*c = heap_alloc(&h, HEAP_UNIT, 1000);

	heap_free(&h, a);
	heap_free(&h, c);
	heap_free(&h, b);
	expect(heap_alloc(&h, HEAP_UNIT, 3000) == a);
	expect_eq(h.held, PAGE);
}

TEST(without_memory_there_is_no_block_and_nothing_is_lost)
{
	struct heap h = fresh(2 * PAGE);
	char *a = heap_alloc(&h, HEAP_UNIT, 5000);

	expect(a != NULL);
	expect(heap_alloc(&h, HEAP_UNIT, 5000) == NULL);
	expect(heap_alloc(&h, HEAP_UNIT, SIZE_MAX) == NULL);
	expect(heap_alloc(&h, HEAP_UNIT, SIZE_MAX / 2) == NULL);
	heap_free(&h, a);
	expect(heap_alloc(&h, HEAP_UNIT, 8000) != NULL);
}

TEST(a_block_grows_and_shrinks_where_it_lies)
{
	struct heap h = fresh(1 << 20);
	char *a = heap_alloc(&h, HEAP_UNIT, 100), *b = heap_alloc(&h, HEAP_UNIT, 100);

	expect_eq(heap_resize(&h, a, 200), -1);
	heap_free(&h, b);
	expect_eq(heap_resize(&h, a, 2000), 0);
	expect(heap_room(a) >= 2000);
	expect_eq(heap_resize(&h, a, 10), 0);
	expect(heap_room(a) < 100);
	expect(heap_alloc(&h, HEAP_UNIT, 3000) != NULL);
	expect_eq(h.held, PAGE);
}

TEST(a_block_can_be_aligned)
{
	struct heap h = fresh(1 << 22);
	void *block[16];

	for (int i = 0; i < 16; i++) {
		size_t align = (size_t)HEAP_UNIT << i % 10;

		block[i] = heap_alloc(&h, align, (size_t)(i * 37));
		expect_eq((uintptr_t)block[i] % align, 0);
	}
	for (int i = 0; i < 16; i++)
		heap_free(&h, block[i]);
	expect(h.held <= 16 * 2 * PAGE);
}

struct held {
	unsigned char *at;
	size_t bytes;
	unsigned char mark;
};

static int
is_whole(const struct held *b)
{
	for (size_t i = 0; i < b->bytes; i++)
		if (b->at[i] != b->mark)
			return 0;
	return 1;
}

static uint32_t
next_random(uint32_t *seed)
{
	return *seed = *seed * 1664525u + 1013904223u, *seed >> 8;
}

static void
step(struct heap *h, struct held *b, uint32_t *seed)
{
	uint32_t r = next_random(seed);

	if (b->at == NULL) {
		*b = (struct held){.bytes = r % 16 == 0 ? r % 20000 : r % 400,
			.mark = (unsigned char)r};
		b->at = heap_alloc(h, r % 8 == 0 ? 64 : HEAP_UNIT, b->bytes);
		if (b->at != NULL)
			memset(b->at, b->mark, b->bytes);
		return;
	}
	expect(is_whole(b));
	if (r % 4 == 0 && heap_resize(h, b->at, b->bytes / 2 + 1) == 0) {
		b->bytes = b->bytes / 2;
		return;
	}
	heap_free(h, b->at);
	b->at = NULL;
}

/*
 * Random blocks keep what was written to them, in a memory that is too small now and then; all of
 * it comes back.
 */
TEST(random_blocks_do_not_touch_each_other)
{
	struct heap h = fresh(60 * PAGE);
	static struct held block[BLOCKS];
	uint32_t seed = 7;
	size_t pages = 0;

	for (int i = 0; i < STEPS; i++)
		step(&h, &block[next_random(&seed) % BLOCKS], &seed);
	for (int i = 0; i < BLOCKS; i++)
		if (block[i].at != NULL)
			heap_free(&h, block[i].at);
	expect_eq(given, h.held);
	limit = given;
	/* what is left are regions of one or two pages, each in one piece */
	while (heap_alloc(&h, HEAP_UNIT, PAGE - 2 * HEAP_UNIT) != NULL)
		pages++;
	expect(h.held > 0 && pages >= h.held / PAGE / 2);
}

int
main(void)
{
	RUN(a_block_costs_its_bytes_and_little_more);
	RUN(what_was_freed_is_used_again_in_one_piece);
	RUN(without_memory_there_is_no_block_and_nothing_is_lost);
	RUN(a_block_grows_and_shrinks_where_it_lies);
	RUN(a_block_can_be_aligned);
	RUN(random_blocks_do_not_touch_each_other);
	release_all();
	return TEST_FAILED;
}
