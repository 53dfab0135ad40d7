/* SPDX-License-Identifier: MIT
 *
 * Equal blocks that go part by part over signs.
 */
#ifndef MPI_COLL_BLOCKS_H
#define MPI_COLL_BLOCKS_H

#include <mpi/coll/signs.h>

struct blocks {
	size_t most;			/* bytes of a part */
	size_t all;			/* of a block */
	size_t at;			/* where the present part begins */
	size_t bytes;
};

/* `per_round`: blocks whose parts share a room. */
struct blocks mpi_blocks(const struct signs *g, size_t bytes, int per_round);

/* Go on to the next part, and round; false: that was the last one. */
bool mpi_blocks_next(struct blocks *b, struct signs *g);

/* The part of a block, from memory beside a sign or to it. */
void mpi_blocks_lay(const struct blocks *b, char *room, struct span block);
void mpi_blocks_take(const struct blocks *b, struct span block, const char *data);

/* A whole block that stays on its rank. */
void mpi_blocks_keep(struct span to, struct span from);

#endif
