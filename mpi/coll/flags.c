/* SPDX-License-Identifier: MIT
 *
 * Flags.
 *
 * No wake-up is lost: a rank that is about to sleep says so by `has_sleepers` and looks once more;
 * one that has shown a round looks at `has_sleepers` after that (all in total order).
 */
#include <mpi/coll/flags.h>
#include <mpi/transport/transport.h>

#define ROUND_BYTES_NEAR 16384		/* thread ranks are many and have little memory */
#define ROUND_BYTES 32768
#define ROUND_PART 256			/* of a rank's memory */

size_t
mpi_flags_buffer_bytes(const struct mpi_rank *self)
{
	return transport_memory_part(self, ROUND_PART,
		transport_shares_memory(self) ? ROUND_BYTES_NEAR : ROUND_BYTES);
}

/* Two boards, and a line for each rank. False, on all ranks: there is no memory. */
static bool
make_flags(struct mpi_rank *self, struct comm *c)
{
	size_t n = (size_t)c->size, board = n * FLAGS_IN_FLIGHT * sizeof(struct flag);
	struct locality *v = mpi_locality_of(self, c);

	if (v == NULL || v->segment == NULL || v->clusters > 1)
		return false;
	v->waits.flags = mpi_locality_share(self, c, &v->flags,
		2 * board + n * sizeof(struct over));
	if (v->waits.flags == NULL)
		return false;
	v->started.flags = v->waits.flags + board;
	v->over = (struct over *)(void *)(v->started.flags + board);
	return true;
}

static bool
make_buffers(struct mpi_rank *self, struct comm *c, struct locality *v)
{
	size_t bytes;

	v->round_bytes = mpi_flags_buffer_bytes(self);
	bytes = (size_t)c->size * FLAGS_BUFFERS * v->round_bytes;
	v->waits.buffers = mpi_locality_share(self, c, &v->buffers, 2 * bytes);
	if (v->waits.buffers != NULL)
		v->started.buffers = v->waits.buffers + bytes;
	return v->waits.buffers != NULL;
}

bool
mpi_flags_begin(struct flags *g, struct mpi_rank *self, struct comm *c, size_t bytes)
{
	struct locality *v;

	if (mpi_comm_is_inter(c) || c->size < 2 || c->size > FLAGS_RANKS_MAX)
		return false;
	if ((c->locality == NULL || c->locality->waits.flags == NULL) && !make_flags(self, c))
		return false;
	v = c->locality;
	if (bytes > FLAGS_SMALL && v->waits.buffers == NULL && !make_buffers(self, c, v))
		return false;
	*g = flags_on(self, v, &v->waits);
	return true;
}

void
mpi_flags_make_now(struct mpi_rank *self, struct comm *c, size_t bytes)
{
	struct flags g;

	if (bytes <= FLAGS_BUFFERS * mpi_flags_buffer_bytes(self))
		mpi_flags_begin(&g, self, c, bytes);
}

size_t
mpi_flags_bytes(const struct flags *g)
{
	return g->b->buffers != NULL ? g->v->round_bytes : FLAGS_SMALL;
}

void
mpi_flags_wake(const struct flags *g)
{
	struct central m = {.self = g->self, .sync = &g->v->segment->sync};

	mpi_central_wake(&m);
}

static bool
has_shown(const struct central *m)
{
	return (int32_t)(load_total(m->word) - m->value) >= 0;
}

void
mpi_flags_wait_longer(const struct flags *g, const struct flag *s, uint32_t round)
{
	struct central m = {.self = g->self, .sync = &g->v->segment->sync, .word = &s->round,
		.value = round};

	for (int i = 0; i < FLAGS_SPINS; i++)
		if ((int32_t)(load_acquire(&s->round) - round) >= 0)
			return;
	mpi_central_wait_until(&m, has_shown);
}

static void
wait_for_all(const struct flags *g, uint32_t round)
{
	for (int i = 0; i < g->n; i++) {
		const struct flag *s = flags_of(g, round, i);

		if (i != g->me && (int32_t)(load_acquire(&s->round) - round) < 0)
			mpi_flags_wait_longer(g, s, round);
	}
	g->b->seen = round;
}

/*
 * Who has to wait at all waits for the buffers of several rounds: ranks look at each other's flags
 * less often.
 */
void
mpi_flags_wait_for_buffer(struct flags *g, uint32_t turns)
{
	wait_for_all(g, g->round - turns / 2);
}

void
mpi_flags_wait_all(struct flags *g)
{
	wait_for_all(g, g->round);
}
