/* SPDX-License-Identifier: MIT
 *
 * Chapter datatypes.
 */
#include <limits.h>
#include <mpi/api/check.h>
#include <mpi/core/request.h>
#include <mpi_twins_type.h>

int
PMPI_Type_size(MPI_Datatype datatype, int *size)
{
	const struct type *t = mpi_type_find(datatype);

	if (t == NULL || size == NULL)
		return mpi_raise(mpi_self(), NULL, t ? MPI_ERR_ARG : MPI_ERR_TYPE, "MPI_Type_size");
	*size = t->size;
	return MPI_SUCCESS;
}

int
PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{
	const struct type *t = mpi_type_find(datatype);

	if (t == NULL || lb == NULL || extent == NULL)
		return mpi_raise(mpi_self(), NULL, t ? MPI_ERR_ARG : MPI_ERR_TYPE, "MPI_Type_get_extent");
	*lb = 0;
	*extent = t->extent;
	return MPI_SUCCESS;
}

/* Elements of a type in a received message; MPI_UNDEFINED if it is no whole number, or too large a one. */
static int
elements(const MPI_Status *status, const struct type *t)
{
	uint64_t bytes = mpi_status_bytes(status);

	if (bytes % t->extent != 0 || bytes / t->extent > INT_MAX)
		return MPI_UNDEFINED;
	return (int)(bytes / t->extent);
}

static int
get_count(const MPI_Status *status, MPI_Datatype datatype, int *count, const char *function)
{
	const struct type *t = mpi_type_find(datatype);

	if (t == NULL || status == NULL || count == NULL)
		return mpi_raise(mpi_self(), NULL, t ? MPI_ERR_ARG : MPI_ERR_TYPE, function);
	*count = elements(status, t);
	return MPI_SUCCESS;
}

int
PMPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
	return get_count(status, datatype, count, "MPI_Get_count");
}

int
PMPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
	int err = get_count(status, datatype, count, "MPI_Get_elements");
	const struct type *t = mpi_type_find(datatype);

	/* a pair is two basic elements */
	if (err == MPI_SUCCESS && t->basic >= BASIC_FLOAT_INT && *count != MPI_UNDEFINED)
		*count *= 2;
	return err;
}

int
PMPI_Get_address(const void *location, MPI_Aint *address)
{
	if (address == NULL)
		return mpi_raise(mpi_self(), NULL, MPI_ERR_ARG, "MPI_Get_address");
	*address = (MPI_Aint)location;
	return MPI_SUCCESS;
}
