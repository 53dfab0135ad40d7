/* SPDX-License-Identifier: MIT
 *
 * The first lines of some bindings: a call that is right and simple, as nearly all are, is done
 * here and now (pt2pt/direct.h). False: it was not, nothing has happened, and the binding goes on
 * with its checks. A binding of X begins so if direct_X is defined here; where several threads may
 * be in the library it is called inside (shared_X, generated).
 */
#ifndef MPI_API_DIRECT_H
#define MPI_API_DIRECT_H

#include <mpi/core/rank.h>
#include <mpi/core/type.h>
#include <mpi/pt2pt/direct.h>

#define DIRECT_COUNT_MAX (1 << 24)	/* so that bytes can be counted */

static inline __attribute__((always_inline)) bool
direct_alone(void)
{
	return __builtin_expect(mpi_self()->direct == DIRECT_ALONE, 1);
}

/* A communicator of one group, or NULL. */
static __attribute__((noinline, unused)) struct comm *
direct_comm_found(struct mpi_rank *self, MPI_Comm handle)
{
	struct comm *c = mpi_comm_find(self, handle);

	return c != NULL && c->remote == NULL ? c : NULL;
}

static inline __attribute__((always_inline)) struct comm *
direct_comm(struct mpi_rank *self, MPI_Comm handle)
{
	return handle == MPI_COMM_WORLD ? &self->world : direct_comm_found(self, handle);
}

/*
 * What does not depend on the direction: a basic type, elements side by side, a communicator of one
 * group.
 */
static inline __attribute__((always_inline)) bool
direct_resolve(struct mpi_rank *self, struct direct *d, MPI_Count count, MPI_Datatype datatype,
	MPI_Comm comm)
{
	const struct type *t = mpi_type_basic(datatype);

	if (t == NULL || !mpi_type_is_plain(t) || (uint64_t)count > DIRECT_COUNT_MAX)
		return false;
	d->bytes = (size_t)count * (size_t)t->size;
	d->comm = direct_comm(self, comm);
	return d->comm != NULL && (d->buffer != NULL || d->bytes == 0);
}

static inline __attribute__((always_inline)) bool
direct_source(const struct direct *d)
{
	return ((unsigned)d->rank < (unsigned)d->comm->size || d->rank == MPI_ANY_SOURCE) &&
		(d->tag >= 0 || d->tag == MPI_ANY_TAG);
}

static inline __attribute__((always_inline)) bool
direct_Send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
	MPI_Comm comm)
{
	struct mpi_rank *self = mpi_self();
	struct direct d = {.buffer = (void *)(uintptr_t)buf, .rank = dest, .tag = tag};

	return direct_resolve(self, &d, count, datatype, comm) &&
		(unsigned)dest < (unsigned)d.comm->size && tag >= 0 &&
		mpi_direct_send(self, &d);
}

static inline __attribute__((always_inline)) bool
direct_Recv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
	MPI_Status *status)
{
	struct mpi_rank *self = mpi_self();
	struct direct d = {.buffer = buf, .rank = source, .tag = tag};

	return direct_resolve(self, &d, count, datatype, comm) && direct_source(&d) &&
		mpi_direct_recv(self, &d, status);
}

/* What is sent at once needs no request of its own, only a handle. */
static inline __attribute__((always_inline)) bool
direct_Isend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
	MPI_Comm comm, MPI_Request *request)
{
	struct mpi_rank *self = mpi_self();
	uintptr_t handle = request != NULL ? mpi_request_sent_handle(self) : 0;

	if (handle == 0)
		return false;
	if (!direct_Send(buf, count, datatype, dest, tag, comm)) {
		mpi_handle_drop(&self->tables[HANDLE_REQUEST], handle);
		return false;
	}
	*request = (MPI_Request)handle;
	return true;
}

/* Done here but for what a receive is: the message may have come already. */
static inline __attribute__((always_inline)) bool
direct_Irecv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	struct mpi_rank *self = mpi_self();
	struct direct d = {.buffer = buf, .rank = source, .tag = tag};
	struct request *r;

	if (request == NULL || !direct_resolve(self, &d, count, datatype, comm) ||
		!direct_source(&d))
		return false;
	r = mpi_request_new(self, d.comm);
	if (r == NULL)
		return false;
	*request = (MPI_Request)r->handle;
	mpi_direct_irecv(self, &d, r);
	return true;
}

/*
 * One that is done, perhaps after a few looks at what it needs, and for which nothing is to be done
 * but to give it back.
 */
static inline __attribute__((always_inline)) bool
direct_Wait(MPI_Request *request, MPI_Status *status)
{
	struct mpi_rank *self = mpi_self();
	struct request *r = request != NULL ? mpi_request_find(self, *request) : NULL;

	if (r == NULL)
		return false;
	if (!mpi_request_is_done(r) && r->pending != NULL)
		r->pending->spin(r->pending);
	if (!mpi_request_is_done(r) || r->error != MPI_SUCCESS ||
		(r != &mpi_request_sent && !mpi_request_is_plain(r)))
		return false;
	mpi_request_finish(self, r, request, status);
	return true;
}

#endif
