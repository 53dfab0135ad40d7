/* SPDX-License-Identifier: MIT
 *
 * Which address ranges of a process are claimed (mapped or reserved): a sorted list of areas, of
 * which two that touch each other differ in what comes when a page is touched. It says where there
 * is room, what comes where nothing is mapped yet, and where to look for mappings at the end; what
 * is behind each page, the page tables know. Home core.
 */
#ifndef KERNEL_MEM_AREA_H
#define KERNEL_MEM_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <base/list.h>

struct slab;
struct quota;

struct area {
	struct list link;	/* sorted by address */
	uintptr_t start;
	uintptr_t end;
	/* PAGE_LAZY and the rights of its pages; 0: nothing comes by itself */
	uint32_t prot;
};

/* of one process: looking one up takes a step for each, once per call */
#define AREAS_MAX 256

#define AREAS_PER_PIECE 6

struct area_piece {
	struct area_piece *next;
	struct area area[AREAS_PER_PIECE];
};

/*
 * The areas of one process. Their memory comes in pieces, which are charged to its account and stay
 * until it ends.
 */
struct areas {
	struct list list;
	/* that was looked up last, or NULL: a call looks up the same place several times */
	struct area *found;
	struct area *spare;	/* those that are none now, linked by link.next */
	struct area_piece *pieces;
	uint32_t count;
	struct slab *slab;
	struct quota *quota;
};

void areas_init(struct areas *as, struct slab *slab, struct quota *quota);

/*
 * Before area_add, and before area_remove from `start` on: afterwards that cannot fail. False:
 * there are too many, or no memory for one more.
 */
bool area_may_add(struct areas *as);
bool area_may_remove(struct areas *as, uintptr_t start);

/* None is left: give some of their memory back. True: that was all. */
bool areas_close(struct areas *as);

/* The area of an address, or NULL. */
struct area *area_find(struct areas *as, uintptr_t addr);

/* How far a step may go from `start`, which is claimed, so that it stays in one area. */
uintptr_t area_edge(struct areas *as, uintptr_t start, uintptr_t end);

/* Is all of [start, end) claimed, is some of it? */
bool area_covers(struct areas *as, uintptr_t start, uintptr_t end);
bool area_overlaps(struct areas *as, uintptr_t start, uintptr_t end);

/*
 * Claim [start, end), of which nothing may be claimed, or give it up (it must be one area's).
 */
void area_add(struct areas *as, uintptr_t start, uintptr_t end, uint32_t prot);
void area_remove(struct areas *as, uintptr_t start, uintptr_t end);

/* Give up what the first area has below `at`, which is in it or its end. */
void area_cut_first(struct areas *as, uintptr_t at);

/* Another `prot` for [start, end), which is one area's. 0, or -E_NOMEM: nothing has changed. */
int area_change(struct areas *as, uintptr_t start, uintptr_t end, uint32_t prot);

/*
 * Lowest address >= first, a multiple of `align`, with `len` unclaimed bytes below limit. 0 and
 * *addr; -E_NOMEM; -E_AGAIN: the search goes on from *addr as the next `first`, so that no step
 * takes long.
 */
int area_find_gap(struct areas *as, const uintptr_t bounds[2], size_t len, size_t align,
	uintptr_t *addr);

#endif
