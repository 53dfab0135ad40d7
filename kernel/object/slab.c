/* SPDX-License-Identifier: MIT
 *
 * Small pieces of kernel memory: see slab.h.
 *
 * Of a page's entry in the frame table, `order` is the size, `refs` counts the pieces in use, `owner` is the place of the first free
 * piece (0: none) and next and prev link the pages that have one. A free piece begins with the place of the next. A place is an offset
 * in the page, plus one.
 */
#include <base/check.h>
#include <base/str.h>
#include <hal/mmu.h>
#include <kernel/mem/frame.h>
#include <kernel/object/slab.h>

void
slab_init(struct slab *s, struct frames *frames)
{
	s->frames = frames;
	s->pages = 0;
	for (unsigned i = 0; i <= SLAB_LARGEST - SLAB_SMALLEST; i++)
		s->partial[i] = FRAME_NONE;
}

static unsigned
order_of(size_t bytes)
{
	unsigned order = SLAB_SMALLEST;

	while (((size_t)1 << order) < bytes)
		order++;
	return order;
}

size_t
slab_size(size_t bytes)
{
	return (size_t)1 << order_of(bytes);
}

static void
partial_push(struct slab *s, uint32_t page)
{
	struct frame *f = s->frames->frame;
	uint32_t *head = &s->partial[f[page].order - SLAB_SMALLEST];

	f[page].prev = FRAME_NONE;
	f[page].next = *head;
	if (*head != FRAME_NONE)
		f[*head].prev = page;
	*head = page;
}

static void
partial_remove(struct slab *s, uint32_t page)
{
	struct frame *f = s->frames->frame;

	if (f[page].prev != FRAME_NONE)
		f[f[page].prev].next = f[page].next;
	else
		s->partial[f[page].order - SLAB_SMALLEST] = f[page].next;
	if (f[page].next != FRAME_NONE)
		f[f[page].next].prev = f[page].prev;
}

/* A new page, all of whose pieces are free. */
static uint32_t
page_add(struct slab *s, unsigned order)
{
	uint32_t page = frames_alloc(s->frames, 1, FRAME_KERNEL, 0);
	unsigned char *at;

	if (page == FRAME_NONE)
		return page;
	at = frame_kaddr(s->frames, page);
	for (uint32_t next = 1u << order; next < HAL_PAGE_BYTES; next += 1u << order)
		*(uint32_t *)(void *)(at + next - (1u << order)) = next + 1;
	s->frames->frame[page].order = (uint8_t)order;
	s->frames->frame[page].owner = 1;
	s->pages++;
	partial_push(s, page);
	return page;
}

void *
slab_alloc(struct slab *s, size_t bytes)
{
	unsigned order = order_of(bytes);
	uint32_t page;
	struct frame *e;
	uint32_t *piece;

	check(order <= SLAB_LARGEST);
	page = s->partial[order - SLAB_SMALLEST];
	if (page == FRAME_NONE)
		page = page_add(s, order);
	if (page == FRAME_NONE)
		return NULL;
	e = &s->frames->frame[page];
	piece = (uint32_t *)(void *)((unsigned char *)frame_kaddr(s->frames, page) + e->owner - 1);
	e->owner = (int32_t)*piece;
	e->refs++;
	if (e->owner == 0)
		partial_remove(s, page);
	return memset(piece, 0, (size_t)1 << order);
}

void
slab_free(struct slab *s, void *piece)
{
	uint32_t page = frame_at(s->frames, hal_paddr(piece));
	struct frame *e = &s->frames->frame[page];

	check(page != FRAME_NONE && e->state == FRAME_KERNEL && e->refs > 0);
	if (e->owner == 0)
		partial_push(s, page);
	*(uint32_t *)piece = (uint32_t)e->owner;
	e->owner = (int32_t)((uintptr_t)piece & (HAL_PAGE_BYTES - 1)) + 1;
	if (--e->refs > 0)
		return;
	partial_remove(s, page);
	s->pages--;
	e->owner = 0;
	frames_free(s->frames, page, 1);
}
