/* SPDX-License-Identifier: MIT
 *
 * Chapter point-to-point.
 */
#include <mpi_impl.h>
#include <mpi/core/request.h>
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/transport.h>

enum mode { STANDARD, SYNCHRONOUS };

/* A message as the program describes it. */
struct message {
	const void *buffer;
	MPI_Count count;
	const struct type *type;
	int rank;
	int tag;
	struct comm *comm;
};

#define MESSAGE_OUT(a) ((struct message){(a)->buf, (a)->count, (a)->datatype, (a)->dest, (a)->tag, (a)->comm})
#define MESSAGE_IN(a) ((struct message){(a)->buf, (a)->count, (a)->datatype, (a)->source, (a)->tag, (a)->comm})

static size_t
bytes_of(const struct message *m)
{
	return (size_t)m->count * m->type->extent;
}

static void
prepare_send(struct request *r, const struct message *m, enum mode mode)
{
	mpi_send_prepare(r, m->comm, m->buffer, bytes_of(m), m->rank, m->tag);
	r->synchronous = mode == SYNCHRONOUS;
}

static void
prepare_recv(struct request *r, const struct message *m)
{
	mpi_recv_prepare(r, m->comm, (void *)(uintptr_t)m->buffer, bytes_of(m), m->rank, m->tag);
}

/* All blocking sends. */
static int
send_now(struct mpi_rank *self, const struct message *m, enum mode mode)
{
	struct request r = {.handle = 0};

	if (m->rank == MPI_PROC_NULL)
		return MPI_SUCCESS;
	prepare_send(&r, m, mode);
	return mpi_send_bytes(self, &r);
}

int
impl_Send(struct call *call, const struct args_Send *a)
{
	return send_now(call->self, &MESSAGE_OUT(a), STANDARD);
}

int
impl_Rsend(struct call *call, const struct args_Rsend *a)
{
	return send_now(call->self, &MESSAGE_OUT(a), STANDARD);
}

int
impl_Ssend(struct call *call, const struct args_Ssend *a)
{
	return send_now(call->self, &MESSAGE_OUT(a), SYNCHRONOUS);
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
	prepare_recv(&r, &MESSAGE_IN(a));
	err = mpi_recv_bytes(call->self, &r);
	mpi_request_status(&r, a->status);
	return err;
}

/* A request that is done before it begins: a partner that does not exist. */
static void
start_null(struct request *r)
{
	r->kind = REQUEST_NULL;
	mpi_request_complete(r, MPI_SUCCESS);
}

/* All non-blocking sends. */
static int
isend(struct mpi_rank *self, const struct message *m, enum mode mode, MPI_Request *request)
{
	struct request *r = mpi_request_new(self, m->comm);

	if (r == NULL)
		return MPI_ERR_NO_MEM;
	*request = (MPI_Request)r->handle;
	if (m->rank == MPI_PROC_NULL) {
		start_null(r);
		return MPI_SUCCESS;
	}
	prepare_send(r, m, mode);
	mpi_send_start(self, r);
	return MPI_SUCCESS;
}

int
impl_Isend(struct call *call, const struct args_Isend *a)
{
	return isend(call->self, &MESSAGE_OUT(a), STANDARD, a->request);
}

int
impl_Irsend(struct call *call, const struct args_Irsend *a)
{
	return isend(call->self, &MESSAGE_OUT(a), STANDARD, a->request);
}

int
impl_Issend(struct call *call, const struct args_Issend *a)
{
	return isend(call->self, &MESSAGE_OUT(a), SYNCHRONOUS, a->request);
}

int
impl_Irecv(struct call *call, const struct args_Irecv *a)
{
	struct request *r = mpi_request_new(call->self, a->comm);

	if (r == NULL)
		return MPI_ERR_NO_MEM;
	*a->request = (MPI_Request)r->handle;
	if (a->source == MPI_PROC_NULL) {
		start_null(r);
		return MPI_SUCCESS;
	}
	prepare_recv(r, &MESSAGE_IN(a));
	mpi_recv_start(call->self, r);
	return MPI_SUCCESS;
}

/* The receive is posted first, so that two ranks that do this to each other meet. */
int
impl_Sendrecv(struct call *call, const struct args_Sendrecv *a)
{
	struct message out = {a->sendbuf, a->sendcount, a->sendtype, a->dest, a->sendtag, a->comm};
	struct message in = {a->recvbuf, a->recvcount, a->recvtype, a->source, a->recvtag, a->comm};
	struct request r = {.handle = 0};
	int err, err_in;

	if (in.rank == MPI_PROC_NULL) {
		start_null(&r);
	} else {
		prepare_recv(&r, &in);
		mpi_recv_start(call->self, &r);
	}
	err = send_now(call->self, &out, STANDARD);
	err_in = mpi_wait(call->self, &r);
	mpi_request_status(&r, a->status);
	return err != MPI_SUCCESS ? err : err_in;
}
