/* SPDX-License-Identifier: MIT
 *
 * Page frames: see frame.h.
 */
#include <abi/errors.h>
#include <base/check.h>
#include <base/str.h>
#include <base/tune.h>
#include <hal/mmu.h>
#include <kernel/mem/frame.h>
#include <kernel/mem/sweep.h>

#define PAGES_PER_LARGE (HAL_LARGE_BYTES / HAL_PAGE_BYTES)

static size_t
offset_in_large(const void *memory)
{
	return (size_t)(hal_paddr(memory) & (HAL_LARGE_BYTES - 1));
}

/* Frames below the memory that have no entry: whole cache lines of entries. */
static size_t
entries_below(const void *memory)
{
	return offset_in_large(memory) / HAL_PAGE_BYTES &
		~(HAL_CACHE_LINE / sizeof(struct frame) - 1);
}

size_t
frames_table_bytes(const void *memory, size_t bytes, const struct boot_policy *policy)
{
	return ((offset_in_large(memory) + bytes) / HAL_PAGE_BYTES - entries_below(memory)) *
		sizeof(struct frame) + (policy->last_domain + 1) * sizeof(struct frame_domain);
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

static struct frame_domain *
domain_of(struct frames *f, uint32_t frame)
{
	struct frame_domain *d = f->domain;

	while (frame >= d->end)
		d++;
	return d;
}

static void
block_push(struct frames *f, struct frame_domain *d, uint32_t i, unsigned order)
{
	struct frame *b = &f->frame[i];

	b->state = FRAME_FREE;
	b->order = (uint8_t)order;
	b->prev = FRAME_NONE;
	b->next = d->list[order];
	if (b->next != FRAME_NONE)
		f->frame[b->next].prev = i;
	d->list[order] = i;
}

static void
block_unlink(struct frames *f, struct frame_domain *d, uint32_t i)
{
	struct frame *b = &f->frame[i];

	if (b->prev != FRAME_NONE)
		f->frame[b->prev].next = b->next;
	else
		d->list[b->order] = b->next;
	if (b->next != FRAME_NONE)
		f->frame[b->next].prev = b->prev;
	b->state = FRAME_INSIDE;
}

/* Give back a block, merged with its free buddies. */
static void
block_free(struct frames *f, struct frame_domain *d, uint32_t i, unsigned order)
{
	for (; order + 1 < FRAME_ORDERS; order++) {
		uint32_t buddy = i ^ (1u << order);

		if (buddy < d->first || buddy >= d->end || f->frame[buddy].state != FRAME_FREE ||
			f->frame[buddy].order != order)
			break;
		block_unlink(f, d, buddy);
		i &= ~(1u << order);
	}
	block_push(f, d, i, order);
}

/* Give back frames of any count and alignment, as the largest aligned blocks. */
static void
run_free(struct frames *f, struct frame_domain *d, uint32_t i, uint32_t end)
{
	while (i < end) {
		unsigned order = 0;

		while (order + 1 < FRAME_ORDERS && !(i & (1u << order)) && i + (2u << order) <= end)
			order++;
		block_free(f, d, i, order);
		i += 1u << order;
	}
}

/* No entry of it is valid: while it has no end, there are no buddies. */
static void
domain_init(struct frames *f, struct frame_domain *d, uint32_t first, uint32_t end)
{
	memset(d, 0xff, sizeof(*d));
	memset(d->stat, 0, sizeof(d->stat));
	d->first = first;
	d->end = first;
	run_free(f, d, first, end);
	d->end = end;
	d->stat[DOMAIN_PAGES] = d->stat[DOMAIN_FREE] = end - first;
	f->free += end - first;
}

void
frames_init(struct frames *f, void *table, const void *memory, void *start, void *end,
	const struct boot_policy *policy)
{
	bool is_near = (uintptr_t)start - (uintptr_t)memory <= offset_in_large(start);
	size_t below = offset_in_large(start), skipped = is_near ? entries_below(memory) : 0;
	uint32_t n;

	f->policy = policy;
	f->turn = f->free = f->zeroed_count = 0;
	f->zeroed = FRAME_NONE;
	f->frame = (struct frame *)((uintptr_t)table - skipped * sizeof(struct frame));
	f->base = (unsigned char *)start - below;
	f->base_paddr = hal_paddr(start) - below;
	f->first = n = (uint32_t)((below + HAL_PAGE_BYTES - 1) / HAL_PAGE_BYTES);
	f->total = (uint32_t)((size_t)((unsigned char *)end - f->base) / HAL_PAGE_BYTES);
	memset(table, 0, (n - skipped) * sizeof(struct frame));
	f->domain = (struct frame_domain *)(void *)&f->frame[f->total];
	for (uint32_t left = policy->last_domain; n < f->total; left--) {
		uint32_t after = f->total - left * policy->pages;

		check(n < after);
		domain_init(f, &f->domain[policy->last_domain - left], n, after);
		n = after;
	}
}

_Static_assert(FRAME_NONE == 0xffffffff, "set by bytes");

static unsigned
order_of(uint32_t count)
{
	unsigned order = 0;

	while ((1u << order) < count)
		order++;
	return order;
}

/*
 * A block from the free lists, split as needed: of each half that goes on being split, and of the
 * half behind the last frame, the entry says that it is not free, or that it is.
 */
static uint32_t
take_listed(struct frames *f, struct frame_domain *d, uint32_t count)
{
	unsigned o = order_of(count);
	uint32_t first, at;

	while (o < FRAME_ORDERS && d->list[o] == FRAME_NONE)
		o++;
	if (o >= FRAME_ORDERS)
		return FRAME_NONE;
	first = at = d->list[o];
	block_unlink(f, d, first);
	for (uint32_t left = count; left != 1u << o;) {
		o--;
		if (left <= 1u << o) {
			block_push(f, d, at + (1u << o), o);
			continue;
		}
		left -= 1u << o;
		at += 1u << o;
		frames_mark_next(f, at);
	}
	return first;
}

/* One that was freed alone is taken first; for more it may be part of what is needed. */
static uint32_t
take_here(struct frames *f, struct frame_domain *d, uint32_t count)
{
	uint32_t i = d->last;

	d->last = FRAME_NONE;
	if (i != FRAME_NONE && count == 1)
		return i;
	if (i != FRAME_NONE)
		block_free(f, d, i, 0);
	return take_listed(f, d, count);
}

uint32_t
frames_zeroed_take(struct frames *f)
{
	uint32_t i = f->zeroed;

	if (i == FRAME_NONE)
		return i;
	f->zeroed = f->frame[i].next;
	f->zeroed_count--;
	f->free--;
	f->domain->stat[DOMAIN_FREE]--;
	f->domain->stat[DOMAIN_NEAR]++;
	return i;
}

void
frames_zeroed_put(struct frames *f, uint32_t frame)
{
	f->frame[frame].next = f->zeroed;
	f->zeroed = frame;
	f->zeroed_count++;
	f->free++;
	f->domain->stat[DOMAIN_FREE]++;
}

/* There is no other block: the frames that hold zeros go to the others. False: there are none. */
static __attribute__((noinline)) bool
zeroed_drop(struct frames *f)
{
	if (f->zeroed == FRAME_NONE)
		return false;
	do {
		uint32_t i = f->zeroed;

		f->zeroed = f->frame[i].next;
		block_free(f, domain_of(f, i), i, 0);
	} while (f->zeroed != FRAME_NONE);
	f->zeroed_count = 0;
	return true;
}

static uint32_t
take_in_order(struct frames *f, uint32_t domain, uint32_t count)
{
	const struct boot_policy *p = f->policy;

	for (uint32_t n = 0; n <= p->last_domain; n++) {
		struct frame_domain *d = &f->domain[p->page_order[domain * DOMAINS_MAX + n]];
		uint32_t i = take_here(f, d, count);

		if (i == FRAME_NONE)
			continue;
		f->free -= count;
		d->stat[DOMAIN_FREE] -= count;
		d->stat[n == 0 ? DOMAIN_NEAR : DOMAIN_FAR] += count;
		return i;
	}
	return FRAME_NONE;
}

uint32_t
frames_block(struct frames *f, uint32_t domain, uint32_t count)
{
	const struct boot_policy *p = f->policy;
	uint32_t block;

	if (count - 1 >= f->free)
		return FRAME_NONE;
	if (p->flags & POLICY_PAGES_TAKE_TURNS)
		domain = f->turn = f->turn < p->last_domain ? f->turn + 1 : 0;
	do
		block = take_in_order(f, domain, count);
	while (unlikely(block == FRAME_NONE) && zeroed_drop(f));
	return block;
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
	struct frame_domain *d = domain_of(f, first);
	uint32_t before = d->last;

	f->free += count;
	d->stat[DOMAIN_FREE] += count;
	if (count > 1) {
		run_free(f, d, first, first + count);
		return;
	}
	d->last = first;
	if (before != FRAME_NONE)
		block_free(f, d, before, 0);
}

uint32_t
frames_take(struct frames *f, uint32_t count, uint8_t state, int32_t owner)
{
	uint32_t i = frames_block(f, 0, count);

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

/* How far from the first entry of the table that of the frame at an address is. */
hot_inline uint64_t
entry_offset(uint64_t paddr, uint64_t base)
{
	return (paddr - base) / (HAL_PAGE_BYTES / sizeof(struct frame));
}

hot_inline struct frame *
entry_at(unsigned char *table, uint64_t offset)
{
	return (struct frame *)(void *)(table + offset);
}

size_t
frames_get(struct frames *f, const uint64_t *paddr, size_t count, uint64_t except)
{
	uint64_t base = f->base_paddr, limit = f->total * sizeof(struct frame), offset;
	unsigned char *table = (unsigned char *)f->frame;
	const uint64_t *p = paddr, *end = p + count;
	struct frame *e;

	do {
		offset = entry_offset(*p, base);
		e = entry_at(table, offset);
		if (*p == except || offset >= limit || e->refs >= FRAME_REFS_MAX)
			break;
		e->refs++;
	} while (++p < end);
	return (size_t)(p - paddr);
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
	uint64_t base = f->base_paddr, limit = f->total * sizeof(struct frame), offset;
	const uint64_t *p = paddr, *last = p + *most, *end = p + count < last ? p + count : last;
	unsigned char *table = (unsigned char *)f->frame;

	do {
		offset = entry_offset(*p, base);
		if (likely(offset < limit) && likely(entry_at(table, offset)->refs > 1)) {
			entry_at(table, offset)->refs--;
			continue;
		}
		last -= FRAMES_PUT_FREE - 1;
		end = end < last ? end : last;
		if (offset < limit)
			frame_put(f, (uint32_t)(offset / sizeof(struct frame)), all, NULL);
	} while (++p < end);
	*most = (int)(last - p);
	return (size_t)(p - paddr);
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
