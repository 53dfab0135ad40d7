/* SPDX-License-Identifier: MIT
 *
 * A ring of copies. Room comes back in the order in which the copies were made; a copy never wraps
 * around, what is left at the end of the ring is a copy that was taken already.
 */
#include <mpi/pt2pt/bounce.h>
#include <mpi/transport/transport.h>

static struct bounce_copy *
copy_at(const struct bounce *b, size_t at)
{
	return (struct bounce_copy *)(void *)(b->ring + at);
}

static size_t
bounce_advance(const struct bounce *b, size_t at, size_t span)
{
	return at + span == b->bytes ? 0 : at + span;
}

static int
bounce_create(struct mpi_rank *self, struct bounce *b)
{
	if (b->bytes == 0)
		b->bytes = transport_copies_bytes(self);
	b->ring = transport_share(self, b->bytes + CACHE_LINE);
	if (b->ring == NULL)
		return -1;
	b->shift = (CACHE_LINE - (uintptr_t)b->ring % CACHE_LINE) % CACHE_LINE;
	b->ring += b->shift;
	return 0;
}

/* Give back the room of what was taken. */
static void
reclaim(struct bounce *b)
{
	while (b->used > 0) {
		struct bounce_copy *c = copy_at(b, b->first);

		if (load_acquire(&c->taken) == 0)
			return;
		b->used -= c->span;
		b->first = bounce_advance(b, b->first, c->span);
	}
}

static struct bounce_copy *
append(struct bounce *b, size_t span, uint32_t taken)
{
	struct bounce_copy *c = copy_at(b, b->next);

	store_relaxed(&c->taken, taken);
	c->span = (uint32_t)span;
	b->next = bounce_advance(b, b->next, span);
	b->used += span;
	return c;
}

/* Could a copy be appended? What is left at the end becomes a copy that was taken, if need be. */
static bool
bounce_make_room(struct bounce *b, size_t span)
{
	size_t to_end;

	if (b->bytes - b->used < span)
		reclaim(b);
	if (b->used == 0)
		b->first = b->next = 0;
	to_end = b->bytes - b->next;
	if (to_end < span && b->bytes - b->used >= to_end)
		append(b, to_end, 1);
	return b->bytes - b->used >= span && b->bytes - b->next >= span;
}

size_t
mpi_bounce_span(size_t len)
{
	return CACHE_LINE + (len + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

struct bounce_copy *
mpi_bounce_take(struct mpi_rank *self, struct bounce *b, size_t len)
{
	size_t span = mpi_bounce_span(len);

	if (b->ring == NULL && bounce_create(self, b) != 0)
		return NULL;
	return bounce_make_room(b, span) ? append(b, span, 0) : NULL;
}

bool
mpi_bounce_has_room(struct mpi_rank *self, struct bounce *b, size_t len)
{
	if (b->ring == NULL && bounce_create(self, b) != 0)
		return false;
	return bounce_make_room(b, mpi_bounce_span(len));
}

bool
mpi_bounce_is_empty(struct bounce *b)
{
	reclaim(b);
	return b->used == 0;
}

void
mpi_bounce_undo(struct bounce *b, struct bounce_copy *c)
{
	if (c == NULL)
		return;
	b->used -= c->span;
	b->next = (size_t)((char *)c - b->ring);
}

void
mpi_bounce_exit(struct mpi_rank *self, struct bounce *b)
{
	if (b->ring != NULL)
		transport_unshare(self, b->ring - b->shift);
	*b = (struct bounce){.ring = NULL};
}
