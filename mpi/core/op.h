/* SPDX-License-Identifier: MIT
 *
 * Reduction operations, predefined and the program's own.
 */
#ifndef MPI_CORE_OP_H
#define MPI_CORE_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <mpi.h>
#include <mpi/core/op_pair.h>

struct mpi_rank;
struct type;

/* one the program made */
struct op {
	int references;			/* the handle, and each operation that uses it */
	MPI_User_function *function;	/* NULL: it is `large` */
	MPI_User_function_c *large;
	bool commutes;
};

/* An operation on elements of one type, ready to be applied. */
struct operation {
	void (*loop)(const void *in, void *inout, size_t n);	/* predefined */
	struct op *own;						/* the program's; held */
	/* neither: predefined, on pairs without a name */
	struct pairing pairing;
	MPI_Datatype datatype;
	MPI_Count extent;
};

/* May `op` be applied to elements of this type? MPI_SUCCESS or MPI_ERR_OP. */
int mpi_op_check(struct mpi_rank *self, MPI_Op op, MPI_Datatype type);

/* Is the operation one that a handle names? (MPI_OP_NULL is not.) */
bool mpi_op_exists(struct mpi_rank *self, MPI_Op op);

/* The loop of a predefined operation on a basic type, or NULL. */
void (*mpi_op_loop(MPI_Op op, const struct type *t))(const void *in, void *inout, size_t n);

bool mpi_op_commutes(struct mpi_rank *self, MPI_Op op);

/* A checked operation on a type; goes with mpi_op_release. */
struct operation mpi_op_bind(struct mpi_rank *self, MPI_Op op, MPI_Datatype type);
void mpi_op_release(struct operation *o);

/* Does a op b equal b op a? */
static inline bool
mpi_operation_commutes(const struct operation *o)
{
	return o->own == NULL || o->own->commutes;
}

/* inout[i] = in[i] op inout[i] */
void mpi_op_apply(const struct operation *o, const void *in, void *inout, MPI_Count count);

/* The program drops its handle. */
void mpi_op_drop(struct op *op);

#endif
