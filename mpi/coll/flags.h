/* SPDX-License-Identifier: MIT
 *
 * Flags: few ranks of one cluster work in rounds without a counter that all write. Each has flags,
 * on which it shows the number of the round that it has come to, and room for data of the last
 * rounds; small data lies on the line of the flag. A rank that shows a round has done with all
 * rounds before it, so that room may be written again when all have shown a later round. Whoever
 * needs data of a rank waits for its flag, and for nobody else.
 *
 * All ranks of the communicator go through the same rounds. What nearly every call does is here, so
 * that it becomes part of its callers.
 */
#ifndef MPI_COLL_FLAGS_H
#define MPI_COLL_FLAGS_H

#include <mpi/coll/central.h>
#include <mpi/coll/locality.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#define FLAGS_RANKS_MAX 16
/* rounds whose flags, and small data, are there at the same time */
#define FLAGS_IN_FLIGHT 16
#define FLAGS_BUFFERS 4			/* the same of larger data */
#define FLAGS_SPINS 100			/* looks at a flag before anything else is done */
/* bytes of small data, which lies as any basic type wants it */
#define FLAGS_SMALL (CACHE_LINE - 16)

/* A rank's flags lie side by side. */
struct flag {
	_Alignas(CACHE_LINE) uint32_t round;
	uint32_t over_before;		/* of started collectives: see coll/rounds.h */
	_Alignas(16) char small[FLAGS_SMALL];
};

/* Of started collectives: all rounds before this one are over on a rank (coll/started_coll.c). */
struct over {
	_Alignas(CACHE_LINE) uint32_t before;
};

struct flags {
	struct mpi_rank *self;
	struct locality *v;
	struct board *b;		/* of v */
	int me;
	int n;
	uint32_t round;
};

/*
 * For rounds with up to so many bytes of data, the same on all ranks. False, on all ranks: not for
 * this communicator.
 */
bool mpi_flags_begin(struct flags *g, struct mpi_rank *self, struct comm *c, size_t bytes);

void mpi_flags_make_now(struct mpi_rank *self, struct comm *c, size_t bytes);

/*
 * A blocking call that goes another way makes them for started ones of that size, which must not
 * wait; all ranks call it, and have a locality.
 */
static inline void
mpi_flags_make(struct mpi_rank *self, struct comm *c, size_t bytes)
{
	const struct locality *v = c->locality;

	if (c->size <= FLAGS_RANKS_MAX && (v->waits.flags == NULL ||
		(bytes > FLAGS_SMALL && v->waits.buffers == NULL)))
		mpi_flags_make_now(self, c, bytes);
}

/* Bytes of a buffer; the same of flags that are yet to be made. */
size_t mpi_flags_bytes(const struct flags *g);
size_t mpi_flags_buffer_bytes(const struct mpi_rank *self);

/* What takes longer: wait for a flag; until a buffer may be written; wake those who sleep. */
void mpi_flags_wait_longer(const struct flags *g, const struct flag *s, uint32_t round);
void mpi_flags_wait_for_buffer(struct flags *g, uint32_t turns);
void mpi_flags_wake(const struct flags *g);

/* Wait until all have shown the round. */
void mpi_flags_wait_all(struct flags *g);

/* On a board, in the round that it has come to. */
ALWAYS_INLINE struct flags
flags_on(struct mpi_rank *self, struct locality *v, struct board *b)
{
	return (struct flags){.self = self, .v = v, .b = b, .me = v->rank, .n = v->ranks,
		.round = b->round};
}

ALWAYS_INLINE struct flag *
flags_of(const struct flags *g, uint32_t round, int rank)
{
	return (struct flag *)(void *)g->b->flags + (size_t)rank * FLAGS_IN_FLIGHT +
		round % FLAGS_IN_FLIGHT;
}

/* The next round. */
static inline void
mpi_flags_next(struct flags *g)
{
	g->round++;
}

/* Where a rank's data of the present round lies; so many bytes, the same on all that ask. */
ALWAYS_INLINE char *
mpi_flags_data(const struct flags *g, int rank, size_t bytes)
{
	if (bytes <= FLAGS_SMALL)
		return flags_of(g, g->round, rank)->small;
	return g->b->buffers + ((size_t)rank * FLAGS_BUFFERS + g->round % FLAGS_BUFFERS) *
		g->v->round_bytes;
}

/* The own one, when it may be written. */
ALWAYS_INLINE char *
mpi_flags_buffer(struct flags *g, size_t bytes)
{
	uint32_t turns = bytes <= FLAGS_SMALL ? FLAGS_IN_FLIGHT : FLAGS_BUFFERS;

	if (g->round - g->b->seen >= turns)
		mpi_flags_wait_for_buffer(g, turns);
	return mpi_flags_data(g, g->me, bytes);
}

/*
 * Show the round: whatever was written before can be read by who sees it. In total order with
 * `has_sleepers`, at which it looks after that: no wake-up is lost (see flags.c).
 */
ALWAYS_INLINE void
mpi_flags_show(struct flags *g)
{
	exchange_total(&flags_of(g, g->round, g->me)->round, g->round);
	if (load_total(&g->v->segment->sync.all.has_sleepers) != 0)
		mpi_flags_wake(g);
}

/* Wait until a rank has shown the round. */
ALWAYS_INLINE void
mpi_flags_wait(const struct flags *g, int rank)
{
	const struct flag *s = flags_of(g, g->round, rank);

	if ((int32_t)(load_acquire(&s->round) - g->round) < 0)
		mpi_flags_wait_longer(g, s, g->round);
}

/* No more rounds. */
static inline void
mpi_flags_end(struct flags *g)
{
	g->b->round = g->round;
}

/*
 * How a call can be started: not at all; laid beside the flags; the same with small blocks, where
 * messages are faster with larger ones; or, an allreduce of ranks of one address space, shown where
 * it is. A number in struct algorithm, as each rank has addresses of its own.
 */
enum starts { STARTS_NOT, STARTS_LAID, STARTS_LAID_SMALL, STARTS_ZEROCOPY };

#define LAID_SMALL_MAX 4096		/* bytes of a block */

/*
 * Start a call (coll/started_coll.c); `outer` is complete when it is over, perhaps on return.
 * False, on all ranks: there are no flags yet, or this is not for them.
 */
bool mpi_started(struct mpi_rank *self, struct comm *c, const struct collective *k, enum starts how,
	struct request *outer);

#endif
