/* SPDX-License-Identifier: MIT
 *
 * Copies of standard sends to near peers, kept by the sender until the receiver has taken them, so
 * that sends of medium size need not wait. They lie one after the other in a ring of shared memory,
 * each behind a word that the receiver sets. When there is no room, the receiver gets the data from
 * the program's own buffer.
 *
 * Chunks of long messages have rings of their own (push.c): they are taken when they arrive, while
 * a message may have to wait for a receive that comes only after the long one is there.
 */
#ifndef MPI_PT2PT_BOUNCE_H
#define MPI_PT2PT_BOUNCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <mpi/transport/shared.h>

struct mpi_rank;

/* One copy; the data follows. */
struct bounce_copy {
	_Alignas(CACHE_LINE) uint32_t taken;	/* shared word: 1 when the receiver has the data */
	uint32_t span;				/* bytes up to the next one */
};

struct bounce {
	char *ring;				/* NULL until first used */
	size_t shift;				/* of the ring in its memory */
	/* 0 until first used: as many as the transport says */
	size_t bytes;
	/* the oldest copy that was not taken, as far as is known */
	size_t first;
	size_t next;				/* where the next one goes */
	size_t used;
};

/* A place for a copy of `len` bytes, which the caller fills, or NULL: no room. */
struct bounce_copy *mpi_bounce_take(struct mpi_rank *self, struct bounce *b, size_t len);

/* Is there room for one? */
bool mpi_bounce_has_room(struct mpi_rank *self, struct bounce *b, size_t len);

/* Have the receivers taken all copies? */
bool mpi_bounce_is_empty(struct bounce *b);

/* Where the data of a copy is. */
static inline char *
mpi_bounce_data(struct bounce_copy *c)
{
	return (char *)c + CACHE_LINE;
}

/* The copy that was made last (NULL: none) is not needed. */
void mpi_bounce_undo(struct bounce *b, struct bounce_copy *c);

/* Bytes that a copy of `len` bytes takes in a ring. */
size_t mpi_bounce_span(size_t len);

void mpi_bounce_exit(struct mpi_rank *self, struct bounce *b);

#endif
