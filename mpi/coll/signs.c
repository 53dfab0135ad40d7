/* SPDX-License-Identifier: MIT
 *
 * Signs.
 *
 * No wake-up is lost: a rank that is about to sleep says so by `drowsy` and looks once more; one that has shown a round looks at `drowsy` after
 * that (in total order), at the latest before it waits for long or leaves. That it looks late lets the line of its sign travel meanwhile.
 */
#include <mpi/coll/signs.h>
#include <mpi/transport/transport.h>

#define SPINS 100
#define ROUND_BYTES_NEAR 16384		/* thread ranks are many and have little memory */
#define ROUND_BYTES 32768
#define ROUND_PART 256			/* of a rank's memory */

/* A rank's signs lie side by side, then all ranks' rooms. */
struct sign {
	_Alignas(CACHE_LINE) uint32_t round;
	uint32_t warm;			/* written for the line's sake */
	char small[CACHE_LINE - 8];
};

static struct sign *
sign_of(const struct venue *v, uint32_t round, int rank)
{
	return (struct sign *)(void *)v->signs + (size_t)rank * SIGNS_TURNS + round % SIGNS_TURNS;
}

size_t
mpi_signs_room_of(const struct mpi_rank *self)
{
	return transport_memory_part(self, ROUND_PART, transport_shares_memory(self) ? ROUND_BYTES_NEAR : ROUND_BYTES);
}

bool
mpi_signs_begin(struct signs *g, struct mpi_rank *self, struct comm *c)
{
	size_t bytes = mpi_signs_room_of(self);
	struct venue *v = c->venue;

	if (mpi_comm_is_inter(c) || c->size < 2 || c->size > SIGNS_RANKS_MAX)
		return false;
	if (v == NULL || v->signs == NULL)
		v = mpi_venue_with_signs(self, c, (size_t)c->size * SIGNS_TURNS * (sizeof(struct sign) + bytes));
	if (v == NULL || v->signs == NULL)
		return false;
	v->round_bytes = bytes;
	*g = (struct signs){.v = v, .me = v->rank, .n = v->ranks, .round = v->round, .told = true};
	g->meeting.self = self;
	g->meeting.sync = &v->place->sync;
	return true;
}

size_t
mpi_signs_bytes(const struct signs *g)
{
	return g->v->round_bytes;
}

void
mpi_signs_next(struct signs *g)
{
	g->round++;
}

char *
mpi_signs_data(const struct signs *g, int rank, size_t bytes)
{
	struct sign *s = sign_of(g->v, g->round, rank), *end = sign_of(g->v, 0, g->n);

	if (bytes <= sizeof(s->small))
		return s->small;
	return (char *)end + (size_t)(s - (struct sign *)(void *)g->v->signs) * g->v->round_bytes;
}

static bool
has_shown(const struct meeting *m)
{
	return (int32_t)(load_total(m->word) - m->value) >= 0;
}

static void
tell(struct signs *g)
{
	if (g->told)
		return;
	/* in total order between the round that was shown and `drowsy` */
	exchange_total(&sign_of(g->v, g->round, g->me)->warm, g->round);
	mpi_meet_wake(&g->meeting);
	g->told = true;
}

/* Wait until a rank shows some round or a later one. */
static void
wait_for(struct signs *g, int rank, uint32_t round)
{
	g->meeting.word = &sign_of(g->v, round, rank)->round;
	g->meeting.value = round;
	for (int i = 0; i < SPINS; i++)
		if ((int32_t)(load_acquire(g->meeting.word) - round) >= 0)
			return;
	tell(g);
	mpi_meet_wait_until(&g->meeting, has_shown);
}

static void
wait_for_all(struct signs *g, uint32_t round)
{
	for (int i = 0; i < g->n; i++)
		if (i != g->me)
			wait_for(g, i, round);
	g->v->seen = round;
}

/* Who has to wait at all waits for two rounds' room: ranks look at each other's signs less often. */
char *
mpi_signs_room(struct signs *g, size_t bytes)
{
	if (g->round - g->v->seen >= SIGNS_TURNS)
		wait_for_all(g, g->round - SIGNS_TURNS / 2);
	return mpi_signs_data(g, g->me, bytes);
}

void
mpi_signs_show(struct signs *g)
{
	store_release(&sign_of(g->v, g->round, g->me)->round, g->round);
	g->told = false;
}

void
mpi_signs_wait(struct signs *g, int rank)
{
	wait_for(g, rank, g->round);
}

void
mpi_signs_wait_all(struct signs *g)
{
	wait_for_all(g, g->round);
}

void
mpi_signs_end(struct signs *g)
{
	tell(g);
	g->v->round = g->round;
	/* the line that is shown next comes here while the program computes */
	store_relaxed(&sign_of(g->v, g->round + 1, g->me)->warm, g->round);
}
