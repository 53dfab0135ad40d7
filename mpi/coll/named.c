/* SPDX-License-Identifier: MIT
 *
 * Data and descriptions on signs.
 */
#include <mpi/coll/named.h>
#include <mpi/transport/transport.h>

#define ALIGNED(n) (((n) + 15) & ~(size_t)15)

/* Blocks for each rank in a room: where they begin, and how long they are, comes first. */
struct dealt {
	struct {
		uint16_t at;
		uint16_t bytes;
	} block[SIGNS_RANKS_MAX];
};

_Static_assert(NAMED_ROOM <= UINT16_MAX, "sizes and places in a room have 16 bits");

bool
mpi_named_begin(struct signs *g, struct mpi_rank *self, struct comm *c)
{
	if (!transport_shares_memory(self) || !mpi_signs_begin(g, self, c, SIGNS_SMALL + 1))
		return false;
	mpi_signs_next(g);
	return true;
}

static char *
room_of(const struct signs *g, int rank)
{
	return mpi_signs_data(g, rank, g->v->round_bytes);
}

/* The own line, when it may be written; with the room. */
static struct named *
own_line(struct signs *g, bool room)
{
	mpi_signs_room(g, room ? g->v->round_bytes : SIGNS_SMALL);
	return (struct named *)(void *)signs_of(g, g->round, g->me)->small;
}

static void
show(struct signs *g, const void *what, bool in_room)
{
	struct named *n = (struct named *)(void *)signs_of(g, g->round, g->me)->small;

	n->what = what;
	n->in_room = in_room;
	n->truncated = false;
	mpi_signs_show(g);
}

void
mpi_named_show(struct signs *g, const void *what)
{
	own_line(g, false);
	show(g, what, false);
}

void
mpi_named_show_copied(struct signs *g, const void *what, bool truncated)
{
	struct named *n = own_line(g, false);

	n->what = what;
	n->in_room = false;
	n->truncated = truncated;
	mpi_signs_show(g);
}

bool
mpi_named_give(struct signs *g, const struct span *own)
{
	size_t bytes = mpi_span_size(*own);
	bool room = bytes > NAMED_INLINE, fits = mpi_named_fits(g, bytes);
	struct named *n = own_line(g, room && fits);

	n->bytes = (uint16_t)bytes;
	if (fits)
		mpi_span_copy(span_bytes(room ? room_of(g, g->me) : n->data, bytes), *own);
	show(g, fits ? NULL : own, room && fits);
	return fits;
}

int
mpi_named_copy(struct span to, struct span from)
{
	mpi_span_copy(to, from);
	return mpi_span_size(to) < mpi_span_size(from) ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

/* What lies there, as far as it is expected. */
static int
take_bytes(struct span to, const char *data, size_t bytes)
{
	return mpi_named_copy(to, span_bytes(data, bytes));
}

int
mpi_named_take(const struct signs *g, int from, struct span to)
{
	const struct named *n = mpi_named_of(g, from);

	if (n->what != NULL)
		return mpi_named_copy(to, *(const struct span *)n->what);
	return take_bytes(to, n->in_room ? room_of(g, from) : n->data, n->bytes);
}

static size_t
dealt_bytes(const struct signs *g, const struct span own[])
{
	size_t bytes = sizeof(struct dealt);

	for (int i = 0; i < g->n && bytes <= g->v->round_bytes; i++)
		bytes += i == g->me ? 0 : ALIGNED(mpi_span_size(own[i]));
	return bytes;
}

/* Room on the line for each rank's block. */
static size_t
slot_of(const struct signs *g)
{
	return g->n <= NAMED_SLOTS ? NAMED_INLINE / (size_t)g->n & ~(size_t)7 : 0;
}

static bool
fit_on_line(const struct signs *g, const struct span own[])
{
	for (int i = 0; i < g->n; i++)
		if (i != g->me && mpi_span_size(own[i]) > slot_of(g))
			return false;
	return true;
}

static void
deal_on_line(struct signs *g, const struct span own[])
{
	struct named *n = own_line(g, false);

	for (int i = 0; i < g->n && i < NAMED_SLOTS; i++) {
		if (i == g->me)
			continue;
		n->slot[i] = (uint8_t)mpi_span_size(own[i]);
		mpi_span_copy(span_bytes(n->data + (size_t)i * slot_of(g), slot_of(g)), own[i]);
	}
	show(g, NULL, false);
}

bool
mpi_named_deal(struct signs *g, const struct span own[])
{
	bool fits = mpi_named_fits(g, dealt_bytes(g, own));
	size_t at = sizeof(struct dealt);
	struct dealt *dealt;
	char *room;

	if (fit_on_line(g, own)) {
		deal_on_line(g, own);
		return true;
	}
	own_line(g, fits);
	room = room_of(g, g->me);
	dealt = (struct dealt *)(void *)room;
	for (int i = 0; fits && i < g->n; i++) {
		size_t bytes = i == g->me ? 0 : mpi_span_size(own[i]);

		dealt->block[i].at = (uint16_t)at;
		dealt->block[i].bytes = (uint16_t)bytes;
		mpi_span_copy(span_bytes(room + at, bytes), own[i]);
		at += ALIGNED(bytes);
	}
	show(g, fits ? NULL : own, fits);
	return fits;
}

int
mpi_named_take_own(const struct signs *g, int from, struct span to)
{
	const struct named *n = mpi_named_of(g, from);
	const char *room = room_of(g, from);
	const struct dealt *dealt = (const struct dealt *)(const void *)room;

	if (n->what != NULL)
		return mpi_named_copy(to, ((const struct span *)n->what)[g->me]);
	if (n->in_room)
		return take_bytes(to, room + dealt->block[g->me].at, dealt->block[g->me].bytes);
	/* more ranks than slots: all blocks are empty */
	return slot_of(g) > 0 ? take_bytes(to, n->data + (size_t)g->me * slot_of(g), n->slot[g->me]) : MPI_SUCCESS;
}

void
mpi_named_part(struct signs *g)
{
	mpi_signs_next(g);
	mpi_named_show(g, NULL);
	mpi_signs_wait_all(g);
}
