/* SPDX-License-Identifier: MIT
 *
 * Searching in bitmaps.
 */
#include <base/bitmap.h>
#include <base/tune.h>

/* The lowest clear bit of a word that has one: the lower half is full, or it is in there. */
static uint32_t
lowest_clear(uint32_t word)
{
	uint32_t at = 0;

	for (uint32_t half = 16; half > 0; half /= 2)
		if ((word & ((1u << half) - 1)) == (1u << half) - 1) {
			word >>= half;
			at += half;
		}
	return at;
}

int
bitmap_find_clear(const uint32_t *map, uint32_t bits, uint32_t from)
{
	uint32_t taken = (1u << from % 32) - 1;	/* bits of the first word that do not count */

	if (likely(from < bits) && likely(!bitmap_test(map, from)))
		return (int)from;

	for (uint32_t i = from / 32 * 32; i < bits; i += 32, taken = 0) {
		uint32_t word = map[i / 32] | taken;

		if (word != UINT32_MAX) {
			i += lowest_clear(word);
			return i < bits ? (int)i : -1;
		}
	}
	return -1;
}

uint32_t
bitmap_find_set(const uint32_t *map, uint32_t bits, uint32_t from)
{
	for (uint32_t i = from; i < bits; i = (i | 31) + 1) {
		uint32_t word = map[i / 32] >> i % 32;

		if (word == 0)
			continue;
		i += lowest_clear(~word);
		return i < bits ? i : bits;
	}
	return bits;
}

int
bitmap_find_clear_run(const uint32_t *map, uint32_t bits, uint32_t from, uint32_t count)
{
	uint32_t run = 0;

	for (uint32_t i = from; i < bits; i++) {
		if (run == 0 && i % 32 == 0 && map[i / 32] == UINT32_MAX) {
			i += 31;
			continue;
		}
		run = bitmap_test(map, i) ? 0 : run + 1;
		if (run == count)
			return (int)(i + 1 - count);
	}
	return -1;
}

uint32_t
bitmap_count(const uint32_t *map, uint32_t bits)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < bits; i++)
		n += bitmap_test(map, i);
	return n;
}
