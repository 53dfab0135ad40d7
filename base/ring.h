/* SPDX-License-Identifier: MIT
 *
 * Arithmetic of a ring with one producer and one consumer. Two 32-bit counters that only grow (and
 * wrap): `put` belongs to the producer, `got` to the consumer. Slots are a power of two, at most
 * 2^31. How the counters and slots become visible to the other side (publish, acquire, fences) is
 * the caller's affair:
 *	producer: acquire got; ring_is_full? ; write slot ring_slot(put) and publish it;
 *		publish put + 1
 *	consumer: acquire put; ring_is_empty? ; acquire slot ring_slot(got) and read it;
 *		publish got + 1
 */
#ifndef BASE_RING_H
#define BASE_RING_H

#include <stdbool.h>
#include <stdint.h>

static inline uint32_t
ring_used(uint32_t put, uint32_t got)
{
	return put - got;
}

static inline bool
ring_is_empty(uint32_t put, uint32_t got)
{
	return put == got;
}

static inline bool
ring_is_full(uint32_t put, uint32_t got, uint32_t slots)
{
	return put - got >= slots;
}

static inline uint32_t
ring_slot(uint32_t counter, uint32_t slots)
{
	return counter & (slots - 1);
}

/* Slots for at least n things. */
static inline uint32_t
ring_slots(uint32_t n)
{
	uint32_t slots = 1;

	while (slots < n && slots < 0x80000000u)
		slots <<= 1;
	return slots;
}

#endif
