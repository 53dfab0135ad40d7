/* SPDX-License-Identifier: MIT
 *
 * Tables of handles; they double when they are full.
 */
#include <stdlib.h>
#include <mpi/core/handle.h>

#define FIRST_CAPACITY 16
#define INDEX_MASK (HANDLE_MAX - 1)
#define NARROW_MASK ((1u << (32 - HANDLE_SHIFT)) - 1)

/* 8 bits of generation where a handle has 32 bits, 32 where it has 64 */
static uint32_t
generation_mask(const struct handle_table *t)
{
	return t->narrow || sizeof(uintptr_t) == 4 ? NARROW_MASK : 0xffffffffu;
}

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
mpi_handle_drop(struct handle_table *t, uintptr_t handle)
{
	struct handle_slot *slot = mpi_handle_slot(t, handle);

	if (slot == NULL)
		return;
	slot->object = NULL;
	slot->generation = (slot->generation + 1) & generation_mask(t);
	if (slot->generation == 0)
		slot->generation = 1;
	slot->next_free = t->first_free;
	t->first_free = (uint32_t)(slot - t->slots) + 1;
	t->used--;
}

void
mpi_handle_table_free(struct handle_table *t)
{
	free(t->slots);
	*t = (struct handle_table){.kind = t->kind, .narrow = t->narrow};
}
