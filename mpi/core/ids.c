/* SPDX-License-Identifier: MIT
 *
 * Numbers of communicators.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi/core/ids.h>

static bool
grow(uint64_t **bits, uint32_t from, uint32_t to)
{
	uint64_t *more = realloc(*bits, (size_t)to * IDS_WORDS * sizeof(*more));

	if (more == NULL)
		return false;
	memset(more + (size_t)from * IDS_WORDS, 0, (size_t)(to - from) * IDS_WORDS * sizeof(*more));
	*bits = more;
	return true;
}

/* Make room for a window. */
static bool
reach(struct ids *ids, uint32_t window)
{
	uint32_t windows = ids->windows ? ids->windows : 1;

	if (window < ids->windows)
		return true;
	while (windows <= window)
		windows *= 2;
	if (!grow(&ids->used, ids->windows, windows) || !grow(&ids->offered, ids->windows, windows))
		return false;
	ids->windows = windows;
	return true;
}

bool
mpi_ids_offer(struct ids *ids, uint32_t window, uint64_t bits[IDS_WORDS])
{
	uint64_t *used, *offered;

	memset(bits, 0, IDS_WORDS * sizeof(*bits));
	if (window >= IDS_WINDOWS || !reach(ids, window))
		return false;
	used = ids->used + (size_t)window * IDS_WORDS;
	offered = ids->offered + (size_t)window * IDS_WORDS;
	for (int i = 0; i < IDS_WORDS; i++) {
		bits[i] = ~used[i] & ~offered[i];
		offered[i] |= bits[i];
	}
	return true;
}

void
mpi_ids_settle(struct ids *ids, uint32_t window, const uint64_t bits[IDS_WORDS], int32_t chosen)
{
	if (window < ids->windows)
		for (int i = 0; i < IDS_WORDS; i++)
			ids->offered[(size_t)window * IDS_WORDS + (size_t)i] &= ~bits[i];
	if (chosen >= 0)
		mpi_ids_take(ids, chosen);
}

uint32_t
mpi_ids_next(const struct ids *ids, uint32_t window)
{
	for (window++; window < ids->windows; window++)
		for (int i = 0; i < IDS_WORDS; i++)
			if (~(ids->used[(size_t)window * IDS_WORDS + (size_t)i] |
					ids->offered[(size_t)window * IDS_WORDS + (size_t)i]))
				return window;
	return window;
}

int32_t
mpi_ids_lowest(uint32_t window, const uint64_t bits[IDS_WORDS])
{
	for (int i = 0; i < IDS_WORDS; i++)
		if (bits[i] != 0)
			return (int32_t)(window * IDS_WINDOW + (uint32_t)i * 64 +
				(uint32_t)__builtin_ctzll(bits[i]));
	return -1;
}

bool
mpi_ids_take(struct ids *ids, int32_t id)
{
	if (!reach(ids, (uint32_t)id / IDS_WINDOW))
		return false;
	ids->used[id / 64] |= (uint64_t)1 << id % 64;
	return true;
}

void
mpi_ids_give_back(struct ids *ids, int32_t id)
{
	if ((uint32_t)id / IDS_WINDOW < ids->windows)
		ids->used[id / 64] &= ~((uint64_t)1 << id % 64);
}

void
mpi_ids_exit(struct ids *ids)
{
	free(ids->used);
	free(ids->offered);
	*ids = (struct ids){0};
}
