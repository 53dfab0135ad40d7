/* SPDX-License-Identifier: MIT
 *
 * What a rank shows on its sign to others of its address space (coll/signs.h): data on the line
 * itself, or in its room if that is large enough, so that it need not wait for those who take it;
 * otherwise a description of what it gives or gets, and it stays until they are done. Only a rank's
 * own handles mean something to it, so that a description of blocks with a type each is made of
 * spans.
 */
#ifndef MPI_COLL_NAMED_H
#define MPI_COLL_NAMED_H

#include <mpi/coll/algorithm.h>
#include <mpi/coll/signs.h>

#define NAMED_ROOM 4096			/* more is copied once: rooms are several, and leave the cache */
#define NAMED_INLINE (SIGNS_SMALL - 16)	/* bytes of data on the line */

#define NAMED_SLOTS 4			/* the line has room for a block for each of so many ranks */

struct named {
	const void *what;		/* NULL: data */
	uint8_t in_room;
	uint8_t truncated;		/* what was described had less room than data */
	uint16_t bytes;			/* of the data, if it is one block */
	uint8_t slot[NAMED_SLOTS];	/* bytes of each rank's block on the line */
	_Alignas(16) char data[NAMED_INLINE];
};

_Static_assert(sizeof(struct named) == SIGNS_SMALL, "it lies on the line of a sign");

/* A round begins; false, on all ranks: not for this communicator. */
bool mpi_named_begin(struct signs *g, struct mpi_rank *self, struct comm *c);

/* Is so much data laid into the room? */
static inline bool
mpi_named_fits(const struct signs *g, size_t bytes)
{
	return bytes <= NAMED_ROOM && bytes <= g->v->round_bytes;
}

static inline const struct named *
mpi_named_of(const struct signs *g, int rank)
{
	return (const struct named *)(const void *)signs_of(g, g->round, rank)->small;
}

/* Show a description, or only that this rank has come. */
void mpi_named_show(struct signs *g, const void *what);

/* Show that what another rank had described is where it wanted it, whole or truncated. */
void mpi_named_show_copied(struct signs *g, const void *what, bool truncated);

/*
 * Show one block for all; false: where it lies. Take that of a rank. MPI_ERR_TRUNCATE: there was
 * less room than data.
 */
bool mpi_named_give(struct signs *g, const struct span *own);
int mpi_named_take(const struct signs *g, int from, struct span to);

/* The same with a block for each rank. */
bool mpi_named_deal(struct signs *g, const struct span own[]);
int mpi_named_take_own(const struct signs *g, int from, struct span to);

/* Copy a block as each side describes it. */
int mpi_named_copy(struct span to, struct span from);

/* Another round, after which nobody needs what was described in this one. */
void mpi_named_part(struct signs *g);

#endif
