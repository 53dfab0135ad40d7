/* SPDX-License-Identifier: MIT
 *
 * Claimed address ranges: see area.h.
 */
#include <abi/errors.h>
#include <base/check.h>
#include <kernel/mem/area.h>
#include <kernel/object/quota.h>

#define LOOKED 128			/* areas in one step of the search for a gap */
#define CLOSED 8			/* pieces of memory that one step gives back */

static struct area *
area_at(struct list *node)
{
	return list_entry(node, struct area, link);
}

void
areas_init(struct areas *as, struct slab *slab, struct quota *quota)
{
	*as = (struct areas){.slab = slab, .quota = quota};
	list_init(&as->list);
}

static void
spare_put(struct areas *as, struct area *a)
{
	a->link.next = (struct list *)(void *)as->spare;
	as->spare = a;
}

static struct area *
spare_take(struct areas *as)
{
	struct area *a = as->spare;

	as->spare = (struct area *)(void *)a->link.next;
	return a;
}

static __attribute__((noinline)) void
piece_add(struct areas *as)
{
	struct area_piece *p = quota_alloc(as->quota, as->slab, sizeof(*p));

	if (p == NULL)
		return;
	p->next = as->pieces;
	as->pieces = p;
	for (struct area *a = p->area; a < p->area + AREAS_PER_PIECE; a++)
		spare_put(as, a);
}

bool
area_may_add(struct areas *as)
{
	if (as->spare == NULL)
		piece_add(as);
	return as->spare != NULL && as->count < AREAS_MAX;
}

bool
areas_close(struct areas *as)
{
	as->spare = NULL;
	for (unsigned n = 0; n < CLOSED && as->pieces != NULL; n++) {
		struct area_piece *p = as->pieces;

		as->pieces = p->next;
		quota_free(as->quota, as->slab, p, sizeof(*p));
	}
	return as->pieces == NULL;
}

static struct area *
area_new(struct areas *as, uintptr_t start, uintptr_t end, uint32_t prot)
{
	struct area *a;

	check(as->spare != NULL);
	a = spare_take(as);
	as->count++;
	a->start = start;
	a->end = end;
	a->prot = prot;
	return a;
}

static void
area_drop(struct areas *as, struct area *a)
{
	list_remove(&a->link);
	if (as->found == a)
		as->found = NULL;
	as->count--;
	spare_put(as, a);
}

/* First area that ends at or above addr, as a list node; the head if there is none. */
static __attribute__((noinline)) struct list *
first_ending_from(struct areas *as, uintptr_t addr)
{
	struct list *node = as->found != NULL && as->found->start <= addr ? &as->found->link :
		as->list.next;

	for (; node != &as->list && area_at(node)->end < addr; node = node->next)
		;
	as->found = node != &as->list ? area_at(node) : NULL;
	if (node == &as->list && !list_is_empty(node))
		as->found = area_at(node->prev);
	return node;
}

/* Do these two follow each other without a gap, and are alike? */
static bool
are_one(const struct areas *as, struct list *before, struct list *after)
{
	return before != &as->list && after != &as->list &&
		area_at(before)->end == area_at(after)->start &&
		area_at(before)->prot == area_at(after)->prot;
}

/* An area becomes one with those that touch it and are alike. */
static void
area_join(struct areas *as, struct area *a)
{
	struct list *before = a->link.prev, *after = a->link.next;

	if (are_one(as, &a->link, after)) {
		a->end = area_at(after)->end;
		area_drop(as, area_at(after));
	}
	if (are_one(as, before, &a->link)) {
		area_at(before)->end = a->end;
		area_drop(as, a);
	}
}

/* The new area stands behind all that end where it begins, or before. */
void
area_add(struct areas *as, uintptr_t start, uintptr_t end, uint32_t prot)
{
	struct list *node = first_ending_from(as, start + 1);
	struct area *a;

	check(node == &as->list || area_at(node)->start >= end);
	if (node != &as->list && area_at(node)->start == end && area_at(node)->prot == prot) {
		a = area_at(node);
		a->start = start;
	} else if (node->prev != &as->list && area_at(node->prev)->end == start &&
		area_at(node->prev)->prot == prot) {
		a = area_at(node->prev);
		a->end = end;
	} else {
		a = area_new(as, start, end, prot);
		list_insert_between(&a->link, node->prev, node);
		return;
	}
	area_join(as, a);
}

/* What begins an area leaves it in one piece. */
bool
area_may_remove(struct areas *as, uintptr_t start)
{
	struct list *node = first_ending_from(as, start + 1);

	return node == &as->list || area_at(node)->start >= start || area_may_add(as);
}

/* What lies from `at` on is an area of its own, which is returned. Needs area_may_add. */
static struct area *
cut(struct areas *as, struct area *a, uintptr_t at)
{
	struct area *rest = area_new(as, at, a->end, a->prot);

	a->end = at;
	list_insert_between(&rest->link, &a->link, a->link.next);
	return rest;
}

void
area_remove(struct areas *as, uintptr_t start, uintptr_t end)
{
	struct list *node = first_ending_from(as, start + 1);
	struct area *a = area_at(node);

	check(node != &as->list && a->start <= start && end <= a->end);
	if (a->start == start && a->end == end) {
		area_drop(as, a);
	} else if (a->start == start) {
		a->start = end;
	} else if (a->end == end) {
		a->end = start;
	} else {
		cut(as, a, end);
		a->end = start;
	}
}

void
area_cut_first(struct areas *as, uintptr_t at)
{
	struct area *a = area_at(as->list.next);

	a->start = at;
	if (at == a->end)
		area_drop(as, a);
}

int
area_change(struct areas *as, uintptr_t start, uintptr_t end, uint32_t prot)
{
	struct area *a = area_find(as, start);

	check(a != NULL && end <= a->end);
	if (a->prot == prot)
		return 0;
	if (a->start < start) {
		if (!area_may_add(as))
			return -E_NOMEM;
		a = cut(as, a, start);
	}
	if (end < a->end) {
		if (!area_may_add(as)) {
			area_join(as, a);
			return -E_NOMEM;
		}
		cut(as, a, end);
	}
	a->prot = prot;
	area_join(as, a);
	return 0;
}

struct area *
area_find(struct areas *as, uintptr_t addr)
{
	struct list *node = first_ending_from(as, addr + 1);

	return node != &as->list && area_at(node)->start <= addr ? area_at(node) : NULL;
}

uintptr_t
area_edge(struct areas *as, uintptr_t start, uintptr_t end)
{
	const struct area *a = area_find(as, start);

	return a != NULL && a->end < end ? a->end : end;
}

bool
area_covers(struct areas *as, uintptr_t start, uintptr_t end)
{
	const struct area *a = area_find(as, start);

	while (a != NULL && a->end < end) {
		const struct area *next = area_at(a->link.next);

		a = a->link.next != &as->list && next->start == a->end ? next : NULL;
	}
	return a != NULL;
}

bool
area_overlaps(struct areas *as, uintptr_t start, uintptr_t end)
{
	struct list *node = first_ending_from(as, start + 1);

	return node != &as->list && area_at(node)->start < end;
}

/* Round up; wraps to a smaller value when there is no such address. */
static uintptr_t
align_up(uintptr_t addr, size_t align)
{
	return (addr + align - 1) & ~(uintptr_t)(align - 1);
}

int
area_find_gap(struct areas *as, const uintptr_t bounds[2], size_t len, size_t align,
	uintptr_t *addr)
{
	uintptr_t at = align_up(bounds[0], align);
	const struct list *node;
	unsigned looked = 0;

	for (node = first_ending_from(as, bounds[0]); node != &as->list; node = node->next) {
		const struct area *a = list_entry(node, const struct area, link);

		if (looked++ == LOOKED) {
			*addr = at;
			return -E_AGAIN;
		}
		if (a->start >= at && a->start - at >= len)
			break;
		if (a->end > at)
			at = align_up(a->end, align);
		if (at < a->end && a->end > bounds[0])
			return -E_NOMEM;
	}
	if (at < bounds[0] || at > bounds[1] || bounds[1] - at < len)
		return -E_NOMEM;
	*addr = at;
	return 0;
}
