/* SPDX-License-Identifier: MIT
 *
 * A ring of numbers, which is the order in which they were put: any threads put them there and take
 * them. Behind channel_words.h. The user makes sure that there is room for what is put, and says
 * how many there are to take: by a semaphore's value.
 *
 * A number gets into the ring, and out of it, by one compare-and-swap of an entry; the ring's head
 * and tail are put right by whoever comes next. So nobody waits for anybody between, and whoever
 * ends there holds up nothing. Whatever stands in the memory, loops end. (tests/models/tube.pml)
 */
#ifndef USER_NUMBER_RING_H
#define USER_NUMBER_RING_H

#include <stdbool.h>
#include <atoll/number_ring.h>

#define RING_MIN 64
#define RING_TRIES 10000		/* in memory that nobody spoils, a few */

/*
 * What threads share beside the entries. Numbers are from 1 to `numbers`; 0: none. The ring has
 * more entries than that. An entry that is empty holds the number in the ring, from 0 on for ever,
 * that comes next there, less its index; a full one that and the number that was put.
 */
struct ring_ends {
	uint32_t head, tail;
};

/* Entries of a ring of that many numbers, a power of two. */
static inline uint32_t
ring_entries(uint32_t numbers)
{
	uint32_t n = RING_MIN;

	while (n <= numbers)
		n *= 2;
	return n;
}

/* The entry of a number in the ring, and what it is if it is empty. */
static inline uint32_t *
ring_entry(const struct number_ring *r, uint32_t at, uint32_t *empty)
{
	int32_t index = (int32_t)(at & r->mask);

	*empty = at - (uint32_t)index;
	return &r->entry[index];
}

/* The number gets the next entry; false: perhaps the next time. */
static inline bool
ring_put_once(const struct number_ring *r, struct ring_ends *s, uint32_t number)
{
	uint32_t at = word_peek(&s->tail), empty, *entry = ring_entry(r, at, &empty);

	if (word_swap_quickly(entry, empty, empty + number)) {
		word_swap_quickly(&s->tail, at, at + 1);
		return true;
	}
	if (word_look(entry) != empty)
		word_swap_quickly(&s->tail, at, at + 1);
	return false;
}

/* False: its memory has been spoilt. */
static inline bool
ring_put(const struct number_ring *r, struct ring_ends *s, uint32_t number)
{
	for (int i = 0; i < RING_TRIES; i++)
		if (ring_put_once(r, s, number))
			return true;
	return false;
}

/* The only thread that puts needs no swaps, where there is room. */
static inline void
ring_put_alone(const struct number_ring *r, struct ring_ends *s, uint32_t number)
{
	uint32_t at = word_peek(&s->tail), empty, *entry = ring_entry(r, at, &empty);

	word_put(entry, empty + number);
	word_put(&s->tail, at + 1);
}

/* The number that was put first; 0: there is none, or perhaps the next time. */
static inline uint32_t
ring_take_once(const struct number_ring *r, struct ring_ends *s)
{
	uint32_t at = word_peek(&s->head), empty, *entry = ring_entry(r, at, &empty);
	uint32_t w = word_peek(entry), number = w - empty;

	if (number - 1 >= r->numbers || !word_swap_quickly(entry, w, empty + r->mask + 1))
		return 0;
	word_swap_quickly(&s->head, at, at + 1);
	return number;
}

/* 0: there is none, or its memory has been spoilt. */
static inline uint32_t
ring_take(const struct number_ring *r, struct ring_ends *s)
{
	uint32_t number = 0;

	for (int i = 0; i < RING_TRIES && number == 0; i++) {
		uint32_t at = word_look(&s->head), empty, *entry = ring_entry(r, at, &empty);
		uint32_t w = word_look(entry);

		if (w - empty - 1 < r->numbers)
			number = ring_take_once(r, s);
		else if (w != empty)
			word_swap_quickly(&s->head, at, at + 1);
		else if (word_look(&s->head) == at)
			return 0;
	}
	return number;
}

/* The only thread that takes needs no swaps, where there is a number. */
static inline uint32_t
ring_take_alone(const struct number_ring *r, struct ring_ends *s)
{
	uint32_t at = word_peek(&s->head), empty, *entry = ring_entry(r, at, &empty);
	uint32_t number = word_look(entry) - empty;

	word_put(entry, empty + r->mask + 1);
	word_put(&s->head, at + 1);
	return number;
}

#endif
