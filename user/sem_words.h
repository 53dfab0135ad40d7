/* SPDX-License-Identifier: MIT
 *
 * The word of a semaphore, and what is done with it where nobody sleeps. Behind channel_words.h.
 */
#ifndef USER_SEM_WORDS_H
#define USER_SEM_WORDS_H

#include "segment.h"

/*
 * It is the value. Marks stand there only when that is 0: threads may sleep at the word in the
 * kernel, or stand in `listed`, who wait for several semaphores.
 */
#define SEM_ASLEEP 0x80000000u
#define SEM_LISTED 0x40000000u
#define SEM_MARKS (SEM_ASLEEP | SEM_LISTED)
#define SEM_GONE 0xffffffffu		/* the semaphore has been ended */

/* The rest of upsem, and of downsem. */
int sem_up(const struct segment *g, struct sem_state *at);
int sem_down(const struct segment *g, struct sem_state *at, uint64_t until);

/* As altsems, for semaphores whose handles are named at places `stride` bytes apart. */
struct sem_set {
	const void *first;
	size_t stride;
	int n;
};
int sem_alt(const struct sem_set *set, uint64_t until);

/* Is the value not 0? */
static inline bool
sem_is_up(uint32_t w)
{
	return w - 1 < SEM_VALUE_MAX;
}

static inline int
sem_up_quickly(const struct segment *g, struct sem_state *at)
{
	uint32_t w = word_peek(&at->word);

	return w < SEM_VALUE_MAX && word_swap_quickly(&at->word, w, w + 1) ? 0 : sem_up(g, at);
}

static inline bool
sem_down_quickly(struct sem_state *at)
{
	uint32_t w = word_peek(&at->word);

	return sem_is_up(w) && word_swap_quickly(&at->word, w, w - 1);
}

#endif
