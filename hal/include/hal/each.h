/* SPDX-License-Identifier: MIT
 *
 * For ports that gain nothing by taking many pages at once: hal_query_run and hal_share page by
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
share_each(struct hal_space *s, uintptr_t addr, size_t count, struct hal_space *to, uintptr_t at)
{
	int e = 0, now = 0, rights = 0;
	uint64_t paddr;
	size_t n;

	for (n = 0; n < count && e == 0; n++) {
		e = hal_query(s, addr + n * HAL_PAGE_BYTES, &paddr, &now);
		if (e == 0)
			e = hal_map(to, at + n * HAL_PAGE_BYTES, paddr, 1, now & ~PAGE_WRITE);
		rights |= e == 0 ? now : 0;
	}
	if (e == 0 && (rights & PAGE_WRITE) != 0)
		e = hal_protect(s, addr, count, rights & (PAGE_READ | PAGE_EXEC));
	else if (e != 0)
		n--;
	if (e != 0 && n > 0)
		hal_unmap(to, at, n);
	return e;
}

#endif
