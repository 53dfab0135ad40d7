/* SPDX-License-Identifier: MIT
 *
 * Entries of page tables that change beside others that are in use, a line of them: whoever
 * translates sees each as it is now. In little, for RTL with data caches that nobody keeps
 * coherent, where an entry that was read before may lie in the cache.
 *
 * machine: 1 3 KC
 */
#include <tests/kernel/ktest.h>

#define PAGES 8
#define ROUNDS 3
#define RW (PAGE_READ | PAGE_WRITE)

static unsigned long
page(unsigned long first, unsigned i)
{
	return first + i * kt_page_bytes();
}

static volatile uint32_t *
word(unsigned long first, unsigned i)
{
	return (volatile uint32_t *)page(first, i);
}

TEST(an_entry_is_seen_when_its_neighbour_is_in_use)
{
	long memory = kmemory_create(PAGES);
	uint64_t at;

	expect_eq(kmem_alloc(SELF, PAGES * kt_page_bytes(), 0, &at), 0);
	for (unsigned i = 0; i < PAGES; i++) {
		expect_eq(kpage_map(SELF, page((unsigned long)at, i), (int)memory, (int)i, 1, RW),
			0);
		*word((unsigned long)at, i) = i;
	}
	/* each page gets the next one's memory, while the others are in use */
	for (unsigned round = 1; round <= ROUNDS; round++)
		for (unsigned i = 0; i < PAGES; i++) {
			unsigned now = (i + round) % PAGES;

			expect_eq(kpage_unmap(SELF, page((unsigned long)at, i), 1), 0);
			expect_eq(kpage_map(SELF, page((unsigned long)at, i), (int)memory, (int)now,
				1, RW), 0);
			expect_eq(*word((unsigned long)at, i), now);
		}
	expect_eq(kpage_unmap(SELF, (unsigned long)at, PAGES), 0);
	expect_eq(khandle_close((int)memory), 0);
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	RUN(an_entry_is_seen_when_its_neighbour_is_in_use);
	kt_end();
}
