/* SPDX-License-Identifier: MIT
 *
 * Reductions of ranks of one address space that tell each other where their operands lie
 * (coll/zerocopy_coll.c, coll/started_coll.c): each combines a slice of all operands, which it
 * alone reads, so that results may lie where operands are.
 */
#ifndef MPI_COLL_ZEROCOPY_H
#define MPI_COLL_ZEROCOPY_H

#include <mpi/core/op.h>

/* Bytes of a result that stay in a core's first cache until all operands are in. */
#define ZEROCOPY_BLOCK 4096

/* What a rank names. */
struct addresses {
	const char *in;
	char *out;
	/* blocks, with counts and types in the same address space */
	const struct side *give;
	const struct side *get;
	uint32_t truncated;		/* a block that others put here was longer than expected */
};

/* What each of n ranks has named, at equal distances. */
struct address_list {
	const char *first;
	size_t stride;
	int n;
};

static inline const struct addresses *
mpi_addresses_of(const struct address_list *all, int rank)
{
	return (const struct addresses *)(const void *)(all->first + (size_t)rank * all->stride);
}

/* Elements, and where they lie in an operand. */
struct slice {
	MPI_Count count;
	size_t from;
	size_t bytes;
};

/* A rank's share of so many elements. */
static inline struct slice
mpi_slice_of(MPI_Count count, MPI_Count extent, int rank, int ranks)
{
	MPI_Count each = (count + ranks - 1) / ranks;
	MPI_Count first = rank * each < count ? rank * each : count;
	MPI_Count mine = count - first < each ? count - first : each;

	return (struct slice){mine, (size_t)(first * extent), (size_t)(mine * extent)};
}

/*
 * to = a slice of what all have named, combined in the order of the ranks; `to` may be where this
 * rank's or the root's operand has that slice.
 */
void mpi_zerocopy_combine(const struct address_list *all, const struct operation *op,
	struct slice s,
	char *to);

#endif
