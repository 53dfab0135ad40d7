/* SPDX-License-Identifier: MIT
 *
 * Requests and statuses.
 */
#include <stdlib.h>
#include <mpi/core/rank.h>
#include <mpi/core/request.h>
#include <mpi/core/shared.h>

/* words of MPI_internal */
enum { BYTES_LOW, BYTES_HIGH, CANCELLED };

struct request *
mpi_request_new(struct mpi_rank *self, struct comm *c)
{
	struct request *r = self->free_requests;

	if (r != NULL)
		self->free_requests = r->next_free;
	else if ((r = malloc(sizeof(*r))) == NULL)
		return NULL;
	*r = (struct request){.handle = mpi_handle_new(&self->tables[HANDLE_REQUEST], r)};
	if (r->handle == 0) {
		free(r);
		return NULL;
	}
	r->comm = c;
	c->references++;
	return r;
}

struct request *
mpi_request_find(struct mpi_rank *self, MPI_Request handle)
{
	return mpi_handle_find(&self->tables[HANDLE_REQUEST], (uintptr_t)handle);
}

void
mpi_request_free(struct mpi_rank *self, struct request *r)
{
	mpi_handle_drop(&self->tables[HANDLE_REQUEST], r->handle);
	mpi_comm_release(self, r->comm);
	r->next_free = self->free_requests;
	self->free_requests = r;
}

void
mpi_request_complete(struct request *r, int error)
{
	r->error = error;
	store_release(&r->done, 1);
}

void
mpi_request_detach(struct mpi_rank *self, struct request *r)
{
	mpi_handle_drop(&self->tables[HANDLE_REQUEST], r->handle);
	r->next_free = self->detached;
	self->detached = r;
}

void
mpi_request_reap(struct mpi_rank *self)
{
	struct request **at = &self->detached;

	while (*at != NULL) {
		struct request *r = *at;

		if (mpi_request_is_done(r)) {
			*at = r->next_free;
			mpi_request_free(self, r);
		} else {
			at = &r->next_free;
		}
	}
}

bool
mpi_request_is_done(const struct request *r)
{
	return load_acquire(&r->done) != 0;
}

void
mpi_request_exit(struct mpi_rank *self)
{
	struct request *r;

	while ((r = self->free_requests) != NULL) {
		self->free_requests = r->next_free;
		free(r);
	}
}

void
mpi_status_set(MPI_Status *status, int source, int tag, uint64_t bytes)
{
	if (status == MPI_STATUS_IGNORE)
		return;
	status->MPI_SOURCE = source;
	status->MPI_TAG = tag;
	status->MPI_internal[BYTES_LOW] = (int)(uint32_t)bytes;
	status->MPI_internal[BYTES_HIGH] = (int)(uint32_t)(bytes >> 32);
	status->MPI_internal[CANCELLED] = 0;
}

uint64_t
mpi_status_bytes(const MPI_Status *status)
{
	return (uint64_t)(uint32_t)status->MPI_internal[BYTES_HIGH] << 32 | (uint32_t)status->MPI_internal[BYTES_LOW];
}

void
mpi_request_status(const struct request *r, MPI_Status *status)
{
	if (r->kind == REQUEST_RECV)
		mpi_status_set(status, r->source, r->tag, r->moved);
	else if (r->kind == REQUEST_NULL)
		mpi_status_null(status);
	else
		mpi_status_empty(status);
}

void
mpi_status_empty(MPI_Status *status)
{
	mpi_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

void
mpi_status_null(MPI_Status *status)
{
	mpi_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}
