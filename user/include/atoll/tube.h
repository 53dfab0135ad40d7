/* SPDX-License-Identifier: MIT
 *
 * Tubes: buffered queues of messages of one size, in a segment (atoll/sem.h), for any number of
 * senders and receivers, in one process or several. The kernel is called only by who has to sleep,
 * or finds somebody asleep. Manual: docs/man/tube.3.
 *
 * A message is there whole or not at all, in the order in which senders have finished. Who ends
 * while it copies takes a place for a message with it, and nothing else.
 */
#ifndef ATOLL_TUBE_H
#define ATOLL_TUBE_H

#include <atoll/number_ring.h>
#include <atoll/sem.h>

#define TUBE_MESSAGES_MAX 32000

struct tube_state;

struct tube {
	uint32_t spare;			/* a place that this handle keeps; 0: none */
	uint32_t has_spare;		/* it may keep one */
	struct sem messages, holes;
	struct tube_state *at;		/* NULL: there is none */
	struct number_ring ring;	/* the numbers are those of places */
	uint32_t *next;
	unsigned char *before;		/* where place 0 would lie */
	size_t stride;			/* of places */
	uint32_t bytes;			/* of a message */
	size_t groups;			/* of longs that make a message; 0: bytes do */
};

/*
 * Make a tube of n messages of `bytes` bytes, or open the one of this name in the segment (NULL: it
 * has none). 0; -E_NOMEM: there is no room in the segment; -E_INVAL: bytes or n are 0 or too many,
 * the name is too long, or is that of something else.
 */
int newtube(struct segment *g, struct tube *t, const char *name, uint32_t bytes, uint32_t n);

/*
 * End a tube: who waits there is told, -E_PIPE, as is whoever uses it later, by any handle; what
 * was sent is lost. freetube also gives the handle up, as freesem.
 */
int endtube(const struct tube *t);
int freetube(struct tube *t);

/*
 * Send, and receive, and wait for it up to a time of kclock. 0; -E_AGAIN: it would wait, and the
 * time was 0; -E_TIMEDOUT; -E_INTR; -E_PIPE: the tube was ended; -E_INVAL: no handle; -E_IO: its
 * memory has been spoilt.
 */
int tsend(struct tube *t, const void *message, uint64_t until);
int treceive(struct tube *t, void *message, uint64_t until);

/* The same without waiting: 1: done; 0: it would wait; or an error. */
int nbtsend(struct tube *t, const void *message);
int nbtreceive(struct tube *t, void *message);

enum talt_op { TALT_NONE, TALT_SEND, TALT_RECEIVE };

struct talt {
	struct tube *tube;
	void *message;			/* that is sent, or received */
	enum talt_op op;
	const struct sem *sem;		/* talt's own */
};

/*
 * Do one of n sends and receives on tubes of one segment, whichever can be done, and return its
 * place. Up to `until`, as tsend. Also what altsems says.
 */
int talt(struct talt a[], int n, uint64_t until);

#endif
