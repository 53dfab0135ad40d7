/* SPDX-License-Identifier: MIT
 *
 * Chapter datatypes: what a type is, and how much of it a message holds.
 */
#include <string.h>
#include <mpi_impl.h>
#include <mpi/core/derived.h>
#include <mpi/core/request.h>

int
impl_Type_size(struct call *call, const struct args_Type_size *a)
{
	(void)call;
	*a->size = a->datatype->size;
	return MPI_SUCCESS;
}

int
impl_Type_size_x(struct call *call, const struct args_Type_size_x *a)
{
	(void)call;
	*a->size = a->datatype->size;
	return MPI_SUCCESS;
}

int
impl_Type_get_extent(struct call *call, const struct args_Type_get_extent *a)
{
	(void)call;
	*a->lb = a->datatype->lb;
	*a->extent = a->datatype->extent;
	return MPI_SUCCESS;
}

int
impl_Type_get_extent_x(struct call *call, const struct args_Type_get_extent_x *a)
{
	(void)call;
	*a->lb = a->datatype->lb;
	*a->extent = a->datatype->extent;
	return MPI_SUCCESS;
}

int
impl_Type_get_true_extent(struct call *call, const struct args_Type_get_true_extent *a)
{
	(void)call;
	*a->true_lb = a->datatype->true_lb;
	*a->true_extent = a->datatype->true_extent;
	return MPI_SUCCESS;
}

int
impl_Type_get_true_extent_x(struct call *call, const struct args_Type_get_true_extent_x *a)
{
	(void)call;
	*a->true_lb = a->datatype->true_lb;
	*a->true_extent = a->datatype->true_extent;
	return MPI_SUCCESS;
}

int
impl_Type_commit(struct call *call, const struct args_Type_commit *a)
{
	struct type *t;
	int err = call_type(call, *a->datatype, &t);

	if (err == MPI_SUCCESS && !mpi_type_is_committed(t))
		t->flags |= TYPE_COMMITTED;
	return err;
}

int
impl_Type_free(struct call *call, const struct args_Type_free *a)
{
	struct type *t;
	int err = call_type(call, *a->datatype, &t);

	if (err != MPI_SUCCESS || mpi_type_is_predefined(t))
		return MPI_ERR_TYPE;
	/* the last handle takes the attributes with it; a callback may refuse */
	if (derived_of(t)->handles == 1)
		err = mpi_attr_delete_all(call->self, &derived_of(t)->attributes,
			derived_of(t)->handle);
	if (err != MPI_SUCCESS)
		return err;
	mpi_type_take_back(call->self, t);
	*a->datatype = MPI_DATATYPE_NULL;
	return MPI_SUCCESS;
}

int
impl_Type_set_name(struct call *call, const struct args_Type_set_name *a)
{
	return mpi_type_set_name(call->self, a->datatype, a->type_name);
}

int
impl_Type_get_name(struct call *call, const struct args_Type_get_name *a)
{
	const char *name = "MPI_DATATYPE_NULL";
	struct type *t;

	if (a->datatype != MPI_DATATYPE_NULL) {
		int err = call_type(call, a->datatype, &t);

		if (err != MPI_SUCCESS)
			return err;
		name = mpi_type_name(call->self, t);
	}
	*a->resultlen = (int)strlen(name);
	memcpy(a->type_name, name, (size_t)*a->resultlen + 1);
	return MPI_SUCCESS;
}

int
impl_Get_count(struct call *call, const struct args_Get_count *a)
{
	(void)call;
	*a->count = mpi_type_elements(a->datatype, (MPI_Count)mpi_status_bytes(a->status));
	return MPI_SUCCESS;
}

int
impl_Get_elements(struct call *call, const struct args_Get_elements *a)
{
	(void)call;
	*a->count = mpi_type_basic_elements(a->datatype, (MPI_Count)mpi_status_bytes(a->status));
	return MPI_SUCCESS;
}

int
impl_Get_elements_x(struct call *call, const struct args_Get_elements_x *a)
{
	(void)call;
	*a->count = mpi_type_basic_elements(a->datatype, (MPI_Count)mpi_status_bytes(a->status));
	return MPI_SUCCESS;
}

/* The bytes that so many basic elements have go into the status. */
static int
set_elements(MPI_Status *status, const struct type *t, MPI_Count count)
{
	if (status == MPI_STATUS_IGNORE)
		return MPI_ERR_ARG;
	mpi_status_set_bytes(status, (uint64_t)mpi_type_basic_bytes(t, count));
	return MPI_SUCCESS;
}

int
impl_Status_set_elements(struct call *call, const struct args_Status_set_elements *a)
{
	(void)call;
	return set_elements(a->status, a->datatype, a->count);
}

int
impl_Status_set_elements_x(struct call *call, const struct args_Status_set_elements_x *a)
{
	(void)call;
	return set_elements(a->status, a->datatype, a->count);
}

int
impl_Get_address(struct call *call, const struct args_Get_address *a)
{
	(void)call;
	*a->address = (MPI_Aint)a->location;
	return MPI_SUCCESS;
}

MPI_Aint
impl_Aint_add(MPI_Aint base, MPI_Aint disp)
{
	return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}

MPI_Aint
impl_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
	return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}
