/* SPDX-License-Identifier: MIT
 *
 * Signs.
 *
 * No wake-up is lost: a rank that is about to sleep says so by `drowsy` and looks once more; one
 * that has shown a round looks at `drowsy` after that (all in total order).
 */
#include <mpi/coll/signs.h>
#include <mpi/transport/transport.h>

#define SPINS 100
#define ROUND_BYTES_NEAR 16384		/* thread ranks are many and have little memory */
#define ROUND_BYTES 32768
#define ROUND_PART 256			/* of a rank's memory */

size_t
mpi_signs_room_of(const struct mpi_rank *self)
{
	return transport_memory_part(self, ROUND_PART, transport_shares_memory(self) ? ROUND_BYTES_NEAR : ROUND_BYTES);
}

/* Two boards, and a line for each rank. */
static struct venue *
with_signs(struct mpi_rank *self, struct comm *c)
{
	size_t n = (size_t)c->size, board = n * SIGNS_TURNS * sizeof(struct sign);
	struct venue *v = mpi_venue_with_signs(self, c, 2 * board + n * sizeof(struct over));

	if (v != NULL && v->waits.signs != NULL) {
		v->started.signs = v->waits.signs + board;
		v->over = (struct over *)(void *)(v->started.signs + board);
	}
	return v;
}

bool
mpi_signs_begin(struct signs *g, struct mpi_rank *self, struct comm *c, size_t bytes)
{
	struct venue *v = c->venue;

	if (mpi_comm_is_inter(c) || c->size < 2 || c->size > SIGNS_RANKS_MAX)
		return false;
	if (v == NULL || v->waits.signs == NULL)
		v = with_signs(self, c);
	if (v == NULL || v->waits.signs == NULL)
		return false;
	if (bytes > SIGNS_SMALL && v->waits.rooms == NULL) {
		v->round_bytes = mpi_signs_room_of(self);
		mpi_venue_with_rooms(self, c, (size_t)c->size * SIGNS_ROOMS * v->round_bytes);
		if (v->waits.rooms == NULL)
			return false;
	}
	*g = (struct signs){.self = self, .v = v, .b = &v->waits, .me = v->rank, .n = v->ranks,
		.round = v->waits.round};
	return true;
}

size_t
mpi_signs_bytes(const struct signs *g)
{
	return g->b->rooms != NULL ? g->v->round_bytes : SIGNS_SMALL;
}

void
mpi_signs_wake(const struct signs *g)
{
	struct meeting m = {.self = g->self, .sync = &g->v->place->sync};

	mpi_meet_wake(&m);
}

static bool
has_shown(const struct meeting *m)
{
	return (int32_t)(load_total(m->word) - m->value) >= 0;
}

void
mpi_signs_wait_longer(const struct signs *g, const struct sign *s, uint32_t round)
{
	struct meeting m = {.self = g->self, .sync = &g->v->place->sync, .word = &s->round, .value = round};

	for (int i = 0; i < SPINS; i++)
		if ((int32_t)(load_acquire(&s->round) - round) >= 0)
			return;
	mpi_meet_wait_until(&m, has_shown);
}

static void
wait_for_all(const struct signs *g, uint32_t round)
{
	for (int i = 0; i < g->n; i++) {
		const struct sign *s = signs_of(g, round, i);

		if (i != g->me && (int32_t)(load_acquire(&s->round) - round) < 0)
			mpi_signs_wait_longer(g, s, round);
	}
	g->b->seen = round;
}

/* Who has to wait at all waits for the room of several rounds: ranks look at each other's signs less often. */
void
mpi_signs_wait_for_room(struct signs *g, uint32_t turns)
{
	wait_for_all(g, g->round - turns / 2);
}

void
mpi_signs_wait_all(struct signs *g)
{
	wait_for_all(g, g->round);
}
