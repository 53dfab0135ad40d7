/* SPDX-License-Identifier: MIT
 *
 * Datatypes. The predefined ones are a constant table indexed by their handle; what the operations need to know of them is `basic`.
 */
#ifndef MPI_CORE_TYPE_H
#define MPI_CORE_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <mpi.h>

/* representation of a predefined type */
enum basic {
	BASIC_NONE,			/* only moved, never computed with */
	BASIC_I8, BASIC_I16, BASIC_I32, BASIC_I64,
	BASIC_U8, BASIC_U16, BASIC_U32, BASIC_U64,
	BASIC_F32, BASIC_F64, BASIC_FLD,
	BASIC_C32, BASIC_C64, BASIC_CLD,
	BASIC_BYTE,
	BASIC_BOOL,
	BASIC_LOGICAL8, BASIC_LOGICAL16, BASIC_LOGICAL32, BASIC_LOGICAL64,
	BASIC_FLOAT_INT, BASIC_DOUBLE_INT, BASIC_LONG_INT, BASIC_2INT, BASIC_SHORT_INT, BASIC_LD_INT,
	BASIC_2F32, BASIC_2F64,
	BASIC_COUNT
};

struct type {
	uint16_t size;			/* bytes of data */
	uint16_t extent;		/* from one element to the next */
	uint8_t basic;
	uint8_t defined;
};

/* Does an element lie near the address that the program names? (Not if its displacements are absolute addresses.) */
static inline bool
mpi_type_needs_buffer(const struct type *t)
{
	return t->size > 0;
}

/* The type of a handle, or NULL if there is none. */
const struct type *mpi_type_find(MPI_Datatype handle);

#endif
