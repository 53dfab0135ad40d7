/* SPDX-License-Identifier: MIT
 *
 * Small pieces of kernel memory, taken from the cluster's page frames on demand and given back when a page is empty. Home core.
 *
 * A piece has a power of two of bytes. All pieces of a page have one size; what the allocator knows of a page stands in the page's
 * entry of the frame table, so that a page is all payload. A cluster that uses no pieces pays nothing but this structure.
 */
#ifndef KERNEL_OBJECT_SLAB_H
#define KERNEL_OBJECT_SLAB_H

#include <stddef.h>
#include <stdint.h>

struct frames;

#define SLAB_SMALLEST 5		/* log2 of the bytes of the smallest and of the largest pieces */
#define SLAB_LARGEST 11
#define SLAB_BYTES_MAX (1u << SLAB_LARGEST)

struct slab {
	struct frames *frames;
	uint32_t partial[SLAB_LARGEST - SLAB_SMALLEST + 1];	/* pages with a free piece, by size */
	uint32_t pages;						/* in use */
};

void slab_init(struct slab *s, struct frames *frames);

/* Bytes that a piece for `bytes` really takes: what a quota is charged. */
size_t slab_size(size_t bytes);

/* A piece of at least `bytes` (1..SLAB_BYTES_MAX) bytes, aligned to its size, filled with zeros; NULL if there is no memory. */
void *slab_alloc(struct slab *s, size_t bytes);

void slab_free(struct slab *s, void *piece);

#endif
