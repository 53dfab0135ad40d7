/* SPDX-License-Identifier: MIT
 *
 * What lies in a segment: see atoll/sem.h. Zeros are an empty one.
 *
 *	head		lock of the list, tickets of those who wait for several semaphores
 *	waiters		a word to sleep on, of each of those
 *	entries		what is there: its name, where it lies, how often it is open
 *	contents
 *
 * Words are changed by compare-and-swap only. What is at a place is found by the entries: the gaps
 * between them are free.
 */
#ifndef USER_SEGMENT_H
#define USER_SEGMENT_H

#include <stdbool.h>
#include <atoll/sem.h>

#define SEGMENT_LINE 64
#define SEGMENT_UNIT 16			/* what lies there is aligned to */

/* SEGMENT_BEGINS: it is being filled. SEGMENT_LATE: that took too long, and it has no name now. */
enum segment_kind { SEGMENT_FREE, SEGMENT_SEM, SEGMENT_TUBE, SEGMENT_BEGINS, SEGMENT_LATE };

struct segment_entry {
	uint32_t kind;
	uint32_t offset;
	uint32_t bytes;
	uint32_t opens;			/* handles */
	uint32_t a, b;			/* of a tube: bytes of a message, messages */
	char name[SEGMENT_NAME_MAX + 1];
};

struct segment_waiter {
	uint32_t word;
	uint32_t since;			/* ticket */
};

struct segment_head {
	uint32_t lock;
	uint32_t tickets;
	uint32_t next;			/* where the last thing that was made ends */
	uint32_t turns;			/* of those who look at several semaphores */
	uint32_t reserved[12];
	struct segment_waiter waiter[SEM_WAITERS];
	struct segment_entry entry[];
};

/* What is asked for, and found. */
struct segment_wish {
	enum segment_kind kind;
	const char *name;
	uint32_t bytes, a, b;
	uint32_t entry, opens;		/* found: its number, its handles */
	bool made;			/* and not found */
	unsigned char *at;
};

static inline struct segment_head *
segment_head(const struct segment *g)
{
	return (struct segment_head *)(void *)g->base;
}

/*
 * Find what has this name, or make it: `begin` fills it before anybody else finds it. It may be
 * called more than once, for who takes too long makes it anew, or finds what another one has made.
 * 0; -E_NOMEM, -E_INVAL as for newsem.
 */
int segment_find(struct segment *g, struct segment_wish *w,
	void (*begin)(struct segment_wish *w, void *arg), void *arg);

/* A handle of it is given up. 0, or an error of kfutex_wait. */
int segment_leave(struct segment *g, uint32_t entry);

/* Nobody may use the semaphore any more, from whatever handle. */
void sem_end(const struct segment *g, struct sem_state *at);

#endif
