/* SPDX-License-Identifier: MIT
 *
 * Pages and address spaces on or1k: 8 KB pages, and 16 MB ones that the refill handler feeds to the
 * TLB in pieces of 8 KB. The first level of the table is part of the space.
 */
#ifndef CPU_PAGE_H
#define CPU_PAGE_H

#include <stdint.h>

#define HAL_PAGE_SHIFT 13
#define HAL_LARGE_SHIFT 24
#define HAL_STEP_PAGES 16
#define HAL_REMAP_IS_SEEN 0
#define HAL_SPACE_TABLES 64		/* of 16 MB each, from USER_FIRST on */

struct hal_space {
	uintptr_t first, limit;			/* user addresses: [first, limit) */
	uint32_t table[HAL_SPACE_TABLES];	/* 0, address of a table, or a large page */
	/* the page source */
	void *(*take)(void *ctx);
	void (*give)(void *ctx, void *page);
	void *ctx;
};

#endif
