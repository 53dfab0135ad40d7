/* SPDX-License-Identifier: MIT
 *
 * A process of Linux has only so many mappings (vm.max_map_count). A rank uses all of them up;
 * calls that need one more are errors then, change nothing, and work again when there is room.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <abi/limits.abi.h>
#include <atoll/kcalls.h>

#define PAGE 4096ul
#define PAGES 16
#define RW (PAGE_READ | PAGE_WRITE)
#define PIECES 200
#define ROUNDS 20

static char *filler;
static size_t filler_bytes;
static int failures;

#define expect_eq(have, want) compare(#have, __LINE__, (long)(have), (long)(want))

static void
compare(const char *what, int line, long have, long want)
{
	if (have == want)
		return;
	printf("FAIL line %d: %s is %ld, not %ld\n", line, what, have, want);
	failures++;
}

/* One mapping for each page, until Linux has no more. */
static void
use_all_up(void)
{
	long most = 65530;
	FILE *f = fopen("/proc/sys/vm/max_map_count", "r");

	if (f != NULL && fscanf(f, "%ld", &most) != 1)
		most = 65530;
	if (f != NULL)
		fclose(f);
	filler_bytes = (size_t)most * PAGE;
	filler = mmap(NULL, filler_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		-1, 0);
	expect_eq(filler == MAP_FAILED, 0);
	for (size_t i = 0; i < filler_bytes; i += 2 * PAGE)
		if (mprotect(filler + i, PAGE, PROT_READ) != 0)
			return;
	printf("FAIL Linux gave %ld mappings\n", most);
	failures++;
}

static uint64_t
free_frames(void)
{
	uint64_t value = 0;

	kstats(STATS_FRAMES_FREE, &value);
	return value;
}

/* Count up in every page: is what was counted before still there? */
static void
count_up(volatile unsigned char *pages)
{
	static int rounds;

	rounds++;
	for (unsigned i = 0; i < PAGES; i++)
		expect_eq(++pages[i * PAGE], rounds);
}

/* The pages in the middle of a mapping cannot be told apart from the others now. */
static void
try_middle(unsigned char *pages)
{
	unsigned long middle = (unsigned long)pages + 5 * PAGE;

	expect_eq(kpage_protect(SELF, middle, 2, PAGE_READ), -E_NOMEM);
	count_up(pages);
	expect_eq(kpage_unmap(SELF, middle, 2), -E_NOMEM);
	count_up(pages);
	expect_eq(kpage_unmap(SELF, (unsigned long)pages, 3), -E_NOMEM);
	count_up(pages);
}

/* Many allocations, each of which Linux may refuse. */
static void
try_allocations(uint64_t *addr)
{
	int n = 0;

	while (n < PIECES && kmem_alloc(SELF, (n % 3 == 0 ? 300 : 3) * PAGE, n % 2 ? RW : PAGE_READ,
		&addr[n]) == 0)
		n++;
	if (n == PIECES) {
		printf("FAIL %d allocations had room\n", n);
		failures++;
	}
	for (int i = n; i > 0; i--)
		expect_eq(kpage_unmap(SELF, (unsigned long)addr[i - 1], (i - 1) % 3 == 0 ? 300 : 3),
			0);
}

/*
 * Allocations and their ends take no frame for good. The process server may still be at work on the
 * start of this rank and take frames beside it, and the first round leaves page tables: so one of
 * some rounds has to leave as many free frames as it found.
 */
static void
try_allocations_for_nothing(uint64_t *addr)
{
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t before = free_frames();

		try_allocations(addr);
		if (free_frames() == before)
			return;
	}
	printf("FAIL each round of allocations took frames\n");
	failures++;
}

int
main(void)
{
	uint64_t at, addr[PIECES];
	unsigned char *pages;

	printf("mappings begin\n");
	expect_eq(kmem_alloc(SELF, PAGES * PAGE, RW, &at), 0);
	pages = (unsigned char *)(uintptr_t)at;
	count_up(pages);
	try_allocations_for_nothing(addr);
	use_all_up();
	try_middle(pages);
	try_allocations_for_nothing(addr);
	try_middle(pages);
	expect_eq(munmap(filler, filler_bytes), 0);
	expect_eq(kpage_protect(SELF, (unsigned long)pages + 5 * PAGE, 2, PAGE_READ), 0);
	expect_eq(kpage_protect(SELF, (unsigned long)pages + 5 * PAGE, 2, RW), 0);
	count_up(pages);
	expect_eq(kpage_unmap(SELF, (unsigned long)pages + 5 * PAGE, 2), 0);
	if (failures == 0)
		printf("ok mappings\n");
	return failures != 0;
}
