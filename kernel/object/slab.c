/* SPDX-License-Identifier: MIT
 *
 * Small pieces of kernel memory: see slab.h.
 *
 * Of a page's entry in the frame table, `order` is the size (its logarithm, or SLAB_RECORDS),
 * `refs` counts the pieces in use, `owner` is the place of the first free piece (0: none) and next
 * and prev link the pages that have one. A free piece begins with the place of the next. A place is
 * an offset in the page, plus one. Of the listed pages only the first may be full: it goes out of
 * the list when the next page is needed, so that who takes and gives the last piece of a page again
 * and again does not move it.
 */
#include <base/check.h>
#include <base/tune.h>
#include <hal/atomic.h>
#include <hal/mmu.h>
#include <kernel/mem/frame.h>
#include <kernel/object/slab.h>

#define LISTED 0x80	/* in `order` */

void
slab_init(struct slab *s, struct frames *frames, size_t record)
{
	check(record % HAL_CACHE_LINE == 0 && record <= HAL_PAGE_BYTES);
	s->frames = frames;
	s->record = (uint32_t)record;
	s->pages = 0;
	for (unsigned i = 0; i <= SLAB_RECORDS - SLAB_SMALLEST; i++)
		s->partial[i] = FRAME_NONE;
}

hot_inline unsigned
order_of(const struct slab *s, size_t bytes)
{
	unsigned order = SLAB_SMALLEST;

	if (likely(bytes == s->record))
		return SLAB_RECORDS;
	while (((size_t)1 << order) < bytes)
		order++;
	check(order <= SLAB_LARGEST);
	return order;
}

static uint32_t
size_of(const struct slab *s, unsigned order)
{
	return order == SLAB_RECORDS ? s->record : 1u << order;
}

size_t
slab_size(const struct slab *s, size_t bytes)
{
	return size_of(s, order_of(s, bytes));
}

static uint32_t *
list_of(struct slab *s, const struct frame *e)
{
	return &s->partial[(e->order & ~LISTED) - SLAB_SMALLEST];
}

static __attribute__((noinline)) void
list_remove_page(struct slab *s, uint32_t page)
{
	struct frame *f = s->frames->frame, *e = &f[page];

	if (e->prev != FRAME_NONE)
		f[e->prev].next = e->next;
	else
		*list_of(s, e) = e->next;
	if (e->next != FRAME_NONE)
		f[e->next].prev = e->prev;
	e->order &= (uint8_t)~LISTED;
}

/* A page comes first in its list: the one that did so far goes out of it if it is full. */
static __attribute__((noinline)) void
list_push_page(struct slab *s, uint32_t page)
{
	struct frame *f = s->frames->frame, *e = &f[page];
	uint32_t *head = list_of(s, e);

	if (*head != FRAME_NONE && f[*head].owner == 0)
		list_remove_page(s, *head);
	e->order |= LISTED;
	e->prev = FRAME_NONE;
	e->next = *head;
	if (*head != FRAME_NONE)
		f[*head].prev = page;
	*head = page;
}

/* A new page, all of whose pieces are free. */
static uint32_t
page_add(struct slab *s, unsigned order)
{
	uint32_t page = frames_take(s->frames, 1, FRAME_KERNEL, 0);
	uint32_t size = size_of(s, order), next = 1;
	unsigned char *at, *end;

	if (page == FRAME_NONE)
		return page;
	at = frame_kaddr(s->frames, page);
	if (order >= SLAB_SHARED)
		hal_shared_region(at, HAL_PAGE_BYTES);
	for (end = at + HAL_PAGE_BYTES - size; at + size <= end; at += size)
		*(uint32_t *)(void *)at = next += size;
	*(uint32_t *)(void *)at = 0;
	s->frames->frame[page].order = (uint8_t)order;
	s->frames->frame[page].owner = 1;
	s->pages++;
	list_push_page(s, page);
	return page;
}

hot_inline void *
piece_take(struct slab *s, uint32_t page)
{
	struct frame *e = &s->frames->frame[page];
	unsigned char *start = s->frames->base + (size_t)page * HAL_PAGE_BYTES;
	uint32_t *piece = (uint32_t *)(void *)(start + e->owner - 1);

	e->owner = (int32_t)*piece;
	e->refs++;
	return piece;
}

/* The page that the next piece is taken from; FRAME_NONE: there is no memory. */
static __attribute__((noinline)) uint32_t
page_next(struct slab *s, unsigned order)
{
	uint32_t *head = &s->partial[order - SLAB_SMALLEST];

	if (*head != FRAME_NONE)
		list_remove_page(s, *head);
	return *head != FRAME_NONE ? *head : page_add(s, order);
}

void *
slab_alloc(struct slab *s, size_t bytes)
{
	unsigned order = order_of(s, bytes);
	uint32_t page = s->partial[order - SLAB_SMALLEST];

	if (unlikely(page == FRAME_NONE) || unlikely(s->frames->frame[page].owner == 0))
		page = page_next(s, order);
	return likely(page != FRAME_NONE) ? piece_take(s, page) : NULL;
}

/* Its entry is marked as by frames_free, which would also look for a process that pays for it. */
static __attribute__((noinline)) void
page_drop(struct slab *s, uint32_t page)
{
	struct frame *e = &s->frames->frame[page];

	list_remove_page(s, page);
	s->pages--;
	if (e->order >= SLAB_SHARED)
		hal_shared_region_end(frame_kaddr(s->frames, page), HAL_PAGE_BYTES);
	e->owner = 0;
	e->state = FRAME_INSIDE;
	frames_block_back(s->frames, page, 1);
}

void
slab_free(struct slab *s, void *piece)
{
	size_t offset = (size_t)((unsigned char *)piece - s->frames->base);
	uint32_t page = (uint32_t)(offset / HAL_PAGE_BYTES);
	struct frame *e = &s->frames->frame[page];

	check(page < s->frames->total && e->state == FRAME_KERNEL && e->refs > 0);
	if (unlikely(!(e->order & LISTED)))
		list_push_page(s, page);
	*(uint32_t *)piece = (uint32_t)e->owner;
	e->owner = (int32_t)((uintptr_t)piece & (HAL_PAGE_BYTES - 1)) + 1;
	if (--e->refs == 0)
		page_drop(s, page);
}
