/* SPDX-License-Identifier: MIT
 *
 * Chapter datatypes.
 */
#include <mpi_impl.h>
#include <mpi/core/request.h>

int
impl_Type_size(struct call *call, const struct args_Type_size *a)
{
	(void)call;
	*a->size = a->datatype->size;
	return MPI_SUCCESS;
}

int
impl_Type_get_extent(struct call *call, const struct args_Type_get_extent *a)
{
	(void)call;
	*a->lb = 0;
	*a->extent = a->datatype->extent;
	return MPI_SUCCESS;
}

/* Elements of a type in a received message; MPI_UNDEFINED if it is no whole number. */
static MPI_Count
elements(const MPI_Status *status, const struct type *t)
{
	uint64_t bytes = mpi_status_bytes(status);

	return bytes % t->extent == 0 ? (MPI_Count)(bytes / t->extent) : MPI_UNDEFINED;
}

int
impl_Get_count(struct call *call, const struct args_Get_count *a)
{
	(void)call;
	*a->count = elements(a->status, a->datatype);
	return MPI_SUCCESS;
}

int
impl_Get_elements(struct call *call, const struct args_Get_elements *a)
{
	MPI_Count count = elements(a->status, a->datatype);

	(void)call;
	/* a pair is two basic elements */
	*a->count = a->datatype->basic >= BASIC_FLOAT_INT && count != MPI_UNDEFINED ? 2 * count : count;
	return MPI_SUCCESS;
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
