/* SPDX-License-Identifier: MIT
 *
 * Chapter point-to-point.
 */
#include <mpi/api/check.h>
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/transport.h>
#include <mpi_twins_pt2pt.h>

enum mode { STANDARD, SYNCHRONOUS };

static int
send_now(struct mpi_rank *self, struct comm *c, const struct message *m, enum mode mode)
{
	struct request r = {.handle = 0};

	if (m->rank == MPI_PROC_NULL)
		return MPI_SUCCESS;
	mpi_send_prepare(&r, c, m->buffer, m->bytes, m->rank, m->tag);
	r.synchronous = mode == SYNCHRONOUS;
	return mpi_send_bytes(self, &r);
}

/* All blocking sends. */
static int
blocking_send(struct message *m, MPI_Comm comm, enum mode mode, const char *function)
{
	struct mpi_rank *self = mpi_self();
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_send(c, m);
	if (err == MPI_SUCCESS)
		err = send_now(self, c, m, mode);
	return mpi_raise(self, c, err, function);
}

int
PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	struct message m = {buf, count, datatype, dest, tag, 0};

	return blocking_send(&m, comm, STANDARD, "MPI_Send");
}

int
PMPI_Rsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	struct message m = {buf, count, datatype, dest, tag, 0};

	return blocking_send(&m, comm, STANDARD, "MPI_Rsend");
}

int
PMPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	struct message m = {buf, count, datatype, dest, tag, 0};

	return blocking_send(&m, comm, SYNCHRONOUS, "MPI_Ssend");
}

static int
recv_now(struct mpi_rank *self, struct comm *c, const struct message *m, MPI_Status *status)
{
	struct request r = {.handle = 0};
	int err;

	if (m->rank == MPI_PROC_NULL) {
		mpi_status_null(status);
		return MPI_SUCCESS;
	}
	mpi_recv_prepare(&r, c, (void *)(uintptr_t)m->buffer, m->bytes, m->rank, m->tag);
	err = mpi_recv_bytes(self, &r);
	mpi_request_status(&r, status);
	return err;
}

int
PMPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct mpi_rank *self = mpi_self();
	struct message m = {buf, count, datatype, source, tag, 0};
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_recv(c, &m);
	if (err == MPI_SUCCESS)
		err = recv_now(self, c, &m, status);
	return mpi_raise(self, c, err, "MPI_Recv");
}

/* A request that is done before it begins: a partner that does not exist. */
static void
start_null(struct request *r)
{
	r->kind = REQUEST_NULL;
	mpi_request_complete(r, MPI_SUCCESS);
}

static int
isend_now(struct mpi_rank *self, struct comm *c, const struct message *m, enum mode mode, MPI_Request *request)
{
	struct request *r = mpi_request_new(self, c);

	if (r == NULL)
		return MPI_ERR_NO_MEM;
	*request = (MPI_Request)r->handle;
	if (m->rank == MPI_PROC_NULL) {
		start_null(r);
		return MPI_SUCCESS;
	}
	mpi_send_prepare(r, c, m->buffer, m->bytes, m->rank, m->tag);
	r->synchronous = mode == SYNCHRONOUS;
	mpi_send_start(self, r);
	return MPI_SUCCESS;
}

/* All non-blocking sends. */
static int
isend(struct message *m, MPI_Comm comm, enum mode mode, MPI_Request *request, const char *function)
{
	struct mpi_rank *self = mpi_self();
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_send(c, m);
	if (err == MPI_SUCCESS)
		err = check_pointer(request);
	if (err == MPI_SUCCESS)
		err = isend_now(self, c, m, mode, request);
	return mpi_raise(self, c, err, function);
}

int
PMPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct message m = {buf, count, datatype, dest, tag, 0};

	return isend(&m, comm, STANDARD, request, "MPI_Isend");
}

int
PMPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct message m = {buf, count, datatype, dest, tag, 0};

	return isend(&m, comm, STANDARD, request, "MPI_Irsend");
}

int
PMPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct message m = {buf, count, datatype, dest, tag, 0};

	return isend(&m, comm, SYNCHRONOUS, request, "MPI_Issend");
}

static int
irecv_now(struct mpi_rank *self, struct comm *c, const struct message *m, MPI_Request *request)
{
	struct request *r = mpi_request_new(self, c);

	if (r == NULL)
		return MPI_ERR_NO_MEM;
	*request = (MPI_Request)r->handle;
	if (m->rank == MPI_PROC_NULL) {
		start_null(r);
		return MPI_SUCCESS;
	}
	mpi_recv_prepare(r, c, (void *)(uintptr_t)m->buffer, m->bytes, m->rank, m->tag);
	mpi_recv_start(self, r);
	return MPI_SUCCESS;
}

int
PMPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct mpi_rank *self = mpi_self();
	struct message m = {buf, count, datatype, source, tag, 0};
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_recv(c, &m);
	if (err == MPI_SUCCESS)
		err = check_pointer(request);
	if (err == MPI_SUCCESS)
		err = irecv_now(self, c, &m, request);
	return mpi_raise(self, c, err, "MPI_Irecv");
}

/* The receive is posted first, so that two ranks that do this to each other meet. */
static int
sendrecv_now(struct mpi_rank *self, struct comm *c, const struct message *out, const struct message *in, MPI_Status *status)
{
	struct request r = {.handle = 0};
	int err, err_in;

	if (in->rank == MPI_PROC_NULL) {
		start_null(&r);
	} else {
		mpi_recv_prepare(&r, c, (void *)(uintptr_t)in->buffer, in->bytes, in->rank, in->tag);
		mpi_recv_start(self, &r);
	}
	err = send_now(self, c, out, STANDARD);
	err_in = mpi_wait(self, &r);
	mpi_request_status(&r, status);
	return err != MPI_SUCCESS ? err : err_in;
}

int
PMPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount,
	MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
	struct mpi_rank *self = mpi_self();
	struct message out = {sendbuf, sendcount, sendtype, dest, sendtag, 0};
	struct message in = {recvbuf, recvcount, recvtype, source, recvtag, 0};
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_send(c, &out);
	if (err == MPI_SUCCESS)
		err = check_recv(c, &in);
	if (err == MPI_SUCCESS)
		err = sendrecv_now(self, c, &out, &in, status);
	return mpi_raise(self, c, err, "MPI_Sendrecv");
}
