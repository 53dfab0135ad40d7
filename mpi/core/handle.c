/* SPDX-License-Identifier: MIT
 *
 * Tables of handles; they double when they are full.
 */
#include <stdlib.h>
#include <mpi/core/handle.h>

#define FIRST_CAPACITY 16
#define INDEX_MASK (HANDLE_MAX - 1)

int
mpi_handle_grow(struct handle_table *t)
{
	uint32_t capacity = t->capacity ? 2 * t->capacity : FIRST_CAPACITY;
	struct handle_slot *slots;

	if (capacity > HANDLE_MAX)
		return -1;
	slots = realloc(t->slots, capacity * sizeof(*slots));
	if (slots == NULL)
		return -1;
	for (uint32_t i = capacity; i > t->capacity; i--) {
		slots[i - 1] = (struct handle_slot){.generation = 1, .next_free = t->first_free};
		t->first_free = i;
	}
	t->slots = slots;
	t->capacity = capacity;
	return 0;
}

uintptr_t
mpi_handle_widen(const struct handle_table *t, uint32_t low)
{
	uint32_t index = low & INDEX_MASK;

	if (index >= t->capacity || (uint32_t)mpi_handle_at(t, index) != low)
		return low;
	return mpi_handle_at(t, index);
}

void
mpi_handle_table_free(struct handle_table *t)
{
	free(t->slots);
	*t = (struct handle_table){.kind = t->kind, .narrow = t->narrow};
}
