/* SPDX-License-Identifier: MIT
 *
 * Blocks part by part.
 */
#include <mpi/coll/blocks.h>

struct blocks
mpi_blocks(const struct signs *g, size_t bytes, int per_round)
{
	return (struct blocks){.most = mpi_signs_bytes(g) / (size_t)per_round, .all = bytes};
}

bool
mpi_blocks_next(struct blocks *b, struct signs *g)
{
	b->at += b->bytes;
	b->bytes = b->all - b->at < b->most ? b->all - b->at : b->most;
	if (b->bytes > 0)
		mpi_signs_next(g);
	return b->bytes > 0;
}

void
mpi_blocks_lay(const struct blocks *b, char *room, struct span block)
{
	mpi_type_pack(block.type, block.at, (MPI_Count)b->at, room, (MPI_Count)b->bytes);
}

void
mpi_blocks_take(const struct blocks *b, struct span block, const char *data)
{
	mpi_type_unpack(block.type, block.at, (MPI_Count)b->at, data, (MPI_Count)b->bytes);
}

void
mpi_blocks_keep(struct span to, struct span from)
{
	if (mpi_span_size(from) > 0)
		mpi_span_copy(to, from);
}
