/* SPDX-License-Identifier: MIT
 *
 * Reduction operations, predefined and the program's own.
 */
#ifndef MPI_CORE_OP_H
#define MPI_CORE_OP_H

#include <stdbool.h>
#include <stdint.h>
#include <mpi.h>

struct mpi_rank;

/* one the program made */
struct op {
	MPI_User_function *function;
	bool commutes;
};

/* May `op` be applied to elements of this type? MPI_SUCCESS or MPI_ERR_OP. */
int mpi_op_check(struct mpi_rank *self, MPI_Op op, MPI_Datatype type);

/* Is the operation one that a handle names? (MPI_OP_NULL is not.) */
bool mpi_op_exists(struct mpi_rank *self, MPI_Op op);

bool mpi_op_commutes(struct mpi_rank *self, MPI_Op op);

/* inout[i] = in[i] op inout[i]. The caller has checked op and type. */
void mpi_op_apply(struct mpi_rank *self, MPI_Op op, const void *in, void *inout, int count, MPI_Datatype type);

#endif
