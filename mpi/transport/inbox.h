/* SPDX-License-Identifier: MIT
 *
 * The inbox of a rank: a ring of packets in memory that the ranks of a cluster share. Many senders,
 * one receiver, no locks.
 *
 * A sender takes a position by compare-and-swap on `tail`, fills the cell and writes position + 1
 * into its `word`; the receiver waits for that word, so that one cache line carries the flag, the
 * header and 32 bytes of data. The receiver never writes to cells; that they are free again is told
 * by `head`, now and then. A full inbox refuses; a sender that is about to sleep because of it says
 * so (inbox_must_wait) when its own `sleeping` is set.
 *
 * No wake-up is lost: a sender changes `tail` (total order) before it looks at `sleeping`, the
 * receiver sets `sleeping` (total order) before it looks at `tail`. Likewise a sender sets its
 * `sleeping`, then sees or sets `starved`, then looks at `head`; the receiver changes `head`, then
 * clears `starved`, then looks who sleeps. Words that different ranks write lie on different cache
 * lines.
 */
#ifndef MPI_TRANSPORT_INBOX_H
#define MPI_TRANSPORT_INBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <mpi/transport/packet.h>
#include <mpi/transport/shared.h>

#define INBOX_CELLS_MIN 8
#define INBOX_CELLS_MAX 64

/* values of `sleeping` */
#define AWAKE 0
#define SLEEPING 1

/* shared; zero is the start */
struct inbox {
	_Alignas(CACHE_LINE) uint32_t tail;	/* written by senders */
	_Alignas(CACHE_LINE) uint32_t head;	/* written by the owner, now and then */
	/* written by the owner when it sleeps, read with each packet */
	_Alignas(CACHE_LINE) uint32_t sleeping;
	int32_t tid;
	uint32_t slept;				/* process ranks: odd while the owner sleeps */
	_Alignas(CACHE_LINE) uint32_t starved;	/* written by senders that sleep */
	/* a hint: the owner waits inside the library and answers at once */
	_Alignas(CACHE_LINE) uint32_t attends;
	_Alignas(CACHE_LINE) struct packet cells[];
};

/* The owner's side. */
struct inbox_reader {
	struct inbox *box;
	uint32_t mask;			/* cells - 1 */
	uint32_t head;			/* next position to read */
	uint32_t published;		/* value of box->head */
	bool others;			/* messages of some ranks come in other ways */
	/* vain looks that its owner's processor has time for; 0: others need it */
	unsigned polls;
};

/* Bytes of an inbox with that many cells (a power of two). */
size_t inbox_bytes(uint32_t cells);

/* A cell to fill and its position, or NULL if there is no room. */
static inline __attribute__((always_inline)) struct packet *
inbox_claim(struct inbox *box, uint32_t cells, uint32_t *position)
{
	uint32_t tail = load_relaxed(&box->tail);

	do {
		*position = tail;
		if (tail - load_acquire(&box->head) >= cells)
			return NULL;
	} while (!swap_total(&box->tail, &tail, tail + 1));
	return &box->cells[tail & (cells - 1)];
}

/*
 * A sender that found no room and has set its `sleeping`: must it sleep? If so, the owner will say
 * when there is room. In total order.
 */
bool inbox_must_wait(struct inbox *box, uint32_t cells);

/* The cell is filled. True if the owner sleeps and must be woken. */
static inline __attribute__((always_inline)) bool
inbox_publish(struct inbox *box, struct packet *p, uint32_t position)
{
	store_release(&p->word, position + 1);
	return load_total(&box->sleeping) == SLEEPING;
}

/* The next packet, or NULL. It is valid until inbox_pass. */
static inline __attribute__((always_inline)) const struct packet *
inbox_peek(const struct inbox_reader *r)
{
	uint32_t head = load_relaxed(&r->head);
	const struct packet *p = &r->box->cells[head & r->mask];

	return load_acquire(&p->word) == head + 1 ? p : NULL;
}

/* The packet is done with. True if it is time for inbox_tell, or soon after. */
static inline __attribute__((always_inline)) bool
inbox_next(struct inbox_reader *r)
{
	store_relaxed(&r->head, r->head + 1);
	return r->head - r->published > r->mask / 4;
}

/* Tell senders how far the owner is. True if some sleep for want of room and must be woken. */
bool inbox_tell(struct inbox_reader *r);

/* Both: the packet is done with; true if senders must be woken. */
static inline __attribute__((always_inline)) bool
inbox_pass(struct inbox_reader *r)
{
	return inbox_next(r) && inbox_tell(r);
}

/* Is nothing in it, nor about to be? In total order. */
bool inbox_is_empty(const struct inbox_reader *r);

#endif
