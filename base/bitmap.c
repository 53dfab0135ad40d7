/* SPDX-License-Identifier: MIT
 *
 * Searching in bitmaps.
 */
#include <base/bitmap.h>

int
bitmap_find_clear(const uint32_t *map, uint32_t bits, uint32_t from)
{
	for (uint32_t i = from; i < bits; i++) {
		if (i % 32 == 0 && map[i / 32] == UINT32_MAX)
			i += 31;
		else if (!bitmap_test(map, i))
			return (int)i;
	}
	return -1;
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
