/* SPDX-License-Identifier: MIT
 *
 * Chapter operations.
 */
#include <stdlib.h>
#include <mpi_impl.h>
#include <mpi/core/op.h>

int
impl_Op_create(struct call *call, const struct args_Op_create *a)
{
	struct op *o = a->user_fn ? malloc(sizeof(*o)) : NULL;
	uintptr_t handle;

	if (o == NULL)
		return a->user_fn ? MPI_ERR_NO_MEM : MPI_ERR_ARG;
	*o = (struct op){.references = 1, .commutes = a->commute != 0};
	if (call->large)
		o->large = (MPI_User_function_c *)a->user_fn;
	else
		o->function = (MPI_User_function *)a->user_fn;
	handle = mpi_handle_new(&call->self->tables[HANDLE_OP], o);
	if (handle == 0) {
		free(o);
		return MPI_ERR_NO_MEM;
	}
	*a->op = (MPI_Op)handle;
	return MPI_SUCCESS;
}

int
impl_Op_free(struct call *call, const struct args_Op_free *a)
{
	struct handle_table *table = &call->self->tables[HANDLE_OP];
	struct op *o = mpi_handle_find(table, (uintptr_t)*a->op);

	if (o == NULL)
		return MPI_ERR_OP;
	mpi_handle_drop(table, (uintptr_t)*a->op);
	mpi_op_drop(o);
	*a->op = MPI_OP_NULL;
	return MPI_SUCCESS;
}

int
impl_Op_commutative(struct call *call, const struct args_Op_commutative *a)
{
	*a->commute = mpi_op_commutes(call->self, a->op);
	return MPI_SUCCESS;
}
