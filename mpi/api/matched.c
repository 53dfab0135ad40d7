/* SPDX-License-Identifier: MIT
 *
 * Chapter point-to-point: probes that take the message out of matching, and receives of what they
 * took.
 */
#include <stdlib.h>
#include <mpi_impl.h>
#include <mpi/api/message.h>
#include <mpi/api/probe.h>
#include <mpi/pt2pt/pt2pt.h>

/* A message that was found. */
struct found {
	struct unexpected *message;
	struct comm *comm;		/* held */
};

/* Take what is there. Error class. */
static int
matched_take(struct mpi_rank *self, struct comm *c, struct unexpected *u, MPI_Message *message)
{
	struct found *f = malloc(sizeof(*f));
	uintptr_t handle = f ? mpi_handle_new(&self->tables[HANDLE_MESSAGE], f) : 0;

	if (handle == 0) {
		free(f);
		return MPI_ERR_NO_MEM;
	}
	mpi_match_take(&self->match, u);
	*f = (struct found){u, c};
	c->references++;
	*message = (MPI_Message)handle;
	return MPI_SUCCESS;
}

static int
take_and_describe(const struct probe *p, struct comm *c, MPI_Message *message, MPI_Status *status)
{
	struct unexpected *u = probe_look(p);

	mpi_status_set(status, u->packet.source, u->packet.tag, u->packet.bytes);
	return matched_take(p->self, c, u, message);
}

int
impl_Mprobe(struct call *call, const struct args_Mprobe *a)
{
	struct probe p = {call->self, a->comm, a->source, a->tag};

	if (a->source == MPI_PROC_NULL) {
		*a->message = MPI_MESSAGE_NO_PROC;
		mpi_status_null(a->status);
		return MPI_SUCCESS;
	}
	mpi_wait_until(call->self, probe_is_over, &p);
	if (probe_look(&p) == NULL)
		return MPI_ERR_PROC_ABORTED;
	return take_and_describe(&p, a->comm, a->message, a->status);
}

int
impl_Improbe(struct call *call, const struct args_Improbe *a)
{
	struct probe p = {call->self, a->comm, a->source, a->tag};

	if (a->source == MPI_PROC_NULL) {
		*a->flag = 1;
		*a->message = MPI_MESSAGE_NO_PROC;
		mpi_status_null(a->status);
		return MPI_SUCCESS;
	}
	mpi_progress(call->self);
	*a->flag = probe_look(&p) != NULL;
	if (*a->flag)
		return take_and_describe(&p, a->comm, a->message, a->status);
	mpi_relax(call->self);
	return probe_in_vain(&p);
}

/* What a receive of a found message needs to know; `found` is NULL for MPI_MESSAGE_NO_PROC. */
static int
matched_find(struct call *call, MPI_Message message, struct found **f)
{
	*f = NULL;
	if (message == MPI_MESSAGE_NO_PROC)
		return MPI_SUCCESS;
	*f = mpi_handle_find(&call->self->tables[HANDLE_MESSAGE], (uintptr_t)message);
	if (*f == NULL)
		return MPI_ERR_REQUEST;
	call->comm = (*f)->comm;
	return MPI_SUCCESS;
}

/* Receive it into a prepared request and forget it. */
static void
deliver(struct mpi_rank *self, struct request *r, struct found *f, MPI_Message *message)
{
	mpi_handle_drop(&self->tables[HANDLE_MESSAGE], (uintptr_t)*message);
	*message = MPI_MESSAGE_NULL;
	mpi_deliver(self, r, &f->message->packet);
	mpi_match_spare(&self->match, f->message);
	mpi_comm_release(self, f->comm);
	free(f);
}

int
impl_Mrecv(struct call *call, const struct args_Mrecv *a)
{
	struct request r = {.handle = 0};
	struct found *f;
	int err = matched_find(call, *a->message, &f);

	if (err != MPI_SUCCESS)
		return err;
	if (f == NULL) {
		*a->message = MPI_MESSAGE_NULL;
		mpi_status_null(a->status);
		return MPI_SUCCESS;
	}
	message_prepare_recv(&r, &(struct message){a->buf, a->count, a->datatype, 0, 0, f->comm});
	deliver(call->self, &r, f, a->message);
	err = mpi_wait(call->self, &r);
	mpi_request_status(&r, a->status);
	return err;
}

int
impl_Imrecv(struct call *call, const struct args_Imrecv *a)
{
	struct request *r;
	struct found *f;
	int err = matched_find(call, *a->message, &f);

	if (err != MPI_SUCCESS)
		return err;
	if (f == NULL) {
		*a->message = MPI_MESSAGE_NULL;
		return message_irecv(call->self, &(struct message){.rank = MPI_PROC_NULL,
			.comm = &call->self->self}, a->request);
	}
	r = mpi_request_new(call->self, f->comm);
	if (r == NULL)
		return MPI_ERR_NO_MEM;
	*a->request = (MPI_Request)r->handle;
	message_prepare_recv(r, &(struct message){a->buf, a->count, a->datatype, 0, 0, f->comm});
	deliver(call->self, r, f, a->message);
	return MPI_SUCCESS;
}
