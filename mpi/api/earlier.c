/* SPDX-License-Identifier: MIT
 *
 * Chapter earlier: what MPI-3.0 removed, each function by its successor.
 */
#include <mpi_impl.h>

int
impl_Address(struct call *call, const struct args_Address *a)
{
	return impl_Get_address(call, &(struct args_Get_address){.location = a->location,
		.address = a->address});
}

int
impl_Errhandler_create(struct call *call, const struct args_Errhandler_create *a)
{
	return impl_Comm_create_errhandler(call, &(struct args_Comm_create_errhandler){
		.comm_errhandler_fn = a->comm_errhandler_fn, .errhandler = a->errhandler});
}

int
impl_Errhandler_get(struct call *call, const struct args_Errhandler_get *a)
{
	return impl_Comm_get_errhandler(call, &(struct args_Comm_get_errhandler){
		.comm = a->comm, .errhandler = a->errhandler});
}

int
impl_Errhandler_set(struct call *call, const struct args_Errhandler_set *a)
{
	return impl_Comm_set_errhandler(call, &(struct args_Comm_set_errhandler){
		.comm = a->comm, .errhandler = a->errhandler});
}

int
impl_Type_extent(struct call *call, const struct args_Type_extent *a)
{
	(void)call;
	*a->extent = narrow_aint(a->datatype->extent);
	return MPI_SUCCESS;
}

int
impl_Type_lb(struct call *call, const struct args_Type_lb *a)
{
	(void)call;
	*a->displacement = narrow_aint(a->datatype->lb);
	return MPI_SUCCESS;
}

int
impl_Type_ub(struct call *call, const struct args_Type_ub *a)
{
	(void)call;
	*a->displacement = narrow_aint(a->datatype->lb + a->datatype->extent);
	return MPI_SUCCESS;
}

int
impl_Type_hvector(struct call *call, const struct args_Type_hvector *a)
{
	return impl_Type_create_hvector(call, &(struct args_Type_create_hvector){.count = a->count,
		.blocklength = a->blocklength, .stride = a->stride, .oldtype = a->oldtype,
			.newtype = a->newtype});
}

int
impl_Type_hindexed(struct call *call, const struct args_Type_hindexed *a)
{
	return impl_Type_create_hindexed(call,
		&(struct args_Type_create_hindexed){.count = a->count,
		.array_of_blocklengths = NUMBERS(a->array_of_blocklengths),
		.array_of_displacements = NUMBERS(a->array_of_displacements),
		.oldtype = a->oldtype, .newtype = a->newtype});
}

int
impl_Type_struct(struct call *call, const struct args_Type_struct *a)
{
	return impl_Type_create_struct(call, &(struct args_Type_create_struct){.count = a->count,
		.array_of_blocklengths = NUMBERS(a->array_of_blocklengths),
		.array_of_displacements = NUMBERS(a->array_of_displacements),
		.array_of_types = a->array_of_types, .newtype = a->newtype});
}
