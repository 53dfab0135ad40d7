/* SPDX-License-Identifier: MIT
 *
 * Bounce slots: buffers of the sender that hold the data of standard sends in a cluster until the receiver has taken it, so that
 * sends of medium size need not wait. When none is free, the receiver copies from the program's own buffer.
 */
#ifndef MPI_PT2PT_BOUNCE_H
#define MPI_PT2PT_BOUNCE_H

#include <stddef.h>
#include <stdint.h>

#define BOUNCE_BYTES 4096
#define BOUNCE_SLOTS 8

struct bounce {
	uint32_t free[BOUNCE_SLOTS];	/* shared words: 1 when the receiver has taken the data */
	char *data[BOUNCE_SLOTS];	/* NULL until first used */
	unsigned next;
};

/* A copy of some data in a free slot: its number, or -1. */
int mpi_bounce_put(struct bounce *b, const void *data, size_t len);

/* The slot that was filled last (-1: none) is not needed. */
void mpi_bounce_undo(struct bounce *b, int slot);

void mpi_bounce_exit(struct bounce *b);

#endif
