/* SPDX-License-Identifier: MIT
 *
 * Searching in bitmaps.
 */
#include <base/bitmap.h>
#include <base/tune.h>

/*
 * The lowest set bit of a word that has one. Its value times a de Bruijn sequence has in its five
 * highest bits a number that belongs to this bit alone.
 */
static uint32_t
lowest_set(uint32_t word)
{
	static const uint8_t place[32] = {
		0, 1, 28, 2, 29, 14, 24, 3, 30, 22, 20, 15, 25, 17, 4, 8,
		31, 27, 13, 23, 21, 19, 16, 7, 26, 12, 18, 6, 11, 5, 10, 9};

	return place[(word & -word) * 0x077cb531u >> 27];
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
			i += lowest_set(~word);
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
		i += lowest_set(word);
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
