/* SPDX-License-Identifier: MIT
 *
 * Bounce slots. Used in turn, so that the one tried first is the one that was given away longest ago.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi/core/shared.h>
#include <mpi/pt2pt/bounce.h>
#include <mpi/transport/packet.h>

int
mpi_bounce_put(struct bounce *b, const void *data, size_t len)
{
	unsigned slot = b->next;

	if (b->data[slot] == NULL) {
		b->data[slot] = malloc(BOUNCE_BYTES);
		if (b->data[slot] == NULL)
			return -1;
	} else if (load_acquire(&b->free[slot]) == 0) {
		return -1;
	}
	store_relaxed(&b->free[slot], 0);
	bytes_copy(b->data[slot], data, len);
	b->next = (slot + 1) % BOUNCE_SLOTS;
	return (int)slot;
}

void
mpi_bounce_undo(struct bounce *b, int slot)
{
	if (slot < 0)
		return;
	store_relaxed(&b->free[slot], 1);
	b->next = (unsigned)slot;
}

void
mpi_bounce_exit(struct bounce *b)
{
	for (int i = 0; i < BOUNCE_SLOTS; i++)
		free(b->data[i]);
	memset(b, 0, sizeof(*b));
}
