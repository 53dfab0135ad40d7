/* SPDX-License-Identifier: MIT
 *
 * Chapter point-to-point: buffered sends and their buffers.
 */
#include <mpi_impl.h>
#include <mpi/api/buffered.h>

int
impl_Bsend(struct call *call, const struct args_Bsend *a)
{
	return buffered_send(call->self, &MESSAGE_OUT(a));
}

int
impl_Ibsend(struct call *call, const struct args_Ibsend *a)
{
	struct request *r = mpi_request_new(call->self, a->comm);
	int err = r ? buffered_send(call->self, &MESSAGE_OUT(a)) : MPI_ERR_NO_MEM;

	if (err == MPI_SUCCESS) {
		mpi_request_complete(r, MPI_SUCCESS);
		*a->request = (MPI_Request)r->handle;
	} else if (r != NULL) {
		mpi_request_free(call->self, r);
	}
	return err;
}

int
impl_Buffer_attach(struct call *call, const struct args_Buffer_attach *a)
{
	return buffered_attach(&call->self->buffer, a->buffer, a->size);
}

int
impl_Buffer_detach(struct call *call, const struct args_Buffer_detach *a)
{
	return buffered_detach(call->self, &call->self->buffer, a->buffer_addr, a->size);
}

int
impl_Buffer_flush(struct call *call, const struct args_Buffer_flush *a)
{
	(void)a;
	buffered_flush(call->self, &call->self->buffer);
	return MPI_SUCCESS;
}

int
impl_Buffer_iflush(struct call *call, const struct args_Buffer_iflush *a)
{
	return buffered_iflush(call->self, &call->self->buffer, NULL, a->request);
}

int
impl_Comm_attach_buffer(struct call *call, const struct args_Comm_attach_buffer *a)
{
	(void)call;
	return buffered_attach(&a->comm->buffer, a->buffer, a->size);
}

int
impl_Comm_detach_buffer(struct call *call, const struct args_Comm_detach_buffer *a)
{
	return buffered_detach(call->self, &a->comm->buffer, a->buffer_addr, a->size);
}

int
impl_Comm_flush_buffer(struct call *call, const struct args_Comm_flush_buffer *a)
{
	buffered_flush(call->self, &a->comm->buffer);
	return MPI_SUCCESS;
}

int
impl_Comm_iflush_buffer(struct call *call, const struct args_Comm_iflush_buffer *a)
{
	return buffered_iflush(call->self, &a->comm->buffer, a->comm, a->request);
}
