/* SPDX-License-Identifier: MIT
 *
 * Chapter point-to-point: partitioned communication.
 */
#include <mpi_impl.h>
#include <mpi/api/parts.h>
#include <mpi/pt2pt/pt2pt.h>

int
impl_Psend_init(struct call *call, const struct args_Psend_init *a)
{
	struct request *r;
	int err = a->partitions < 0 ? MPI_ERR_ARG :
		parts_send(call->self, &MESSAGE_OUT(a), a->partitions, &r);

	if (err == MPI_SUCCESS)
		*a->request = (MPI_Request)r->handle;
	return err;
}

int
impl_Precv_init(struct call *call, const struct args_Precv_init *a)
{
	struct request *r;
	int err = a->partitions < 0 ? MPI_ERR_ARG :
		parts_recv(call->self, &MESSAGE_OUT(a), a->partitions, &r);

	if (err == MPI_SUCCESS)
		*a->request = (MPI_Request)r->handle;
	return err;
}

/* A request of this class, or NULL; its communicator gets errors. */
static struct request *
partitioned_find(struct call *call, MPI_Request handle, const struct request_class *class)
{
	struct request *r = mpi_request_find(call->self, handle);

	if (r != NULL)
		call->comm = r->comm;
	return r != NULL && r->class == class ? r : NULL;
}

/* Of a send that was started, or NULL. */
static struct parts *
sending(struct call *call, MPI_Request handle)
{
	struct request *r = partitioned_find(call, handle, &parts_send_class);

	return mpi_request_is_active(r) ? r->own : NULL;
}

int
impl_Pready(struct call *call, const struct args_Pready *a)
{
	struct parts *p = sending(call, a->request);

	if (p == NULL)
		return MPI_ERR_REQUEST;
	if (!parts_may_be_ready(p, a->partition))
		return MPI_ERR_ARG;
	parts_ready(call->self, p, a->partition);
	return MPI_SUCCESS;
}

int
impl_Pready_range(struct call *call, const struct args_Pready_range *a)
{
	struct parts *p = sending(call, a->request);

	if (p == NULL)
		return MPI_ERR_REQUEST;
	if (a->partition_low > a->partition_high || a->partition_low < 0 ||
		a->partition_high >= p->partitions)
		return MPI_ERR_ARG;
	for (int i = a->partition_low; i <= a->partition_high; i++)
		if (!parts_may_be_ready(p, i))
			return MPI_ERR_ARG;
	for (int i = a->partition_low; i <= a->partition_high; i++)
		parts_ready(call->self, p, i);
	return MPI_SUCCESS;
}

/* Each may be there once. */
static bool
list_may_be_marked(struct parts *p, const int *list, int length)
{
	int i = 0;

	while (i < length && parts_may_be_ready(p, list[i]))
		p->marks[list[i++]] = true;
	for (int k = 0; k < i; k++)
		p->marks[list[k]] = false;
	return i == length;
}

int
impl_Pready_list(struct call *call, const struct args_Pready_list *a)
{
	struct parts *p = sending(call, a->request);

	if (p == NULL)
		return MPI_ERR_REQUEST;
	if (a->length < 0 || (a->length > 0 && a->array_of_partitions == NULL))
		return MPI_ERR_ARG;
	if (!list_may_be_marked(p, a->array_of_partitions, a->length))
		return MPI_ERR_ARG;
	for (int i = 0; i < a->length; i++)
		parts_ready(call->self, p, a->array_of_partitions[i]);
	return MPI_SUCCESS;
}

int
impl_Parrived(struct call *call, const struct args_Parrived *a)
{
	struct request *r = partitioned_find(call, a->request, &parts_recv_class);
	struct parts *p;

	if (a->request != MPI_REQUEST_NULL && r == NULL)
		return MPI_ERR_REQUEST;
	*a->flag = 1;
	if (r == NULL)
		return MPI_SUCCESS;
	p = r->own;
	if (a->partition < 0 || a->partition >= p->partitions)
		return MPI_ERR_ARG;
	if (!mpi_request_is_active(r) || parts_are_null(p) || mpi_request_is_done(r) ||
			parts_have_arrived(p, a->partition))
		return MPI_SUCCESS;
	mpi_progress(call->self);
	*a->flag = mpi_request_is_done(r) || parts_have_arrived(p, a->partition);
	if (!*a->flag)
		mpi_relax(call->self);
	return MPI_SUCCESS;
}
