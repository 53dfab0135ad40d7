/* SPDX-License-Identifier: MIT
 *
 * For ports that gain nothing by taking many pages at once: hal_query_run and hal_map_list page by
 * page.
 */
#ifndef HAL_EACH_H
#define HAL_EACH_H

#include <abi/limits.abi.h>
#include <hal/mmu.h>

static inline size_t
query_each(struct hal_space *s, uintptr_t addr, size_t count, int alike, uint64_t *paddr,
	int *prot)
{
	int differs = alike != 0 ? alike | HAL_MAY_ALL : 0, first = 0, now;
	size_t n = 0;

	*prot = 0;
	for (; n < count && hal_query(s, addr + n * HAL_PAGE_BYTES, &paddr[n], &now) == 0; n++) {
		if (n == 0)
			first = now;
		if ((now & PAGE_LARGE) != 0 || ((now ^ first) & differs) != 0)
			break;
		*prot |= now;
	}
	return n;
}

static inline int
map_each(struct hal_space *s, uintptr_t addr, const uint64_t *paddr, size_t count, int prot)
{
	int e = 0;

	for (size_t n = 0; n < count && e == 0; n++) {
		e = hal_map(s, addr + n * HAL_PAGE_BYTES, paddr[n], 1, prot);
		if (e != 0 && n > 0)
			hal_unmap(s, addr, n);
	}
	return e;
}

#endif
