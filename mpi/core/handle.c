/* SPDX-License-Identifier: MIT
 *
 * Tables of handles; they double when they are full.
 */
#include <stdlib.h>
#include <mpi/core/handle.h>

#define FIRST_CAPACITY 16
#define INDEX_MASK (HANDLE_MAX - 1)
#define KIND_MASK ((1u << HANDLE_KIND_BITS) - 1)
#define NARROW_MASK ((1u << (32 - HANDLE_SHIFT)) - 1)

/* 8 bits of generation where a handle has 32 bits, 32 where it has 64 */
static uint32_t
generation_mask(const struct handle_table *t)
{
	return t->narrow || sizeof(uintptr_t) == 4 ? NARROW_MASK : 0xffffffffu;
}

static int
grow(struct handle_table *t)
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

/* The handle that is valid for an index, or will be next. */
static uintptr_t
handle_at(const struct handle_table *t, uint32_t index)
{
	return ((uintptr_t)t->slots[index].generation << (HANDLE_SHIFT - 1) << 1) | (uintptr_t)t->kind << HANDLE_INDEX_BITS | index;
}

uintptr_t
mpi_handle_new(struct handle_table *t, void *object)
{
	struct handle_slot *slot;
	uint32_t index;

	if (t->first_free == 0 && grow(t) != 0)
		return 0;
	index = t->first_free - 1;
	slot = &t->slots[index];
	t->first_free = slot->next_free;
	slot->object = object;
	t->used++;
	return handle_at(t, index);
}

static struct handle_slot *
slot_of(const struct handle_table *t, uintptr_t handle)
{
	uint32_t index = handle & INDEX_MASK;

	if (index >= t->capacity || (handle >> HANDLE_INDEX_BITS & KIND_MASK) != (uintptr_t)t->kind)
		return NULL;
	if (handle >> HANDLE_SHIFT != t->slots[index].generation || t->slots[index].object == NULL)
		return NULL;
	return &t->slots[index];
}

void *
mpi_handle_find(const struct handle_table *t, uintptr_t handle)
{
	struct handle_slot *slot = slot_of(t, handle);

	return slot ? slot->object : NULL;
}

uintptr_t
mpi_handle_widen(const struct handle_table *t, uint32_t low)
{
	uint32_t index = low & INDEX_MASK;

	if (index >= t->capacity || (uint32_t)handle_at(t, index) != low)
		return low;
	return handle_at(t, index);
}

void
mpi_handle_drop(struct handle_table *t, uintptr_t handle)
{
	struct handle_slot *slot = slot_of(t, handle);

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
