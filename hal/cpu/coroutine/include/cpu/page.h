/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: address spaces are tables in software, three levels of 512 entries, looked up
 * by the copy functions.
 */
#ifndef CPU_PAGE_H
#define CPU_PAGE_H

#include <stddef.h>
#include <stdint.h>

#define HAL_PAGE_SHIFT 12
#define HAL_LARGE_SHIFT 21
#define HAL_STEP_PAGES 16
#define HAL_REMAP_IS_SEEN 0

struct hal_space {
	uintptr_t first, limit;
	uint64_t *root;
	void *(*take)(void *ctx);
	void (*give)(void *ctx, void *page);
	void *ctx;
};

#endif
