/* SPDX-License-Identifier: MIT
 *
 * Pages: frames are allocated, mapped, written, looked up, made read-only, unmapped and given back.
 * The order of the kernel's functions for or1k (hal/cpu/or1k/order/hot) comes from profiles of
 * other programs: this one tells what that order brings where it was not made for. Window 0: all
 * rounds. usage: pages [--rounds N] [--pages N].
 */
#include "kit.h"

#define PAGES_MAX 16

static long pages;
static uint32_t page_bytes;
static unsigned long at;	/* where the pages lie */

static void
must(const char *what, long result)
{
	if (result < 0)
		give_up(what, result);
}

/* The first word of each page holds a number of its own. */
static void
fill(uint32_t value)
{
	for (long i = 0; i < pages; i++)
		*(volatile uint32_t *)(at + (unsigned long)i * page_bytes) = value + (uint32_t)i;
}

static void
compare(uint32_t value)
{
	for (long i = 0; i < pages; i++)
		if (*(volatile uint32_t *)(at + (unsigned long)i * page_bytes) != value +
			(uint32_t)i)
			give_up("a page does not hold what was written", i);
}

static void
map_and_unmap(uint32_t value)
{
	long memory = kmemory_create((int)pages);
	struct page_info info;

	must("no frames", memory);
	must("frames are not mapped",
		kpage_map(SELF, at, (int)memory, 0, (int)pages, PAGE_READ | PAGE_WRITE));
	must("frames are not given back", khandle_close((int)memory));
	fill(value);
	for (long i = 0; i < pages; i++)
		must("a page is not there",
			kpage_query(SELF, at + (unsigned long)i * page_bytes, &info));
	must("pages are not protected", kpage_protect(SELF, at, (int)pages, PAGE_READ));
	compare(value);
	must("pages are not unmapped", kpage_unmap(SELF, at, (int)pages));
}

int
main(int argc, char **argv)
{
	long rounds = number(argc, argv, "--rounds", 8);
	struct cluster_info info = {0};
	uint64_t begin, addr;

	pages = number(argc, argv, "--pages", 4);
	if (pages < 1 || pages > PAGES_MAX)
		give_up("--pages must be from 1 to 16, not", pages);
	kcluster_info(&info);
	page_bytes = info.page_bytes;
	must("no addresses", kmem_alloc(SELF, (unsigned long)pages * page_bytes, 0, &addr));
	at = (unsigned long)addr;
	begin = now_ns();
	window_open(0);
	for (long i = 0; i < rounds; i++)
		map_and_unmap((uint32_t)i * PAGES_MAX);
	window_close(0);
	row("pages", now_ns() - begin, (uint64_t)rounds, "");
	return 0;
}
