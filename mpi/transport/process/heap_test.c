/* SPDX-License-Identifier: MIT
 *
 * The heap of a rank.
 * needs: mpi/transport/process/heap.c
 */
#include <base/test.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <mpi/transport/process/heap.h>
#include <mpi/transport/process/segment.h>
#include <mpi/transport/shared.h>

#define BYTES (1u << 20)

/* As an emulator that takes advice for a hint. */
static bool advice_is_ignored;

int
madvise(void *address, size_t bytes, int advice)
{
	return advice_is_ignored ? 0 : (int)syscall(SYS_madvise, address, bytes, advice);
}

static struct heap
new_heap(void)
{
	return (struct heap){.base = mmap(NULL, BYTES, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1,
		0), .bytes = BYTES};
}

static void
end_heap(struct heap *h)
{
	munmap(h->base, h->bytes);
	heap_exit(h);
}

static bool
is_zero(const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != 0)
			return false;
	return true;
}

TEST(blocks_lie_on_cache_lines_and_apart)
{
	struct heap h = new_heap();
	char *a = heap_take(&h, 1), *b = heap_take(&h, 65), *c = heap_take(&h, 0);

	expect(a != NULL && b != NULL && c != NULL);
	expect_eq((uintptr_t)b % CACHE_LINE, 0);
	expect(b - a >= 1 && c - b >= 65 && c > b);
	end_heap(&h);
}

TEST(what_does_not_fit_is_refused)
{
	struct heap h = new_heap();

	expect(heap_take(&h, BYTES + 1) == NULL);
	expect(heap_take(&h, SIZE_MAX) == NULL);
	expect(heap_take(&h, BYTES) != NULL);
	expect(heap_take(&h, 1) == NULL);
	end_heap(&h);
}

TEST(freed_neighbours_become_one)
{
	struct heap h = new_heap();
	char *p[4];

	for (int i = 0; i < 4; i++)
		p[i] = heap_take(&h, BYTES / 4);
	expect(heap_take(&h, 1) == NULL);
	expect(heap_give(&h, p[1]) && heap_give(&h, p[3]) && heap_give(&h, p[2]));
	expect(heap_take(&h, 3 * (BYTES / 4)) == p[1]);
	end_heap(&h);
}

static void
use_and_look(void)
{
	struct heap h = new_heap();

	for (size_t len = 1; len < BYTES / 2; len = len * 3 + 1) {
		char *before = heap_take(&h, 100), *p = heap_take(&h, len);

		expect(is_zero(p, len));
		memset(p, 0xff, len);
		expect(heap_give(&h, p) && heap_give(&h, before));
	}
	end_heap(&h);
}

TEST(memory_is_zero_when_it_comes_again)
{
	use_and_look();
}

TEST(memory_is_zero_where_advice_is_ignored)
{
	advice_is_ignored = true;
	use_and_look();
	advice_is_ignored = false;
}

TEST(what_was_not_given_out_is_not_taken_back)
{
	struct heap h = new_heap();
	char *p = heap_take(&h, 1000);

	expect(!heap_give(&h, p + 64));
	expect(!heap_give(&h, &h));
	expect(!heap_give(&h, NULL));
	expect(heap_give(&h, p));
	expect(!heap_give(&h, p));
	end_heap(&h);
}

TEST(only_what_is_used_is_open)
{
	struct heap h = new_heap();
	char *a = heap_take(&h, 1), *b;

	expect_eq(h.opened, HEAP_UNIT);
	b = heap_take(&h, 3 * HEAP_UNIT);
	a[0] = b[0] = b[3 * HEAP_UNIT - 1] = 1;
	expect_eq(h.opened, 4 * HEAP_UNIT);
	expect(heap_give(&h, b));
	expect(heap_take(&h, 2 * HEAP_UNIT) == b);
	expect_eq(h.opened, 4 * HEAP_UNIT);
	end_heap(&h);
}

TEST(what_the_system_does_not_open_is_not_given_out)
{
	struct heap h = new_heap();
	char *a = heap_take(&h, 1);

	munmap(h.base + BYTES / 2, BYTES / 2);
	expect(heap_take(&h, BYTES - HEAP_UNIT) == NULL);
	expect(heap_take(&h, BYTES / 4) == a + CACHE_LINE);
	end_heap(&h);
}

int
main(void)
{
	RUN(blocks_lie_on_cache_lines_and_apart);
	RUN(what_does_not_fit_is_refused);
	RUN(freed_neighbours_become_one);
	RUN(memory_is_zero_when_it_comes_again);
	RUN(memory_is_zero_where_advice_is_ignored);
	RUN(what_was_not_given_out_is_not_taken_back);
	RUN(only_what_is_used_is_open);
	RUN(what_the_system_does_not_open_is_not_given_out);
	return TEST_FAILED;
}
