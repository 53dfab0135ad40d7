/* SPDX-License-Identifier: MIT
 *
 * Small pieces of kernel memory, taken from the cluster's page frames on demand and given back when
 * a page is empty. Home core.
 *
 * A piece has a power of two of bytes, or just as many as the record of a thread, of which there
 * are many. All pieces of a page have one size; what the allocator knows of a page stands in the
 * page's entry of the frame table, so that a page is all payload. A cluster that uses no pieces
 * pays nothing but this structure. Other cores read records, too: their pages are shared memory
 * (hal/atomic.h).
 */
#ifndef KERNEL_OBJECT_SLAB_H
#define KERNEL_OBJECT_SLAB_H

#include <stddef.h>
#include <stdint.h>

struct frames;

#define SLAB_SMALLEST 5		/* log2 of the bytes of the smallest and of the largest pieces */
#define SLAB_LARGEST 11
#define SLAB_BYTES_MAX (1u << SLAB_LARGEST)
#define SLAB_RECORDS (SLAB_LARGEST + 1)	/* stands for the size of the records */
/* from this size on, other cores work on pieces: handlers, records */
#define SLAB_SHARED 9

struct slab {
	struct frames *frames;
	uint32_t record;	/* bytes of a record */
	uint32_t pages;		/* in use */
	uint32_t partial[SLAB_RECORDS - SLAB_SMALLEST + 1];	/* with a free piece, by size */
};

/* `record`: a multiple of HAL_CACHE_LINE, no more than a page has. */
void slab_init(struct slab *s, struct frames *frames, size_t record);

/* Bytes that a piece for `bytes` really takes: what a quota is charged. */
size_t slab_size(const struct slab *s, size_t bytes);

/*
 * A piece of at least `bytes` (1..SLAB_BYTES_MAX, or those of a record) bytes, aligned to its size
 * (a record: to HAL_CACHE_LINE), with whatever it held; NULL if there is no memory.
 */
void *slab_alloc(struct slab *s, size_t bytes);

void slab_free(struct slab *s, void *piece);

#endif
