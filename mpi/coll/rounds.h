/* SPDX-License-Identifier: MIT
 *
 * Rounds of started collectives with flags, of which several may be on their way: a rank that shows
 * a round there need not be over with the ones before it. So each rank also shows before which
 * round all are over with it, and that is when their room may be written again.
 */
#ifndef MPI_COLL_ROUNDS_H
#define MPI_COLL_ROUNDS_H

#include <mpi/coll/flags.h>

/* Rounds that may be over before a rank shows it: half of those that there is room for. */
#define OVER_SMALL (FLAGS_IN_FLIGHT / 2)
#define OVER_LARGE (FLAGS_BUFFERS / 2)

/*
 * Rounds before this one are over here: show it, unless it is too few for others to wait for it,
 * as v->over_most says. In total order with `has_sleepers`, as in mpi_flags_show.
 */
static inline void
rounds_show_over(const struct flags *g, uint32_t before)
{
	if (before - load_relaxed(&g->v->over[g->me].before) < g->v->over_most)
		return;
	exchange_total(&g->v->over[g->me].before, before);
	if (load_total(&g->v->segment->sync.all.has_sleepers) != 0)
		mpi_flags_wake(g);
}

/*
 * Say the same beside the flag of the present round, which this rank is about to show: who reads
 * that flag anyhow learns earlier what is over, and from a line that it has.
 */
static inline void
rounds_show_over_with_flag(const struct flags *g, uint32_t before)
{
	store_release(&flags_of(g, g->round, g->me)->over_before, before);
}

/*
 * All rounds before this one are over on a rank, as far as it has shown. Its word is looked at only
 * if what its flag says is too little: less than `turns` rounds before the present one.
 */
static inline uint32_t
rounds_over_on(const struct flags *g, int rank, uint32_t turns)
{
	uint32_t before;

	if (g->round - g->v->over_round < FLAGS_IN_FLIGHT) {
		before = load_acquire(&flags_of(g, g->v->over_round, rank)->over_before);
		if (g->round - before < turns)
			return before;
	}
	return load_total(&g->v->over[rank].before);
}

static inline void
rounds_look_what_is_over(const struct flags *g, uint32_t turns)
{
	uint32_t before = rounds_over_on(g, 0, turns);

	for (int i = 1; i < g->n; i++) {
		uint32_t theirs = rounds_over_on(g, i, turns);

		if ((int32_t)(theirs - before) < 0)
			before = theirs;
	}
	g->b->seen = before;
}

/* May the own data of the present round be written? */
static inline bool
rounds_buffer_is_free(const struct flags *g, size_t bytes)
{
	uint32_t turns = bytes <= FLAGS_SMALL ? FLAGS_IN_FLIGHT : FLAGS_BUFFERS;

	if (g->round - g->b->seen >= turns)
		rounds_look_what_is_over(g, turns);
	return g->round - g->b->seen < turns;
}

/* Has a rank shown the present round? Have all of these, but the own one? */
static inline bool
rounds_is_shown(const struct flags *g, int rank)
{
	return (int32_t)(load_total(&flags_of(g, g->round, rank)->round) - g->round) >= 0;
}

static inline bool
rounds_are_shown(const struct flags *g, int ranks)
{
	for (int i = 0; i < ranks; i++)
		if (i != g->me && !rounds_is_shown(g, i))
			return false;
	return true;
}

#endif
