/* SPDX-License-Identifier: MIT
 *
 * Chapter point-to-point: standard, synchronous and ready sends, and receives.
 */
#include <mpi_impl.h>
#include <mpi/api/message.h>
#include <mpi/pt2pt/pt2pt.h>

int
impl_Send(struct call *call, const struct args_Send *a)
{
	return message_send(call->self, &MESSAGE_OUT(a), STANDARD);
}

int
impl_Rsend(struct call *call, const struct args_Rsend *a)
{
	return message_send(call->self, &MESSAGE_OUT(a), STANDARD);
}

int
impl_Ssend(struct call *call, const struct args_Ssend *a)
{
	return message_send(call->self, &MESSAGE_OUT(a), SYNCHRONOUS);
}

int
impl_Recv(struct call *call, const struct args_Recv *a)
{
	struct request r = {.handle = 0};
	int err;

	if (a->source == MPI_PROC_NULL) {
		mpi_status_null(a->status);
		return MPI_SUCCESS;
	}
	message_prepare_recv(&r, &MESSAGE_IN(a));
	err = mpi_recv_bytes(call->self, &r);
	mpi_request_status(&r, a->status);
	return err;
}

int
impl_Isend(struct call *call, const struct args_Isend *a)
{
	return message_isend(call->self, &MESSAGE_OUT(a), STANDARD, a->request);
}

int
impl_Irsend(struct call *call, const struct args_Irsend *a)
{
	return message_isend(call->self, &MESSAGE_OUT(a), STANDARD, a->request);
}

int
impl_Issend(struct call *call, const struct args_Issend *a)
{
	return message_isend(call->self, &MESSAGE_OUT(a), SYNCHRONOUS, a->request);
}

int
impl_Irecv(struct call *call, const struct args_Irecv *a)
{
	return message_irecv(call->self, &MESSAGE_IN(a), a->request);
}
