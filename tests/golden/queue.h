/* SPDX-License-Identifier: MIT
 *
 * The naive queue, oracle of everything that is served first come, first served: who was first in
 * is first out, once.
 */
#ifndef GOLDEN_QUEUE_H
#define GOLDEN_QUEUE_H

#include <stdbool.h>

#define GOLDEN_QUEUE_MAX 4096

struct golden_queue {
	unsigned first, count;
	unsigned entry[GOLDEN_QUEUE_MAX];
};

static inline void
golden_queue_init(struct golden_queue *q)
{
	q->first = q->count = 0;
}

static inline bool
golden_queue_put(struct golden_queue *q, unsigned who)
{
	if (q->count == GOLDEN_QUEUE_MAX)
		return false;
	q->entry[q->count++] = who;
	return true;
}

/* Is it this one's turn? Takes it if so. */
static inline bool
golden_queue_take(struct golden_queue *q, unsigned who)
{
	if (q->first == q->count || q->entry[q->first] != who)
		return false;
	q->first++;
	return true;
}

#endif
