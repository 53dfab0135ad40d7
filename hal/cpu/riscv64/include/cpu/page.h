/* SPDX-License-Identifier: MIT
 *
 * Pages and address spaces on riscv64: Sv39, 4 KB and 2 MB pages.
 */
#ifndef CPU_PAGE_H
#define CPU_PAGE_H

#include <stdint.h>

#define HAL_PAGE_SHIFT 12
#define HAL_LARGE_SHIFT 21
#define HAL_STEP_PAGES 16
#define HAL_REMAP_IS_SEEN 0

struct hal_space {
	uintptr_t first, limit;			/* user addresses: [first, limit) */
	uint64_t *root;				/* top page table; its upper half is the kernel's */
	uint64_t satp;				/* value that switches to it */
	/* the table of small pages that was walked last, and the number of its large page */
	uint64_t *near;
	uintptr_t near_number;
	/* what may name tables: so many entries of the top table; rows of eight of the next ones */
	unsigned tops;
	uint64_t rows;
	/* at its end: first entries not yet looked at, of the top and of the next table */
	unsigned gone, gone_below;
	/* the page source */
	void *(*take)(void *ctx);
	void (*give)(void *ctx, void *page);
	void *ctx;
};

#endif
