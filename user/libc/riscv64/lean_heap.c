/* SPDX-License-Identifier: MIT
 *
 * The heap: regions of whole pages, cut into chunks that lie side by side. A chunk begins with a
 * header of 16 bytes: its own size and that of the chunk before it, in units; a region ends with a
 * header in use. Free chunks never touch each other, and are listed by size.
 */
#include <stdint.h>
#include <stdlib.h>
#include <user/libc/riscv64/lean_heap.h>

/* regions up to this size are not given back: small blocks come and go */
#define KEPT_PAGES 2
#define MOST (SIZE_MAX / 4)

enum { CHUNK_USED = 0x55534544, CHUNK_FREE = 0x46524545 };

struct chunk {
	uint32_t units;			/* header included; 0: the end of the region */
	uint32_t before;		/* units of the chunk before; 0: the first */
	uint32_t state;
	uint32_t region;		/* of the first chunk: pages of the region */
};

struct heap_free {
	struct chunk chunk;
	struct heap_free *next;
	struct heap_free *prev;
};

_Static_assert(sizeof(struct chunk) == HEAP_UNIT && sizeof(struct heap_free) == 2 * HEAP_UNIT,
	"chunks are made of units");

#define UNITS_MIN 2

static struct chunk *
after(struct chunk *c)
{
	return c + c->units;
}

static unsigned
bin_of(uint32_t units)
{
	return 31 - (unsigned)__builtin_clz(units);
}

static void
insert(struct heap *h, struct chunk *c)
{
	struct heap_free *f = (struct heap_free *)c, **bin = &h->bin[bin_of(c->units)];

	c->state = CHUNK_FREE;
	f->prev = NULL;
	f->next = *bin;
	if (f->next != NULL)
		f->next->prev = f;
	*bin = f;
}

static void
take_out(struct heap *h, struct chunk *c)
{
	struct heap_free *f = (struct heap_free *)c;

	if (f->prev != NULL)
		f->prev->next = f->next;
	else
		h->bin[bin_of(c->units)] = f->next;
	if (f->next != NULL)
		f->next->prev = f->prev;
	c->state = CHUNK_USED;
}

/* The smallest that fits among a few, or any of a larger kind. */
static struct chunk *
heap_find(struct heap *h, uint32_t units)
{
	struct heap_free *best = NULL;

	for (unsigned i = bin_of(units); i < HEAP_BINS && best == NULL; i++)
		for (struct heap_free *f = h->bin[i]; f != NULL; f = f->next)
			if (f->chunk.units >= units &&
				(best == NULL || f->chunk.units < best->chunk.units))
				best = f;
	return best != NULL ? &best->chunk : NULL;
}

/* Cut what a chunk in use has more than `units` off and make it free. */
static void
trim(struct heap *h, struct chunk *c, uint32_t units)
{
	struct chunk *rest = c + units, *next = after(c);

	if (c->units - units < UNITS_MIN)
		return;
	*rest = (struct chunk){.units = c->units - units, .before = units, .state = CHUNK_USED};
	c->units = units;
	if (next->state == CHUNK_FREE) {
		take_out(h, next);
		rest->units += next->units;
	}
	after(rest)->before = rest->units;
	insert(h, rest);
}

/* A new region as one chunk in use. */
static struct chunk *
new_region(struct heap *h, uint32_t units)
{
	size_t bytes = ((size_t)units + 1) * HEAP_UNIT,
		pages = (bytes + h->page_bytes - 1) / h->page_bytes;
	struct chunk *c = h->get(pages * h->page_bytes);

	if (c == NULL)
		return NULL;
	h->held += pages * h->page_bytes;
	*c = (struct chunk){.units = (uint32_t)(pages * h->page_bytes / HEAP_UNIT - 1),
		.state = CHUNK_USED, .region = (uint32_t)pages};
	*after(c) = (struct chunk){.before = c->units, .state = CHUNK_USED};
	return c;
}

/* Make the chunk begin later, so that its block is aligned; what lies before becomes free. */
static struct chunk *
align_chunk(struct heap *h, struct chunk *c, size_t align)
{
	uintptr_t block = (uintptr_t)(c + 1), to = (block + align - 1) & ~(uintptr_t)(align - 1);
	struct chunk *late;
	uint32_t skip;

	if (to == block)
		return c;
	if (to - block < UNITS_MIN * HEAP_UNIT)
		to += align;
	skip = (uint32_t)((to - block) / HEAP_UNIT);
	late = c + skip;
	*late = (struct chunk){.units = c->units - skip, .before = skip, .state = CHUNK_USED};
	c->units = skip;
	after(late)->before = late->units;
	insert(h, c);
	return late;
}

static uint32_t
units_of(size_t bytes)
{
	uint32_t units = (uint32_t)((bytes + 2 * HEAP_UNIT - 1) / HEAP_UNIT);

	return units < UNITS_MIN ? UNITS_MIN : units;
}

void *
heap_alloc(struct heap *h, size_t align, size_t bytes)
{
	size_t slack = align > HEAP_UNIT ? align + UNITS_MIN * HEAP_UNIT : 0;
	struct chunk *c;
	uint32_t units;

	if (bytes > MOST || align > MOST || (bytes + slack) / HEAP_UNIT > UINT32_MAX / 2)
		return NULL;
	units = units_of(bytes + slack);
	c = heap_find(h, units);
	if (c != NULL)
		take_out(h, c);
	else if ((c = new_region(h, units)) == NULL)
		return NULL;
	c = align_chunk(h, c, align);
	trim(h, c, units_of(bytes));
	return c + 1;
}

static void
check(struct chunk *c)
{
	if (c->state != CHUNK_USED || c->units < UNITS_MIN || after(c)->before != c->units)
		abort();
}

void
heap_free(struct heap *h, void *block)
{
	struct chunk *c = (struct chunk *)block - 1, *next, *prev;

	check(c);
	next = after(c);
	prev = c - c->before;
	if (next->state == CHUNK_FREE) {
		take_out(h, next);
		c->units += next->units;
	}
	if (c->before > 0 && prev->state == CHUNK_FREE) {
		take_out(h, prev);
		prev->units += c->units;
		/* the header stays, as a trap for who frees twice */
		c->state = CHUNK_FREE;
		c = prev;
	}
	next = after(c);
	next->before = c->units;
	if (c->before == 0 && next->units == 0 && c->region > KEPT_PAGES) {
		h->held -= c->region * h->page_bytes;
		h->put(c, c->region * h->page_bytes);
	} else {
		insert(h, c);
	}
}

int
heap_resize(struct heap *h, void *block, size_t bytes)
{
	struct chunk *c = (struct chunk *)block - 1, *next;
	uint32_t units;

	check(c);
	if (bytes > MOST || bytes / HEAP_UNIT > UINT32_MAX / 2)
		return -1;
	units = units_of(bytes);
	next = after(c);
	if (units > c->units) {
		if (next->state != CHUNK_FREE || c->units + next->units < units)
			return -1;
		take_out(h, next);
		c->units += next->units;
		after(c)->before = c->units;
	}
	trim(h, c, units);
	return 0;
}

size_t
heap_room(const void *block)
{
	const struct chunk *c = (const struct chunk *)block - 1;

	return (size_t)(c->units - 1) * HEAP_UNIT;
}
