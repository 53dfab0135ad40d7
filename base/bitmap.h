/* SPDX-License-Identifier: MIT
 *
 * Bits in an array of 32-bit words. Used by one core.
 */
#ifndef BASE_BITMAP_H
#define BASE_BITMAP_H

#include <stdbool.h>
#include <stdint.h>

#define BITMAP_WORDS(bits) (((bits) + 31) / 32)

static inline bool
bitmap_test(const uint32_t *map, uint32_t bit)
{
	return (map[bit / 32] >> (bit % 32)) & 1;
}

static inline void
bitmap_set(uint32_t *map, uint32_t bit)
{
	map[bit / 32] |= (uint32_t)1 << (bit % 32);
}

static inline void
bitmap_clear(uint32_t *map, uint32_t bit)
{
	map[bit / 32] &= ~((uint32_t)1 << (bit % 32));
}

/* First clear bit of `bits` bits, from `from` on; -1 if all are set. */
int bitmap_find_clear(const uint32_t *map, uint32_t bits, uint32_t from);

/* First run of `count` clear bits, from `from` on; -1 if there is none. */
int bitmap_find_clear_run(const uint32_t *map, uint32_t bits, uint32_t from, uint32_t count);

/* First set bit of `bits` bits, from `from` on; `bits` if there is none. */
uint32_t bitmap_find_set(const uint32_t *map, uint32_t bits, uint32_t from);

/* Number of set bits. */
uint32_t bitmap_count(const uint32_t *map, uint32_t bits);

#endif
