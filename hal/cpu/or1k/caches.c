/* SPDX-License-Identifier: MIT
 *
 * The data cache as a whole, where nobody keeps it coherent: see <cpu/caches.h>. Nothing elsewhere.
 */
#include "cpu.h"

#ifdef HAL_CACHES

_Static_assert(offsetof(struct hal_core_area, looked) == HAL_AREA_LOOKED &&
	AREA_LOOKED == HAL_AREA_LOOKED, "caches.h, layout.h");

/*
 * One word per set: a line of each way goes. A cache that can be emptied at once wants one word,
 * with bit 0 set (hw/sim/flash.sv).
 */
static void
sets_forget(void)
{
	if (HAL_FLASH) {
		spr_write(SPR_DCBIR, 1);
		return;
	}
	uint32_t config = spr_read(SPR_DCCFGR), line = (config & 128) != 0 ? 32 : 16;

	for (uint32_t sets = 1u << (config >> 3 & 15), at = 0; sets > 0; sets--, at += line)
		spr_write(SPR_DCBIR, at);
}

/*
 * A line that hardware drops in the same cycle keeps the tags from being written: then once more.
 */
void
hal_cache_forget(void)
{
	if ((spr_read(SPR_UPR) & UPR_DCACHE) == 0)
		return;
	sets_forget();
	if (HAL_CACHES == HAL_DROP)
		sets_forget();
}

void
hal_cache_forget_once(void)
{
	struct hal_core_area *a = hal_core_area();

	if (a->looked == 0)
		return;
	a->looked = 0;
	hal_cache_forget();
}

#endif
