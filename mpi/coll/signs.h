/* SPDX-License-Identifier: MIT
 *
 * Signs: few ranks of one cluster work in rounds without a counter that all write. Each has signs,
 * on which it shows the number of the round that it has come to, and room for data of the last
 * rounds; small data lies on the line of the sign. A rank that shows a round has done with all
 * rounds before it, so that room may be written again when all have shown a later round. Whoever
 * needs data of a rank waits for its sign, and for nobody else.
 *
 * All ranks of the communicator go through the same rounds. What nearly every call does is here, so
 * that it becomes part of its callers.
 */
#ifndef MPI_COLL_SIGNS_H
#define MPI_COLL_SIGNS_H

#include <mpi/coll/meet.h>
#include <mpi/coll/place.h>

#define SIGNS_RANKS_MAX 16
#define SIGNS_TURNS 16			/* rounds whose signs, and small data, are there at the same time */
#define SIGNS_ROOMS 4			/* the same of larger data */
#define SIGNS_SMALL (CACHE_LINE - 16)	/* bytes of small data, which lies as any basic type wants it */

/* A rank's signs lie side by side. */
struct sign {
	_Alignas(CACHE_LINE) uint32_t round;
	_Alignas(16) char small[SIGNS_SMALL];
};

/* Of started collectives: all rounds before this one are over on a rank (coll/started.h). */
struct over {
	_Alignas(CACHE_LINE) uint32_t before;
};

struct signs {
	struct mpi_rank *self;
	struct venue *v;
	struct board *b;		/* of v */
	int me;
	int n;
	uint32_t round;
};

/*
 * For rounds with up to so many bytes of data, the same on all ranks. False, on all ranks: not for
 * this communicator.
 */
bool mpi_signs_begin(struct signs *g, struct mpi_rank *self, struct comm *c, size_t bytes);

/* Bytes of data that a round has room for; the same of signs that are yet to be made. */
size_t mpi_signs_bytes(const struct signs *g);
size_t mpi_signs_room_of(const struct mpi_rank *self);

/* What takes longer: wait for a sign; until there is room for so many bytes; wake those who sleep. */
void mpi_signs_wait_longer(const struct signs *g, const struct sign *s, uint32_t round);
void mpi_signs_wait_for_room(struct signs *g, uint32_t turns);
void mpi_signs_wake(const struct signs *g);

/* Wait until all have shown the round. */
void mpi_signs_wait_all(struct signs *g);

static inline struct sign *
signs_of(const struct signs *g, uint32_t round, int rank)
{
	return (struct sign *)(void *)g->b->signs + (size_t)rank * SIGNS_TURNS + round % SIGNS_TURNS;
}

/* The next round. */
static inline void
mpi_signs_next(struct signs *g)
{
	g->round++;
}

/* Where a rank's data of the present round lies; so many bytes, the same on all that ask. */
static inline char *
mpi_signs_data(const struct signs *g, int rank, size_t bytes)
{
	if (bytes <= SIGNS_SMALL)
		return signs_of(g, g->round, rank)->small;
	return g->b->rooms + ((size_t)rank * SIGNS_ROOMS + g->round % SIGNS_ROOMS) * g->v->round_bytes;
}

/* The own one, when it may be written. */
static inline char *
mpi_signs_room(struct signs *g, size_t bytes)
{
	uint32_t turns = bytes <= SIGNS_SMALL ? SIGNS_TURNS : SIGNS_ROOMS;

	if (g->round - g->b->seen >= turns)
		mpi_signs_wait_for_room(g, turns);
	return mpi_signs_data(g, g->me, bytes);
}

/*
 * Show the round: whatever was written before can be read by who sees it. In total order with
 * `drowsy`, at which it looks after that: no wake-up is lost (see signs.c).
 */
static inline void
mpi_signs_show(struct signs *g)
{
	exchange_total(&signs_of(g, g->round, g->me)->round, g->round);
	if (load_total(&g->v->place->sync.drowsy) != 0)
		mpi_signs_wake(g);
}

/* Wait until a rank has shown the round. */
static inline void
mpi_signs_wait(const struct signs *g, int rank)
{
	const struct sign *s = signs_of(g, g->round, rank);

	if ((int32_t)(load_acquire(&s->round) - g->round) < 0)
		mpi_signs_wait_longer(g, s, g->round);
}

/* No more rounds. */
static inline void
mpi_signs_end(struct signs *g)
{
	g->b->round = g->round;
}

#endif
