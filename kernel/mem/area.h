/* SPDX-License-Identifier: MIT
 *
 * Which address ranges of a process are claimed (mapped or reserved): a sorted list of areas that do not touch each other. It says where
 * there is room and where to look for mappings at the end; what is behind each page, the page tables know. Home core.
 */
#ifndef KERNEL_MEM_AREA_H
#define KERNEL_MEM_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <base/list.h>

struct area {
	struct list link;	/* sorted by address, or in the pool */
	uintptr_t start;
	uintptr_t end;
};

/* Where areas come from. */
struct areas {
	struct area *table;
	uint32_t total;
	uint32_t used;		/* entries that were ever used */
	struct list free;
};

void areas_init(struct areas *pool, struct area *table, uint32_t total);

/* Is there room for one more area? Checked before area_add and area_remove, which then cannot fail. */
bool areas_has_room(const struct areas *pool);

/* Is all of [start, end) claimed, is some of it? */
bool area_covers(const struct list *head, uintptr_t start, uintptr_t end);
bool area_overlaps(const struct list *head, uintptr_t start, uintptr_t end);

/* Claim [start, end), of which nothing may be claimed, or give it up (all of it must be claimed). */
void area_add(struct areas *pool, struct list *head, uintptr_t start, uintptr_t end);
void area_remove(struct areas *pool, struct list *head, uintptr_t start, uintptr_t end);

/* Lowest address >= first, a multiple of `align`, with `len` unclaimed bytes below limit. 0 and *addr, or -E_NOMEM. */
int area_find_gap(const struct list *head, const uintptr_t bounds[2], size_t len, size_t align, uintptr_t *addr);

#endif
