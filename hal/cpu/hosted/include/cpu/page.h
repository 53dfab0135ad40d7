/* SPDX-License-Identifier: MIT
 *
 * Address spaces, hosted: each is a range of the cluster process's addresses. Linux maps; the table
 * here says what is mapped, in the form of a three-level page table, so that every error is found
 * before Linux is asked.
 */
#ifndef CPU_PAGE_H
#define CPU_PAGE_H

#include <stdint.h>

#define HAL_PAGE_SHIFT 12
#define HAL_LARGE_SHIFT 21
#define HAL_STEP_PAGES 256
#define HAL_REMAP_IS_SEEN 1

struct hal_space {
	uintptr_t first, limit;
	uint64_t *root;
	/* the page source */
	void *(*take)(void *ctx);
	void (*give)(void *ctx, void *page);
	void *ctx;
};

#endif
