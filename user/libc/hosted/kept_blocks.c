/* SPDX-License-Identifier: MIT
 *
 * Kept blocks: an array in the order of their arrival.
 */
#include <string.h>
#include <user/libc/hosted/kept_blocks.h>

#define WASTE_PART 8

static void *
kept_blocks_remove(struct kept_blocks *k, unsigned i)
{
	void *memory = k->block[i].memory;

	k->bytes -= k->block[i].bytes;
	k->count--;
	memmove(&k->block[i], &k->block[i + 1], (k->count - i) * sizeof(k->block[0]));
	return memory;
}

bool
kept_blocks_accept(const struct kept_blocks *k, size_t bytes)
{
	return bytes >= KEPT_LEAST && bytes <= k->most;
}

void
kept_blocks_put(struct kept_blocks *k, void *memory, size_t bytes)
{
	k->block[k->count++] = (struct kept_block){memory, bytes};
	k->bytes += bytes;
}

void *
kept_blocks_evict(struct kept_blocks *k, size_t bytes)
{
	bool fits = k->count < KEPT_BLOCKS && bytes <= k->most && k->bytes <= k->most - bytes;

	return fits || k->count == 0 ? NULL : kept_blocks_remove(k, 0);
}

void *
kept_blocks_take(struct kept_blocks *k, size_t bytes)
{
	for (unsigned i = k->count; i-- > 0;) {
		size_t room = k->block[i].bytes;

		if (room >= bytes && room - bytes <= room / WASTE_PART)
			return kept_blocks_remove(k, i);
	}
	return NULL;
}
