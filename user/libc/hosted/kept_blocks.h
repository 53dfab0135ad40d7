/* SPDX-License-Identifier: MIT
 *
 * Large blocks of a heap that the program gave back and may want again. The libc returns each such
 * block to the system at once, so that a program which allocates in a loop pays for a new mapping
 * and its page faults every time. The number of kept blocks and their bytes are bounded. One thread
 * at a time.
 */
#ifndef USER_LIBC_KEPT_BLOCKS_H
#define USER_LIBC_KEPT_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#define KEPT_LEAST 16384		/* bytes; smaller blocks are the libc's business */
#define KEPT_BLOCKS 32

struct kept_blocks {
	size_t most;			/* bytes that may be kept */
	size_t bytes;			/* bytes that are kept */
	unsigned count;
	struct kept_block {
		void *memory;
		size_t bytes;
	} block[KEPT_BLOCKS];		/* the oldest first */
};

/* Keep a block of `bytes`. False: it is too small, or larger than all that may be kept. */
bool kept_blocks_accept(const struct kept_blocks *k, size_t bytes);

/* Keep a block for which kept_blocks_accept() is true and kept_blocks_evict() returned NULL. */
void kept_blocks_put(struct kept_blocks *k, void *memory, size_t bytes);

/*
 * The oldest block if `bytes` more would exceed a bound: the caller gives it back to the libc and
 * asks again. NULL: there is room. With SIZE_MAX, every block in turn.
 */
void *kept_blocks_evict(struct kept_blocks *k, size_t bytes);

/* The newest block that has room for `bytes` and wastes less than an eighth of it, or NULL. */
void *kept_blocks_take(struct kept_blocks *k, size_t bytes);

#endif
