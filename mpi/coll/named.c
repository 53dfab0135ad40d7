/* SPDX-License-Identifier: MIT
 *
 * Data and descriptions on signs.
 */
#include <mpi/coll/named.h>
#include <mpi/transport/transport.h>

#define ALIGNED(n) (((n) + 15) & ~(size_t)15)

/* Blocks for each rank in a room: where they begin comes first. */
struct dealt {
	uint32_t at[SIGNS_RANKS_MAX];
};

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
	mpi_signs_show(g);
}

void
mpi_named_show(struct signs *g, const void *what)
{
	own_line(g, false);
	show(g, what, false);
}

bool
mpi_named_give(struct signs *g, const struct span *own)
{
	size_t bytes = mpi_span_size(*own);
	bool room = bytes > NAMED_INLINE, fits = mpi_named_fits(g, bytes);
	struct named *n = own_line(g, room && fits);

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

/* As much as is expected, of what lies there. */
static void
take_bytes(struct span to, const char *data, size_t most)
{
	size_t bytes = mpi_span_size(to);

	mpi_span_copy(to, span_bytes(data, bytes < most ? bytes : most));
}

int
mpi_named_take(const struct signs *g, int from, struct span to)
{
	const struct named *n = mpi_named_of(g, from);

	if (n->what != NULL)
		return mpi_named_copy(to, *(const struct span *)n->what);
	if (n->in_room)
		take_bytes(to, room_of(g, from), g->v->round_bytes);
	else
		take_bytes(to, n->data, NAMED_INLINE);
	return MPI_SUCCESS;
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
	return NAMED_INLINE / (size_t)g->n & ~(size_t)7;
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
	char *data = own_line(g, false)->data;

	for (int i = 0; i < g->n; i++)
		if (i != g->me)
			mpi_span_copy(span_bytes(data + (size_t)i * slot_of(g), slot_of(g)), own[i]);
	show(g, NULL, false);
}

bool
mpi_named_deal(struct signs *g, const struct span own[])
{
	bool fits = mpi_named_fits(g, dealt_bytes(g, own));
	uint32_t at = sizeof(struct dealt);
	char *room;

	if (fit_on_line(g, own)) {
		deal_on_line(g, own);
		return true;
	}
	own_line(g, fits);
	room = room_of(g, g->me);
	for (int i = 0; fits && i < g->n; i++) {
		size_t bytes = i == g->me ? 0 : mpi_span_size(own[i]);

		((struct dealt *)(void *)room)->at[i] = at;
		mpi_span_copy(span_bytes(room + at, bytes), own[i]);
		at += (uint32_t)ALIGNED(bytes);
	}
	show(g, fits ? NULL : own, fits);
	return fits;
}

int
mpi_named_take_own(const struct signs *g, int from, struct span to)
{
	const struct named *n = mpi_named_of(g, from);
	const char *room = room_of(g, from);
	uint32_t at;

	if (n->what != NULL)
		return mpi_named_copy(to, ((const struct span *)n->what)[g->me]);
	if (!n->in_room) {
		take_bytes(to, n->data + (size_t)g->me * slot_of(g), slot_of(g));
		return MPI_SUCCESS;
	}
	at = ((const struct dealt *)(const void *)room)->at[g->me];
	take_bytes(to, room + at, g->v->round_bytes - at);
	return MPI_SUCCESS;
}

void
mpi_named_part(struct signs *g)
{
	mpi_signs_next(g);
	mpi_named_show(g, NULL);
	mpi_signs_wait_all(g);
}
