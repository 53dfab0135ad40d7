/* SPDX-License-Identifier: MIT
 *
 * The naive sync point, oracle of the randomised tests: a place for one signal of each of those who
 * signal. Whoever waits takes them when all are there.
 */
#ifndef GOLDEN_SYNC_H
#define GOLDEN_SYNC_H

#include <stdbool.h>
#include <stdint.h>

struct golden_sync {
	uint32_t wanted;		/* a bit each */
	uint32_t pending;
};

/* False: the last one was not taken. */
static inline bool
golden_sync_signal(struct golden_sync *s, unsigned from)
{
	bool may = !(s->pending >> from & 1);

	s->pending |= 1u << from;
	return may;
}

static inline bool
golden_sync_take(struct golden_sync *s)
{
	if (s->pending != s->wanted)
		return false;
	s->pending = 0;
	return true;
}

#endif
