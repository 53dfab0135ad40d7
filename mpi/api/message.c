/* SPDX-License-Identifier: MIT
 *
 * Messages of the program.
 */
#include <mpi/api/message.h>
#include <mpi/pt2pt/data.h>
#include <mpi/pt2pt/pt2pt.h>

size_t
message_bytes(const struct message *m)
{
	return (size_t)(m->count * m->type->size);
}

void
message_pack(const struct message *m, void *out)
{
	mpi_type_pack(m->type, m->buffer, 0, out, m->count * m->type->size);
}

void
message_prepare_send(struct request *r, const struct message *m, enum mode mode)
{
	mpi_send_prepare(r, m->comm, m->buffer, 0, m->rank, m->tag);
	request_elements(r, m->type, m->count);
	r->synchronous = mode == SYNCHRONOUS;
}

void
message_prepare_recv(struct request *r, const struct message *m)
{
	mpi_recv_prepare(r, m->comm, (void *)(uintptr_t)m->buffer, 0, m->rank, m->tag);
	request_elements(r, m->type, m->count);
}

static void
start_null(struct request *r)
{
	r->kind = REQUEST_NULL;
	mpi_request_complete(r, MPI_SUCCESS);
}

void
message_start_send(struct mpi_rank *self, struct request *r, const struct message *m,
	enum mode mode)
{
	if (m->rank == MPI_PROC_NULL) {
		start_null(r);
		return;
	}
	message_prepare_send(r, m, mode);
	mpi_send_start(self, r);
}

void
message_start_recv(struct mpi_rank *self, struct request *r, const struct message *m)
{
	if (m->rank == MPI_PROC_NULL) {
		start_null(r);
		return;
	}
	message_prepare_recv(r, m);
	mpi_recv_start(self, r);
}

int
message_isend(struct mpi_rank *self, const struct message *m, enum mode mode, MPI_Request *request)
{
	struct request *r = mpi_request_new(self, m->comm);

	if (r == NULL)
		return MPI_ERR_NO_MEM;
	*request = (MPI_Request)r->handle;
	message_start_send(self, r, m, mode);
	return MPI_SUCCESS;
}

int
message_irecv(struct mpi_rank *self, const struct message *m, MPI_Request *request)
{
	struct request *r = mpi_request_new(self, m->comm);

	if (r == NULL)
		return MPI_ERR_NO_MEM;
	*request = (MPI_Request)r->handle;
	message_start_recv(self, r, m);
	return MPI_SUCCESS;
}

int
message_send(struct mpi_rank *self, const struct message *m, enum mode mode)
{
	struct request r = {.handle = 0};

	if (m->rank == MPI_PROC_NULL)
		return MPI_SUCCESS;
	message_prepare_send(&r, m, mode);
	return mpi_send_bytes(self, &r);
}
