/* SPDX-License-Identifier: MIT
 *
 * Chapter statuses: what a program reads from and writes into them.
 */
#include <mpi_impl.h>
#include <mpi/core/request.h>

int
impl_Test_cancelled(struct call *call, const struct args_Test_cancelled *a)
{
	(void)call;
	*a->flag = mpi_status_is_cancelled(a->status);
	return MPI_SUCCESS;
}

int
impl_Status_set_cancelled(struct call *call, const struct args_Status_set_cancelled *a)
{
	(void)call;
	if (a->status == MPI_STATUS_IGNORE)
		return MPI_ERR_ARG;
	mpi_status_set_cancelled(a->status, a->flag != 0);
	return MPI_SUCCESS;
}

int
impl_Status_get_source(struct call *call, const struct args_Status_get_source *a)
{
	(void)call;
	*a->source = a->status->MPI_SOURCE;
	return MPI_SUCCESS;
}

int
impl_Status_get_tag(struct call *call, const struct args_Status_get_tag *a)
{
	(void)call;
	*a->tag = a->status->MPI_TAG;
	return MPI_SUCCESS;
}

int
impl_Status_get_error(struct call *call, const struct args_Status_get_error *a)
{
	(void)call;
	*a->error = a->status->MPI_ERROR;
	return MPI_SUCCESS;
}

int
impl_Status_set_source(struct call *call, const struct args_Status_set_source *a)
{
	(void)call;
	if (a->status == MPI_STATUS_IGNORE)
		return MPI_ERR_ARG;
	a->status->MPI_SOURCE = a->source;
	return MPI_SUCCESS;
}

int
impl_Status_set_tag(struct call *call, const struct args_Status_set_tag *a)
{
	(void)call;
	if (a->status == MPI_STATUS_IGNORE)
		return MPI_ERR_ARG;
	a->status->MPI_TAG = a->tag;
	return MPI_SUCCESS;
}

int
impl_Status_set_error(struct call *call, const struct args_Status_set_error *a)
{
	(void)call;
	if (a->status == MPI_STATUS_IGNORE)
		return MPI_ERR_ARG;
	a->status->MPI_ERROR = a->error;
	return MPI_SUCCESS;
}
