/* SPDX-License-Identifier: MIT
 *
 * Datatypes. A predefined type is an entry of a constant table, found by its handle alone; a
 * derived type has a handle of the table HANDLE_TYPE. Both are a struct type, which says what a
 * transfer needs to know; its shape says where the data lies.
 *
 * A derived type is kept by its handle, by the types made of it and by pending operations.
 */
#ifndef MPI_CORE_TYPE_H
#define MPI_CORE_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <mpi.h>
#include <mpi/core/shape.h>

struct mpi_rank;

/* representation of a predefined type, for operations */
enum basic {
	BASIC_NONE,			/* only moved, never computed with; all derived types */
	BASIC_I8, BASIC_I16, BASIC_I32, BASIC_I64,
	BASIC_U8, BASIC_U16, BASIC_U32, BASIC_U64,
	BASIC_F32, BASIC_F64, BASIC_FLD,
	BASIC_C32, BASIC_C64, BASIC_CLD,
	BASIC_BYTE,
	/* a character: no number, but operations of whole numbers take it */
	BASIC_CHAR,
	BASIC_BOOL,
	BASIC_LOGICAL8, BASIC_LOGICAL16, BASIC_LOGICAL32, BASIC_LOGICAL64,
	BASIC_FLOAT_INT, BASIC_DOUBLE_INT, BASIC_LONG_INT, BASIC_2INT, BASIC_SHORT_INT,
	BASIC_LD_INT,
	BASIC_2F32, BASIC_2F64,
	BASIC_COUNT
};

enum type_flag {
	TYPE_DEFINED = 1,
	TYPE_PREDEFINED = 2,		/* an entry of the table */
	/* any number of elements is one piece of memory, in order, from true_lb on */
	TYPE_PLAIN = 4,
	TYPE_COMMITTED = 8,
	/* predefined without a name (Fortran's by precision): has a handle, cannot be freed */
	TYPE_UNNAMED = 16,
};

struct type {
	MPI_Count size;			/* bytes of data */
	MPI_Count extent;		/* from one element to the next */
	MPI_Count lb;
	MPI_Count true_lb;
	MPI_Count true_extent;
	uint8_t flags;			/* enum type_flag */
	uint8_t basic;			/* enum basic */
	uint8_t rep;			/* predefined: enum rep, which names the shape */
	uint8_t align;			/* bytes */
};

/*
 * The predefined ones; the handles of nearly all of them lie side by side, and are their places in
 * the table. Places without a type are zero.
 */
#define TYPES_FIRST 0x200
#define TYPES_HOLE 0x260
extern const struct type mpi_predefined_types[];

/* What a handle from there stands for, without a call; NULL: ask mpi_type_find. */
static inline const struct type *
mpi_type_basic(MPI_Datatype handle)
{
	uintptr_t slot = (uintptr_t)handle - TYPES_FIRST;

	return slot < TYPES_HOLE - TYPES_FIRST ? &mpi_predefined_types[slot] : NULL;
}

/* The type of a handle, or NULL if there is none. */
struct type *mpi_type_find(MPI_Datatype handle);

/*
 * The handle of a type, to be passed on; a derived one that has none (any more) gets one.
 * MPI_DATATYPE_NULL: no memory.
 */
MPI_Datatype mpi_type_handle(struct mpi_rank *self, struct type *t);

/* The same for a predefined type of the table. */
MPI_Datatype mpi_type_predefined_handle(const struct type *t);

const struct shape *mpi_type_shape(const struct type *t);

/* A derived type lives while it is held; predefined ones always do. */
struct type *mpi_type_hold(struct type *t);
void mpi_type_release(struct type *t);

static inline bool
mpi_type_is_plain(const struct type *t)
{
	return t->flags & TYPE_PLAIN;
}

static inline bool
mpi_type_is_committed(const struct type *t)
{
	return t->flags & TYPE_COMMITTED;
}

static inline bool
mpi_type_is_predefined(const struct type *t)
{
	return t->flags & (TYPE_PREDEFINED | TYPE_UNNAMED);
}

/*
 * Does an element lie near the address that the program names? (Not if its displacements are
 * absolute addresses.)
 */
static inline bool
mpi_type_needs_buffer(const struct type *t)
{
	return t->size > 0 && t->true_lb > -4096 && t->true_lb < 4096;
}

/* Bytes of data of `count` elements: false if they cannot be counted. */
static inline bool
mpi_type_bytes(const struct type *t, MPI_Count count, MPI_Count *bytes)
{
	return !__builtin_mul_overflow(count, t->size, bytes);
}

/* Free what the rank keeps of types. */
void mpi_type_exit(struct mpi_rank *self);

/*
 * Memory from the first to the last byte of `count` elements: its length, and where it begins
 * relative to the buffer.
 */
MPI_Count mpi_type_span(const struct type *t, MPI_Count count, MPI_Count *begin);

/*
 * Move the `bytes` bytes from `position` on of the data of so many elements as it takes: from a
 * buffer to `out`, or from `in` to a buffer.
 */
void mpi_type_pack(const struct type *t, const void *buffer, MPI_Count position, void *out,
	MPI_Count bytes);
void mpi_type_unpack(const struct type *t, void *buffer, MPI_Count position, const void *in,
	MPI_Count bytes);

/*
 * Copy so many bytes of data from elements of one type to elements of another one. The buffers do
 * not overlap.
 */
void mpi_type_copy(const struct type *to, void *to_buffer, const struct type *from,
	const void *from_buffer, MPI_Count bytes);

/*
 * Elements, and basic elements, in `bytes` bytes of data; MPI_UNDEFINED if they are no whole
 * number.
 */
MPI_Count mpi_type_elements(const struct type *t, MPI_Count bytes);
MPI_Count mpi_type_basic_elements(const struct type *t, MPI_Count bytes);

/* Bytes of so many basic elements. */
MPI_Count mpi_type_basic_bytes(const struct type *t, MPI_Count elements);

/* Do two types have the same sequence of basic elements, so many elements each? */
bool mpi_type_signature_equal(const struct type *a, MPI_Count a_count, const struct type *b,
	MPI_Count b_count);

#endif
