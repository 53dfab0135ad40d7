/* SPDX-License-Identifier: MIT
 *
 * The job segment: memory that all ranks of a job on one Linux host share, an anonymous file made
 * by whoever starts the job (mpiexec, or a rank that is alone). It has no name and vanishes with
 * the last process that holds it. Zero is a valid start of everything that segment_layout does not
 * set. Nothing in it is an address: it lies at another place in each process.
 *
 * The heaps are address space that is closed at first. A rank opens its own as it gives memory out,
 * and those of others when it looks into them.
 *
 * 	header, one struct segment_rank per rank | inboxes | words [source][sink] | where all meet |
 * 	what ranks have said | a heap per rank (sparse)
 */
#ifndef MPI_TRANSPORT_PROCESS_SEGMENT_H
#define MPI_TRANSPORT_PROCESS_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <mpi/transport/inbox.h>
#include <mpi/transport/shared.h>
#include <mpi/transport/sync.h>

#define SEGMENT_VERSION 6

#define SAID_BYTES 512

/*
 * log2 of a heap's bytes: address space, not memory; less where the host has little of it (39 bits)
 */
#define HEAP_SHIFT_MOST 32
#define HEAP_SHIFT_LEAST 24
/* heaps begin and are opened at multiples; the largest pages of any processor */
#define HEAP_UNIT 65536

/* values of segment_rank.state */
enum { RANK_ABSENT, RANK_ATTACHED, RANK_LEFT };

struct segment_rank {
	/* shared word: ATTACHED by the launcher, LEFT by the rank at MPI_Finalize */
	uint32_t state;
	int32_t pid;			/* of the process that called MPI_Init */
	uint32_t opened;		/* shared word: HEAP_UNITs of its heap that are in use */
	uint32_t told;			/* shared word: it has written down what it waits for */
	/* a number that no other process has at the address `token_at` of its own memory */
	uint64_t token;
	uint64_t token_at;
	/* shared word: the launcher has sent its answer, and is done with that */
	uint32_t answered;
	uint32_t reserved;
};

struct segment {
	uint32_t version;
	uint32_t ranks;
	uint32_t cells;			/* of each inbox */
	uint32_t exclusive;		/* each rank has a processor that no other job uses */
	uint32_t processors;		/* that all ranks together may use */
	uint32_t aborted;		/* shared word: rank + 1 that ended the job */
	int32_t abort_status;
	uint32_t asked;			/* shared word: who sleeps writes down what for */
	uint32_t heap_shift;
	uint32_t reserved;
	uint64_t inboxes;		/* offsets and sizes in bytes */
	uint64_t inbox_stride;
	uint64_t taken;
	uint64_t taken_stride;
	uint64_t sync;
	uint64_t said;			/* SAID_BYTES of text for each rank */
	uint64_t heaps;
	uint64_t bytes;			/* of it all */
	struct segment_rank rank[];
};

/* The largest heap_shift for so many ranks for which the host has twice the address space. */
uint32_t segment_heap_shift(uint32_t ranks);

/* Bytes that a segment for that many ranks has; all but a few are never touched. */
uint64_t segment_bytes(uint32_t ranks, uint32_t heap_shift);

/* The heap_shift of a segment of so many bytes; 0: there is none. */
uint32_t segment_heap_shift_of(uint32_t ranks, uint64_t bytes);

/* Bytes before the heaps: what every rank opens. */
uint64_t segment_common_bytes(uint32_t ranks);

/* Fill in the header of a zeroed segment. Has that been done as we would do it? */
void segment_layout(struct segment *s, uint32_t ranks, uint32_t heap_shift);
bool segment_is_laid_out(const struct segment *s, uint32_t ranks, uint32_t heap_shift);

static inline char *
segment_heap(struct segment *s, uint32_t rank)
{
	return (char *)s + s->heaps + ((uint64_t)rank << s->heap_shift);
}

static inline struct inbox *
segment_inbox(struct segment *s, uint32_t rank)
{
	return (struct inbox *)(void *)((char *)s + s->inboxes + rank * s->inbox_stride);
}

static inline char *
segment_said(struct segment *s, uint32_t rank)
{
	return (char *)s + s->said + (uint64_t)rank * SAID_BYTES;
}

static inline uint32_t *
segment_taken_word(struct segment *s, uint32_t source, uint32_t sink)
{
	return (uint32_t *)(void *)((char *)s + s->taken + source * s->taken_stride) + sink;
}

#endif
