/* SPDX-License-Identifier: MIT
 *
 * Chapter collectives: operations.
 */
#include <stdlib.h>
#include <mpi/api/check.h>
#include <mpi/core/op.h>
#include <mpi_twins_op.h>

static int
create(struct mpi_rank *self, MPI_User_function *function, int commute, MPI_Op *op)
{
	struct op *o = malloc(sizeof(*o));
	uintptr_t handle;

	if (o == NULL)
		return MPI_ERR_NO_MEM;
	*o = (struct op){function, commute != 0};
	handle = mpi_handle_new(&self->tables[HANDLE_OP], o);
	if (handle == 0) {
		free(o);
		return MPI_ERR_NO_MEM;
	}
	*op = (MPI_Op)handle;
	return MPI_SUCCESS;
}

int
PMPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op)
{
	struct mpi_rank *self = mpi_self();
	int err = check_running(self);

	if (err == MPI_SUCCESS && (user_fn == NULL || op == NULL))
		err = MPI_ERR_ARG;
	if (err == MPI_SUCCESS)
		err = create(self, user_fn, commute, op);
	return mpi_raise(self, NULL, err, "MPI_Op_create");
}

int
PMPI_Op_free(MPI_Op *op)
{
	struct mpi_rank *self = mpi_self();
	struct op *o = op ? mpi_handle_find(&self->tables[HANDLE_OP], (uintptr_t)*op) : NULL;

	if (o == NULL)
		return mpi_raise(self, NULL, op ? MPI_ERR_OP : MPI_ERR_ARG, "MPI_Op_free");
	mpi_handle_drop(&self->tables[HANDLE_OP], (uintptr_t)*op);
	free(o);
	*op = MPI_OP_NULL;
	return MPI_SUCCESS;
}

int
PMPI_Op_commutative(MPI_Op op, int *commute)
{
	struct mpi_rank *self = mpi_self();

	if (commute == NULL || !mpi_op_exists(self, op))
		return mpi_raise(self, NULL, commute ? MPI_ERR_OP : MPI_ERR_ARG, "MPI_Op_commutative");
	*commute = mpi_op_commutes(self, op);
	return MPI_SUCCESS;
}
