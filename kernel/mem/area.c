/* SPDX-License-Identifier: MIT
 *
 * Claimed address ranges: see area.h.
 */
#include <abi/errors.h>
#include <base/check.h>
#include <kernel/mem/area.h>
#include <kernel/object/quota.h>

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
	as->count--;
	if (as->spare == NULL)
		as->spare = a;
	else
		quota_free(as->quota, as->slab, a, sizeof(*a));
}

/* First area that ends at or above addr, as a list node; the head if there is none. */
static struct list *
first_ending_from(struct list *head, uintptr_t addr)
{
	struct list *node;

	for (node = head->next; node != head && area_at(node)->end < addr; node = node->next)
		;
	return node;
}

void
area_add(struct areas *as, uintptr_t start, uintptr_t end)
{
	struct list *head = &as->list;
	struct list *node = first_ending_from(head, start);
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
	struct list *node = first_ending_from(&as->list, start + 1);

	return node == &as->list || area_at(node)->start >= start || area_may_add(as);
}

void
area_remove(struct areas *as, uintptr_t start, uintptr_t end)
{
	struct list *head = &as->list;
	struct list *node = first_ending_from(head, start + 1);
	struct area *a = area_at(node);
	struct area *rest;

	check(node != head && a->start <= start && end <= a->end);
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
area_covers(const struct areas *as, uintptr_t start, uintptr_t end)
{
	const struct list *head = &as->list, *node = first_ending_from((struct list *)(uintptr_t)head, end);

	return node != head && list_entry(node, const struct area, link)->start <= start;
}

bool
area_overlaps(const struct areas *as, uintptr_t start, uintptr_t end)
{
	const struct list *head = &as->list, *node = first_ending_from((struct list *)(uintptr_t)head, start + 1);

	return node != head && list_entry(node, const struct area, link)->start < end;
}

/* Round up; wraps to a smaller value when there is no such address. */
static uintptr_t
align_up(uintptr_t addr, size_t align)
{
	return (addr + align - 1) & ~(uintptr_t)(align - 1);
}

int
area_find_gap(const struct areas *as, const uintptr_t bounds[2], size_t len, size_t align, uintptr_t *addr)
{
	const struct list *head = &as->list;
	uintptr_t at = align_up(bounds[0], align);
	const struct list *node;

	for (node = head->next; node != head; node = node->next) {
		const struct area *a = list_entry(node, const struct area, link);

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
