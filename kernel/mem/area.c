/* SPDX-License-Identifier: MIT
 *
 * Claimed address ranges: see area.h.
 */
#include <abi/errors.h>
#include <base/check.h>
#include <kernel/mem/area.h>

void
areas_init(struct areas *pool, struct area *table, uint32_t total)
{
	pool->table = table;
	pool->total = total;
	pool->used = 0;
	list_init(&pool->free);
}

bool
areas_has_room(const struct areas *pool)
{
	return pool->used < pool->total || !list_is_empty(&pool->free);
}

static struct area *
area_at(struct list *node)
{
	return list_entry(node, struct area, link);
}

static struct area *
area_new(struct areas *pool, uintptr_t start, uintptr_t end)
{
	struct list *node = list_pop_front(&pool->free);
	struct area *a;

	if (node == NULL)
		check(pool->used < pool->total);
	a = node != NULL ? area_at(node) : &pool->table[pool->used++];
	a->start = start;
	a->end = end;
	return a;
}

static void
area_drop(struct areas *pool, struct area *a)
{
	list_remove(&a->link);
	list_push_front(&pool->free, &a->link);
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
area_add(struct areas *pool, struct list *head, uintptr_t start, uintptr_t end)
{
	struct list *node = first_ending_from(head, start);
	struct area *a = area_at(node);
	struct area *next;

	if (node == head || a->start > end) {	/* touches none: goes before node */
		a = area_new(pool, start, end);
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
		area_drop(pool, next);
	}
}

void
area_remove(struct areas *pool, struct list *head, uintptr_t start, uintptr_t end)
{
	struct list *node = first_ending_from(head, start + 1);
	struct area *a = area_at(node);
	struct area *rest;

	check(node != head && a->start <= start && end <= a->end);
	if (a->start == start && a->end == end) {
		area_drop(pool, a);
	} else if (a->start == start) {
		a->start = end;
	} else if (a->end == end) {
		a->end = start;
	} else {
		rest = area_new(pool, end, a->end);
		a->end = start;
		list_insert_between(&rest->link, &a->link, a->link.next);
	}
}

bool
area_covers(const struct list *head, uintptr_t start, uintptr_t end)
{
	const struct list *node = first_ending_from((struct list *)(uintptr_t)head, end);

	return node != head && list_entry(node, const struct area, link)->start <= start;
}

bool
area_overlaps(const struct list *head, uintptr_t start, uintptr_t end)
{
	const struct list *node = first_ending_from((struct list *)(uintptr_t)head, start + 1);

	return node != head && list_entry(node, const struct area, link)->start < end;
}

/* Round up; wraps to a smaller value when there is no such address. */
static uintptr_t
align_up(uintptr_t addr, size_t align)
{
	return (addr + align - 1) & ~(uintptr_t)(align - 1);
}

int
area_find_gap(const struct list *head, const uintptr_t bounds[2], size_t len, size_t align, uintptr_t *addr)
{
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
