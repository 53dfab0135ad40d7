/* SPDX-License-Identifier: MIT
 *
 * The job segment: memory that all ranks of a job on one Linux host share, an anonymous file made by whoever starts the job (mpiexec, or
 * a rank that is alone). It has no name and vanishes with the last process that holds it. Zero is a valid start of everything that
 * segment_layout does not set. Nothing in it is an address: it lies at another place in each process.
 *
 *	header, one struct segment_rank per rank | inboxes | words [source][sink] | where all meet | a heap per rank (sparse)
 */
#ifndef MPI_TRANSPORT_PROCESS_SEGMENT_H
#define MPI_TRANSPORT_PROCESS_SEGMENT_H

#include <stddef.h>
#include <stdint.h>
#include <mpi/core/shared.h>
#include <mpi/transport/inbox.h>
#include <mpi/transport/sync.h>

#define SEGMENT_VERSION 1

/* values of segment_rank.state */
enum { RANK_ABSENT, RANK_ATTACHED, RANK_LEFT };

struct segment_rank {
	uint32_t state;			/* shared word: ATTACHED by the launcher, LEFT by the rank at MPI_Finalize */
	int32_t pid;			/* of the process that called MPI_Init */
};

struct segment {
	uint32_t version;
	uint32_t ranks;
	uint32_t cells;			/* of each inbox */
	uint32_t exclusive;		/* each rank has a processor that no other job uses */
	uint32_t processors;		/* that all ranks together may use */
	uint32_t aborted;		/* shared word: rank + 1 that ended the job */
	int32_t abort_status;
	uint32_t reserved;
	uint64_t inboxes;		/* offsets and sizes in bytes */
	uint64_t inbox_stride;
	uint64_t taken;
	uint64_t taken_stride;
	uint64_t sync;
	uint64_t heaps;
	uint64_t heap_stride;
	uint64_t bytes;			/* of it all */
	struct segment_rank rank[];
};

/* Bytes that a segment for that many ranks has; all but a few are never touched. */
uint64_t segment_bytes(uint32_t ranks);

/* Fill in the header of a zeroed segment. */
void segment_layout(struct segment *s, uint32_t ranks);

static inline struct inbox *
segment_inbox(struct segment *s, uint32_t rank)
{
	return (struct inbox *)(void *)((char *)s + s->inboxes + rank * s->inbox_stride);
}

static inline uint32_t *
segment_taken_word(struct segment *s, uint32_t source, uint32_t sink)
{
	return (uint32_t *)(void *)((char *)s + s->taken + source * s->taken_stride) + sink;
}

#endif
