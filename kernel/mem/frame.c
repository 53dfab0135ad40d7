/* SPDX-License-Identifier: MIT
 *
 * Page frames: see frame.h.
 */
#include <abi/errors.h>
#include <base/check.h>
#include <base/str.h>
#include <hal/mmu.h>
#include <kernel/mem/frame.h>
#include <kernel/mem/sweep.h>

#define PAGES_PER_LARGE (HAL_LARGE_BYTES / HAL_PAGE_BYTES)
#define PREPARE_STEP 128	/* entries of the table */

static size_t
offset_in_large(const void *memory)
{
	return (size_t)(hal_paddr(memory) & (HAL_LARGE_BYTES - 1));
}

size_t
frames_table_bytes(const void *memory, size_t bytes)
{
	return (offset_in_large(memory) + bytes) / HAL_PAGE_BYTES * sizeof(struct frame);
}

void *
frame_kaddr(const struct frames *f, uint32_t frame)
{
	return f->base + (size_t)frame * HAL_PAGE_BYTES;
}

uint64_t
frame_paddr(const struct frames *f, uint32_t frame)
{
	return f->base_paddr + (uint64_t)frame * HAL_PAGE_BYTES;
}

/* Make entries of the table valid up to the frame `upto`. */
static void
entries_init(struct frames *f, uint32_t upto)
{
	if (upto <= f->known)
		return;
	memset(&f->frame[f->known], 0, (size_t)(upto - f->known) * sizeof(struct frame));
	f->known = upto;
}

void
frames_init(struct frames *f, void *table, void *start, void *end)
{
	size_t below = offset_in_large(start);

	f->frame = table;
	f->base = (unsigned char *)start - below;
	f->base_paddr = hal_paddr(start) - below;
	f->first = (uint32_t)((below + HAL_PAGE_BYTES - 1) / HAL_PAGE_BYTES);
	f->total = (uint32_t)((size_t)((unsigned char *)end - f->base) / HAL_PAGE_BYTES);
	f->free = f->total - f->first;
	f->known = 0;
	entries_init(f, f->first);
	f->fresh = f->first;
	for (int i = 0; i < FRAME_ORDERS; i++)
		f->list[i] = FRAME_NONE;
	f->last = FRAME_NONE;
}

static void
block_push(struct frames *f, uint32_t i, unsigned order)
{
	struct frame *b = &f->frame[i];

	b->state = FRAME_FREE;
	b->order = (uint8_t)order;
	b->prev = FRAME_NONE;
	b->next = f->list[order];
	if (b->next != FRAME_NONE)
		f->frame[b->next].prev = i;
	f->list[order] = i;
}

static void
block_unlink(struct frames *f, uint32_t i)
{
	struct frame *b = &f->frame[i];

	if (b->prev != FRAME_NONE)
		f->frame[b->prev].next = b->next;
	else
		f->list[b->order] = b->next;
	if (b->next != FRAME_NONE)
		f->frame[b->next].prev = b->prev;
	b->state = FRAME_INSIDE;
}

/* Give back a block, merged with its free buddies. */
static void
block_free(struct frames *f, uint32_t i, unsigned order)
{
	for (; order + 1 < FRAME_ORDERS; order++) {
		uint32_t buddy = i ^ (1u << order);

		if (buddy < f->first || buddy >= f->fresh || f->frame[buddy].state != FRAME_FREE ||
			f->frame[buddy].order != order)
			break;
		block_unlink(f, buddy);
		i &= ~(1u << order);
	}
	block_push(f, i, order);
}

/* Give back frames of any count and alignment, as the largest aligned blocks. */
static void
run_free(struct frames *f, uint32_t i, uint32_t end)
{
	while (i < end) {
		unsigned order = 0;

		while (order + 1 < FRAME_ORDERS && !(i & (1u << order)) && i + (2u << order) <= end)
			order++;
		block_free(f, i, order);
		i += 1u << order;
	}
}

/* A block from the free lists, split as needed; its unused tail goes back. */
static uint32_t
take_listed(struct frames *f, unsigned order, uint32_t count)
{
	for (unsigned o = order; o < FRAME_ORDERS; o++) {
		uint32_t i = f->list[o];

		if (i == FRAME_NONE)
			continue;
		block_unlink(f, i);
		if (count < 1u << order)
			run_free(f, i + count, i + (1u << order));
		/* each has its buddy in what is taken */
		while (o-- > order)
			block_push(f, i + (1u << o), o);
		return i;
	}
	return FRAME_NONE;
}

/* Where a run above the watermark would begin, FRAME_NONE: there is no room. */
static uint32_t
fresh_at(const struct frames *f, unsigned order, uint32_t count)
{
	uint32_t align = 1u << order, i = (f->fresh + align - 1) & ~(align - 1);

	return i < f->fresh || i >= f->total || f->total - i < count ? FRAME_NONE : i;
}

/* A run above the watermark; what alignment skips becomes free blocks. */
static uint32_t
take_fresh(struct frames *f, unsigned order, uint32_t count)
{
	uint32_t skipped = f->fresh, i = fresh_at(f, order, count);

	if (i == FRAME_NONE)
		return FRAME_NONE;
	entries_init(f, i + count);
	f->fresh = i + count;
	run_free(f, skipped, i);
	return i;
}

static unsigned
order_of(uint32_t count)
{
	unsigned order = 0;

	while (order + 1 < FRAME_ORDERS && (1u << order) < count)
		order++;
	return order;
}

static bool
is_listed(const struct frames *f, unsigned order)
{
	while (order < FRAME_ORDERS && f->list[order] == FRAME_NONE)
		order++;
	return order < FRAME_ORDERS;
}

bool
frames_prepare(struct frames *f, uint32_t count)
{
	unsigned order = order_of(count);
	uint32_t i = count > f->free || is_listed(f, order) ? FRAME_NONE :
		fresh_at(f, order, count);

	if (i == FRAME_NONE || i + count <= f->known + PREPARE_STEP)
		return true;
	entries_init(f, f->known + PREPARE_STEP);
	return false;
}

static uint32_t
last_take(struct frames *f)
{
	uint32_t i = f->last;

	f->last = FRAME_NONE;
	return i;
}

/*
 * All frames up to the watermark are then either in blocks or handed out, so a run near the end of
 * the memory that its power of two would overshoot is taken exactly.
 */
uint32_t
frames_block(struct frames *f, uint32_t count)
{
	unsigned order = order_of(count);
	uint32_t i;

	if (count == 0 || count > f->free || (1u << order) < count)
		return FRAME_NONE;
	i = last_take(f);
	if (i != FRAME_NONE && count == 1) {
		f->free--;
		return i;
	}
	if (i != FRAME_NONE)
		block_free(f, i, 0);
	i = take_listed(f, order, count);
	if (i == FRAME_NONE)
		i = take_fresh(f, order, count);
	if (i != FRAME_NONE)
		f->free -= count;
	return i;
}

void
frames_mark(struct frames *f, uint32_t first, uint32_t count, struct frame as)
{
	for (uint32_t n = first; n < first + count; n++)
		f->frame[n] = as;
}

void
frames_block_back(struct frames *f, uint32_t first, uint32_t count)
{
	uint32_t before = f->last;

	f->free += count;
	if (count > 1) {
		run_free(f, first, first + count);
		return;
	}
	f->last = first;
	if (before != FRAME_NONE)
		block_free(f, before, 0);
}

uint32_t
frames_take(struct frames *f, uint32_t count, uint8_t state, int32_t owner)
{
	uint32_t i = frames_block(f, count);

	if (i != FRAME_NONE)
		frames_mark(f, i, count, (struct frame){.state = state, .owner = owner});
	return i;
}

uint32_t
frames_alloc(struct frames *f, uint32_t count, uint8_t state, int32_t owner)
{
	uint32_t i = frames_take(f, count, state, owner);

	if (i != FRAME_NONE)
		hal_zero_pages(frame_kaddr(f, i), (size_t)count * HAL_PAGE_BYTES);
	return i;
}

void
frames_free(struct frames *f, uint32_t first, uint32_t count)
{
	for (uint32_t n = first; n < first + count; n++) {
		check(f->frame[n].refs == 0);
		f->frame[n].state = FRAME_INSIDE;
		if (f->frame[n].owner != 0)
			frame_freed(f->frame[n].owner);
	}
	frames_block_back(f, first, count);
}

void
frame_get(struct frames *f, uint32_t frame)
{
	f->frame[frame].refs++;
}

size_t
frames_get(struct frames *f, const uint64_t *paddr, size_t count)
{
	uint64_t base = f->base_paddr, total = f->total, at;
	struct frame *frames = f->frame;
	size_t n;

	for (n = 0; n < count; n++) {
		at = (paddr[n] - base) / HAL_PAGE_BYTES;
		if (at >= total || frames[at].refs >= FRAME_REFS_MAX)
			break;
		frames[at].refs++;
	}
	return n;
}

static struct sweep *
sweep_at(const struct sweeps *all, struct list *node)
{
	return node == &all->running ? NULL : list_entry(node, struct sweep, link);
}

static void
limbo_add(struct frames *f, uint32_t frame, struct sweep *s)
{
	f->frame[frame].state = FRAME_LIMBO;
	f->frame[frame].next = s->limbo;
	s->limbo = frame;
}

/* Wait for a shoot-down, if it is none that began after all mappings had gone. */
static void
free_after(struct frames *f, uint32_t frame, struct sweep *s)
{
	uint32_t youngest = f->frame[frame].prev;

	if (s == NULL || youngest == 0 || (int32_t)(s->epoch - youngest) > 0)
		frames_free(f, frame, 1);
	else
		limbo_add(f, frame, s);
}

void
frame_put(struct frames *f, uint32_t frame, const struct sweeps *all, struct sweep *by)
{
	struct frame *e = &f->frame[frame];
	struct sweep *oldest = sweep_at(all, all->running.next);

	check(e->refs > 0);
	e->refs--;
	if (e->refs == 0 && by != NULL &&
		(e->prev == 0 || (int32_t)(oldest->epoch - e->prev) > 0)) {
		e->prev = 0;
		limbo_add(f, frame, by);
		return;
	}
	if (by != NULL)
		e->prev = all->epoch;
	if (e->refs == 0)
		free_after(f, frame, oldest);
}

size_t
frames_put(struct frames *f, const struct sweeps *all, const uint64_t *paddr, size_t count,
	int *most)
{
	uint64_t base = f->base_paddr, total = f->total, at;
	struct frame *frames = f->frame;
	int left = *most;
	size_t n;

	for (n = 0; n < count && left > 0; n++, left--) {
		at = (paddr[n] - base) / HAL_PAGE_BYTES;
		if (at < total && frames[at].refs > 1) {
			frames[at].refs--;
			continue;
		}
		left -= FRAMES_PUT_FREE - 1;
		if (at < total)
			frame_put(f, (uint32_t)at, all, NULL);
	}
	*most = left;
	return n;
}

bool
frames_limbo_drain(struct frames *f, const struct sweeps *all, struct sweep *s,
	unsigned *most)
{
	while (s->limbo != FRAME_NONE && *most > 0) {
		uint32_t frame = s->limbo;

		s->limbo = f->frame[frame].next;
		free_after(f, frame, sweep_at(all, s->link.next));
		--*most;
	}
	return s->limbo == FRAME_NONE;
}
