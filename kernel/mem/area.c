/* SPDX-License-Identifier: MIT
 *
 * Claimed address ranges: see area.h.
 */
#include <abi/errors.h>
#include <base/check.h>
#include <kernel/mem/area.h>
#include <kernel/object/quota.h>

#define LOOKED 128			/* areas in one step of the search for a gap */

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

bool
area_may_add(struct areas *as)
{
	if (as->spare == NULL && as->count < AREAS_MAX)
		as->spare = quota_alloc(as->quota, as->slab, sizeof(struct area));
	return as->spare != NULL && as->count < AREAS_MAX;
}

void
areas_close(struct areas *as)
{
	if (as->spare != NULL)
		quota_free(as->quota, as->slab, as->spare, sizeof(struct area));
	as->spare = NULL;
}

static struct area *
area_new(struct areas *as, uintptr_t start, uintptr_t end)
{
	struct area *a = as->spare;

	check(a != NULL);
	as->spare = NULL;
	as->count++;
	a->start = start;
	a->end = end;
	return a;
}

static void
area_drop(struct areas *as, struct area *a)
{
	list_remove(&a->link);
	if (as->found == a)
		as->found = NULL;
	as->count--;
	if (as->spare == NULL)
		as->spare = a;
	else
		quota_free(as->quota, as->slab, a, sizeof(*a));
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

void
area_add(struct areas *as, uintptr_t start, uintptr_t end)
{
	struct list *head = &as->list;
	struct list *node = first_ending_from(as, start);
	struct area *a = area_at(node);
	struct area *next;

	if (node == head || a->start > end) {	/* touches none: goes before node */
		a = area_new(as, start, end);
		list_insert_between(&a->link, node->prev, node);
		return;
	}
	if (a->start == end) {
		a->start = start;
		return;
	}
	check(a->end == start);
	a->end = end;
	next = area_at(a->link.next);
	if (a->link.next != head && next->start == end) {
		a->end = next->end;
		area_drop(as, next);
	}
}

/* What begins an area leaves it in one piece. */
bool
area_may_remove(struct areas *as, uintptr_t start)
{
	struct list *node = first_ending_from(as, start + 1);

	return node == &as->list || area_at(node)->start >= start || area_may_add(as);
}

void
area_remove(struct areas *as, uintptr_t start, uintptr_t end)
{
	struct list *node = first_ending_from(as, start + 1);
	struct area *a = area_at(node);
	struct area *rest;

	check(node != &as->list && a->start <= start && end <= a->end);
	if (a->start == start && a->end == end) {
		area_drop(as, a);
	} else if (a->start == start) {
		a->start = end;
	} else if (a->end == end) {
		a->end = start;
	} else {
		rest = area_new(as, end, a->end);
		a->end = start;
		list_insert_between(&rest->link, &a->link, a->link.next);
	}
}

bool
area_covers(struct areas *as, uintptr_t start, uintptr_t end)
{
	struct list *node = first_ending_from(as, start + 1);

	return node != &as->list && area_at(node)->start <= start && end <= area_at(node)->end;
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
