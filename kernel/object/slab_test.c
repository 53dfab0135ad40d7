/* SPDX-License-Identifier: MIT
 *
 * Small pieces: records of threads among the others, whole pages, random use against a naive
 * oracle.
 *
 * needs: kernel/object/slab.c kernel/mem/frame.c
 */
#include <base/check.h>
#include <base/test.h>
#include <hal/atomic.h>
#include <hal/mmu.h>
#include <kernel/mem/frame.h>
#include <kernel/object/slab.h>

#define PAGES 32u
#define RECORD 1280u
#define IN_PAGE (HAL_PAGE_BYTES / RECORD)
#define PIECES 400u

static unsigned char *memory;
static struct frames frames;
static struct slab slab;
static unsigned shared;		/* pages that the HAL was told of */

static struct piece {
	unsigned char *at;
	size_t bytes;
	unsigned char value;
} piece[PIECES];

void
check_failed(const char *file, int line)
{
	printf("%s:%d: a check has failed\n", file, line);
	abort();
}

uint64_t
hal_paddr(const void *kernel)
{
	return (uint64_t)(uintptr_t)kernel;
}

void
hal_zero_pages(void *kernel, size_t bytes)
{
	memset(kernel, 0, bytes);
}

void
hal_shared_region(void *base, size_t len)
{
	expect((uintptr_t)base % HAL_PAGE_BYTES == 0 && len == HAL_PAGE_BYTES);
	shared++;
}

void
hal_shared_region_end(void *base, size_t len)
{
	expect((uintptr_t)base % HAL_PAGE_BYTES == 0 && len == HAL_PAGE_BYTES);
	shared--;
}

void
frame_freed(int32_t owner)
{
	(void)owner;
	abort();
}

static void
begin(void)
{
	static struct frame entries[PAGES + HAL_LARGE_BYTES / HAL_PAGE_BYTES];
	static const struct boot_policy policy;

	if (memory == NULL)
		memory = aligned_alloc(HAL_LARGE_BYTES, HAL_LARGE_BYTES);
	memset(memory, 0x5a, PAGES * HAL_PAGE_BYTES);
	memset(&frames, 0, sizeof(frames));
	frames_init(&frames, entries, memory, memory, memory + PAGES * HAL_PAGE_BYTES, &policy);
	slab_init(&slab, &frames, RECORD);
	shared = 0;
}

static void
end(void)
{
	expect_eq(slab.pages, 0);
	expect_eq(shared, 0);
	expect_eq(frames.free, PAGES);
}

TEST(records_fill_their_pages_and_only_theirs_are_shared)
{
	unsigned char *record[PAGES * IN_PAGE + 1];
	unsigned n = 0;

	begin();
	expect_eq(slab_size(&slab, RECORD), RECORD);
	expect_eq(slab_size(&slab, RECORD - 1), 2048);
	while ((record[n] = slab_alloc(&slab, RECORD)) != NULL)
		memset(record[n++], 0xa5, RECORD);
	expect_eq(n, PAGES * IN_PAGE);
	expect_eq(slab.pages, PAGES);
	expect_eq(shared, PAGES);
	for (unsigned i = 0; i < n; i++) {
		expect_eq((uintptr_t)record[i] % HAL_CACHE_LINE, 0);
		slab_free(&slab, record[i]);
	}
	record[0] = slab_alloc(&slab, 64);
	expect_eq(shared, 0);
	slab_free(&slab, record[0]);
	end();
}

/* Whoever takes and gives one piece again and again gets it again, also where a page begins. */
TEST(what_was_given_last_is_taken_next)
{
	void *record[2 * IN_PAGE], *again;

	begin();
	for (unsigned n = 0; n < 2 * IN_PAGE; n++) {
		record[n] = slab_alloc(&slab, RECORD);
		for (unsigned i = 0; i < 3; i++) {
			slab_free(&slab, record[n]);
			again = slab_alloc(&slab, RECORD);
			expect(again == record[n]);
		}
	}
	expect_eq(slab.pages, 2);
	for (unsigned n = 0; n < 2 * IN_PAGE; n++)
		slab_free(&slab, record[n]);
	end();
}

static bool
holds(const struct piece *p)
{
	for (size_t i = 0; i < p->bytes; i++)
		if (p->at[i] != p->value)
			return false;
	return true;
}

static size_t
any_size(void)
{
	return rand() % 2 ? RECORD : 1 + (size_t)rand() % (rand() % 8 ? 200 : SLAB_BYTES_MAX);
}

TEST(random_use_hands_out_no_byte_twice_and_gives_all_back)
{
	unsigned n = 0, refused = 0;

	begin();
	srand(1);
	for (unsigned step = 0; step < 50000; step++) {
		/* by turns more is taken, and more is given */
		if (n < PIECES && rand() % 8 < (step / 1000 % 2 ? 5 : 3)) {
			struct piece *p = &piece[n];

			p->bytes = any_size();
			p->at = slab_alloc(&slab, p->bytes);
			p->value = (unsigned char)step;
			if (p->at == NULL) {
				refused++;
				continue;
			}
			memset(p->at, p->value, p->bytes);
			n++;
		} else if (n > 0) {
			struct piece *p = &piece[(unsigned)rand() % n];

			expect(holds(p));
			slab_free(&slab, p->at);
			*p = piece[--n];
		}
	}
	expect(refused > 0);
	for (unsigned i = 0; i < n; i++)
		slab_free(&slab, piece[i].at);
	end();
}

int
main(void)
{
	RUN(records_fill_their_pages_and_only_theirs_are_shared);
	RUN(what_was_given_last_is_taken_next);
	RUN(random_use_hands_out_no_byte_twice_and_gives_all_back);
	free(memory);
	return TEST_FAILED;
}
