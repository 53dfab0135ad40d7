/* SPDX-License-Identifier: MIT
 *
 * A heap for ranks that share a small memory: a block costs its bytes, rounded up to 16, and 16
 * more; memory comes from the system by pages and goes back when everything in it is free. One
 * thread at a time.
 */
#ifndef USER_LIBC_HEAP_H
#define USER_LIBC_HEAP_H

#include <stddef.h>

#define HEAP_UNIT 16
#define HEAP_BINS 32

struct heap_free;

struct heap {
	/* where memory comes from and goes to: whole pages; NULL: none */
	void *(*get)(size_t bytes);
	void (*put)(void *memory, size_t bytes);
	size_t page_bytes;
	/* zero at first */
	size_t held;			/* bytes from the system */
	struct heap_free *bin[HEAP_BINS];	/* free blocks of 2^i .. 2^(i+1) - 1 units */
};

/* A block whose address is a multiple of `align` (a power of two, at least HEAP_UNIT), or NULL. */
void *heap_alloc(struct heap *h, size_t align, size_t bytes);

/* Give a block back; abort() if it is none that is in use. */
void heap_free(struct heap *h, void *block);

/* Make a block that large without moving it; 0, or -1: impossible. */
int heap_resize(struct heap *h, void *block, size_t bytes);

/* Bytes that a block has room for. */
size_t heap_room(const void *block);

#endif
