/* SPDX-License-Identifier: MIT
 *
 * The part of the job segment that one rank gives out: first fit, in address order, freed
 * neighbours merged. What describes the blocks is private to the rank, so that a stray write in
 * shared memory cannot lead it astray. Memory of large freed blocks goes back to the system. The
 * heap is address space that is closed, and opened as far as it is used: leak checkers read all
 * memory that can be read.
 */
#ifndef MPI_TRANSPORT_PROCESS_HEAP_H
#define MPI_TRANSPORT_PROCESS_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* a piece of the heap, free or given out */
struct heap_block {
	struct heap_block *next;
	char *start;
	size_t bytes;
	int used;
};

struct heap {
	char *base;
	size_t bytes;
	size_t opened;			/* bytes from base on that can be used */
	struct heap_block *first;	/* NULL until first used */
	/*
	 * whether the system gives back memory when told so; an emulator may only say that it did
	 */
	bool tried;
	bool removes;
};

/* Zeroed memory on a cache line, or NULL. */
void *heap_take(struct heap *h, size_t bytes);

/* Give it back. False: it was not taken from here. */
bool heap_give(struct heap *h, void *memory);

/* Forget all blocks. */
void heap_exit(struct heap *h);

#endif
