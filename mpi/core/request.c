/* SPDX-License-Identifier: MIT
 *
 * Requests and statuses.
 */
#include <stdlib.h>
#include <mpi/core/rank.h>
#include <mpi/core/request.h>
#include <mpi/core/type.h>
#include <mpi/transport/shared.h>

const struct request mpi_request_sent = {.kind = REQUEST_SEND, .done = 1};

struct request *
mpi_request_new(struct mpi_rank *self, struct comm *c)
{
	struct request *r = self->free_requests;
	uintptr_t handle;

	if (r != NULL)
		self->free_requests = r->next_free;
	else if ((r = malloc(sizeof(*r))) == NULL)
		return NULL;
	handle = mpi_handle_new(&self->tables[HANDLE_REQUEST], r);
	if (handle == 0) {
		free(r);
		return NULL;
	}
	mpi_request_clear(r);
	r->persistent = r->detached = 0;
	r->class = NULL;
	r->own = NULL;
	r->handle = handle;
	r->comm = c;
	if (c != NULL)
		c->references++;
	return r;
}

struct request *
mpi_request_new_class(struct mpi_rank *self, struct comm *c, const struct request_class *class,
	void *own)
{
	struct request *r = mpi_request_new(self, c);

	if (r != NULL) {
		r->kind = REQUEST_OTHER;
		r->class = class;
		r->own = own;
	}
	return r;
}

void
mpi_request_let_type_go(struct request *r)
{
	if (r->type != NULL && r->handle != 0)
		mpi_type_release(r->type);
	r->type = NULL;
}

void
mpi_request_set_type(struct request *r, struct type *t)
{
	r->type = r->handle != 0 ? mpi_type_hold(t) : t;
}

int
mpi_request_free(struct mpi_rank *self, struct request *r)
{
	int err = r->class != NULL && r->class->drop != NULL ? r->class->drop(self, r) :
		MPI_SUCCESS;

	if (r->type != NULL)
		mpi_request_let_type_go(r);
	mpi_handle_drop(&self->tables[HANDLE_REQUEST], r->handle);
	if (r->comm != NULL)
		mpi_comm_release(self, r->comm);
	r->next_free = self->free_requests;
	self->free_requests = r;
	return err;
}

int
mpi_request_drop(struct mpi_rank *self, struct request *r, uintptr_t handle)
{
	if (r != &mpi_request_sent)
		return mpi_request_free(self, r);
	mpi_handle_drop(&self->tables[HANDLE_REQUEST], handle);
	return MPI_SUCCESS;
}

void
mpi_request_run(struct mpi_rank *self, struct request *r)
{
	r->class->advance(self, r);
	if (!mpi_request_is_done(r))
		list_push_back(&self->running, &r->running);
}

bool
mpi_requests_advance(struct mpi_rank *self)
{
	bool moved = false;

	for (struct list *l = self->running.next, *next; l != &self->running; l = next) {
		struct request *r = list_entry(l, struct request, running);

		next = l->next;
		moved |= r->class->advance(self, r);
		if (mpi_request_is_done(r))
			list_remove(l);
	}
	return moved;
}

bool
mpi_requests_are_ready(const struct mpi_rank *self)
{
	for (const struct list *l = self->running.next; l != &self->running; l = l->next) {
		const struct request *r = list_entry(l, const struct request, running);

		if (r->class->ready(r))
			return true;
	}
	return false;
}

int
mpi_request_finish_other(struct mpi_rank *self, struct request *r, MPI_Request *handle,
	MPI_Status *status)
{
	MPI_Status unused;
	int err = r->error, err_drop = MPI_SUCCESS;

	if (r->class != NULL && r->class->finish != NULL)
		err = r->class->finish(self, r, status ? status : &unused);
	else if (status != MPI_STATUS_IGNORE)
		mpi_request_status(r, status);
	if (r->persistent) {
		r->inactive = 1;
	} else {
		err_drop = mpi_request_drop(self, r, (uintptr_t)*handle);
		*handle = MPI_REQUEST_NULL;
	}
	return err != MPI_SUCCESS ? err : err_drop;
}

void
mpi_request_detach(struct mpi_rank *self, struct request *r)
{
	r->detached = 1;
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
mpi_requests_are_over(const struct mpi_rank *self)
{
	for (const struct request *r = self->detached; r != NULL; r = r->next_free)
		if (mpi_request_is_done(r))
			return true;
	return false;
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
mpi_request_status(const struct request *r, MPI_Status *status)
{
	if (r->kind == REQUEST_RECV && !r->cancelled)
		mpi_status_set(status, r->source, r->tag, r->moved);
	else if (r->kind == REQUEST_NULL)
		mpi_status_null(status);
	else
		mpi_status_empty(status);
	if (r->cancelled && status != MPI_STATUS_IGNORE)
		mpi_status_set_cancelled(status, true);
}
