/* SPDX-License-Identifier: MIT
 *
 * The loops of the predefined operations, by operation and representation.
 */
#ifndef MPI_CORE_OP_LOOPS_H
#define MPI_CORE_OP_LOOPS_H

#include <stddef.h>
#include <mpi/core/type.h>

enum op_row {
	OP_NONE, OP_SUM, OP_MIN, OP_MAX, OP_PROD, OP_BAND, OP_BOR, OP_BXOR, OP_LAND, OP_LOR,
		OP_LXOR, OP_MINLOC, OP_MAXLOC,
	OP_REPLACE, OP_NO_OP, OP_ROWS
};

/*
 * inout[i] = in[i] op inout[i], n elements; NULL where the operation is not defined for the
 * representation
 */
extern void (*const mpi_op_loops[OP_ROWS][BASIC_COUNT])(const void *in, void *inout, size_t n);

#endif
