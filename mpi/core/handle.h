/* SPDX-License-Identifier: MIT
 *
 * Handles made at run time: generation | kind | index. The kind and the generation are checked at
 * each use, so that a handle of the wrong kind, a freed one or garbage is recognised. The smallest
 * such handle is larger than any predefined one (10 bits).
 */
#ifndef MPI_CORE_HANDLE_H
#define MPI_CORE_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum handle_kind {
	HANDLE_COMM = 1,
	HANDLE_GROUP,
	HANDLE_TYPE,
	HANDLE_OP,
	HANDLE_REQUEST,
	HANDLE_ERRHANDLER,
	HANDLE_INFO,
	HANDLE_MESSAGE,
	HANDLE_WIN,
	HANDLE_FILE,
	HANDLE_SESSION,
	HANDLE_KEYVAL,
	HANDLE_KINDS
};

#define HANDLE_INDEX_BITS 20
#define HANDLE_KIND_BITS 4
#define HANDLE_SHIFT (HANDLE_INDEX_BITS + HANDLE_KIND_BITS)
#define HANDLE_MAX (1u << HANDLE_INDEX_BITS)	/* objects of one kind */

struct handle_slot {
	void *object;
	/* of the handle that is valid, or of the next one; never 0 */
	uint32_t generation;
	uint32_t next_free;		/* index + 1 */
};

/* The objects of one kind. Zero-initialised but for the kind. */
struct handle_table {
	struct handle_slot *slots;
	uint32_t capacity;
	uint32_t first_free;		/* index + 1; 0: none */
	uint32_t used;
	enum handle_kind kind;
	bool narrow;			/* handles have 32 bits even where pointers have 64 */
};

/* The handle that is valid for an index, or will be next. */
static inline uintptr_t
mpi_handle_at(const struct handle_table *t, uint32_t index)
{
	return ((uintptr_t)t->slots[index].generation << (HANDLE_SHIFT - 1) << 1) |
		(uintptr_t)t->kind << HANDLE_INDEX_BITS | index;
}

/* More room. 0: no memory, or too many objects. */
int mpi_handle_grow(struct handle_table *t);

/* Give an object a handle. 0: no memory, or too many objects. */
static inline uintptr_t
mpi_handle_new(struct handle_table *t, void *object)
{
	struct handle_slot *slot;
	uint32_t index;

	if (t->first_free == 0 && mpi_handle_grow(t) != 0)
		return 0;
	index = t->first_free - 1;
	slot = &t->slots[index];
	t->first_free = slot->next_free;
	slot->object = object;
	t->used++;
	return mpi_handle_at(t, index);
}

/* Its place in the table, or NULL if it is not (or no longer) one of it. */
static inline struct handle_slot *
mpi_handle_slot(const struct handle_table *t, uintptr_t handle)
{
	uint32_t index = handle & (HANDLE_MAX - 1);

	if (index >= t->capacity || handle != mpi_handle_at(t, index) ||
		t->slots[index].object == NULL)
		return NULL;
	return &t->slots[index];
}

/* The object of a handle, or NULL if it is not (or no longer) one of this table. */
static inline void *
mpi_handle_find(const struct handle_table *t, uintptr_t handle)
{
	struct handle_slot *slot = mpi_handle_slot(t, handle);

	return slot ? slot->object : NULL;
}

/* 8 bits of generation where a handle has 32 bits, 32 where it has 64 */
static inline uint32_t
mpi_handle_generation(const struct handle_table *t, uint32_t n)
{
	uint32_t mask = t->narrow || sizeof(uintptr_t) == 4 ? (1u << (32 - HANDLE_SHIFT)) - 1 :
		0xffffffffu;

	return (n & mask) != 0 ? n & mask : 1;
}

/* Make a valid handle invalid; its index is used again with the next generation. */
static inline void
mpi_handle_drop(struct handle_table *t, uintptr_t handle)
{
	struct handle_slot *slot = mpi_handle_slot(t, handle);

	if (slot == NULL)
		return;
	slot->object = NULL;
	slot->generation = mpi_handle_generation(t, slot->generation + 1);
	slot->next_free = t->first_free;
	t->first_free = (uint32_t)(slot - t->slots) + 1;
	t->used--;
}

/*
 * The handle whose low 32 bits these are: the valid one of that index if they agree, else the
 * number itself (predefined, or not valid).
 */
uintptr_t mpi_handle_widen(const struct handle_table *t, uint32_t low);

/* Free the table itself. */
void mpi_handle_table_free(struct handle_table *t);

#endif
