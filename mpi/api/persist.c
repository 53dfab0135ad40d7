/* SPDX-License-Identifier: MIT
 *
 * Chapter point-to-point: persistent requests.
 */
#include <stdlib.h>
#include <mpi_impl.h>
#include <mpi/api/buffered.h>
#include <mpi/api/message.h>
#include <mpi/pt2pt/pt2pt.h>

enum what { SEND, SSEND, BSEND, RECV };

/* what is done again and again */
struct again {
	struct message message;
	enum what what;
};

static int
persist_start(struct mpi_rank *self, struct request *r)
{
	const struct again *g = r->own;

	r->done = 0;
	r->cancelled = 0;
	switch (g->what) {
	case RECV:
		message_start_recv(self, r, &g->message);
		return MPI_SUCCESS;
	case BSEND:
		r->kind = REQUEST_SEND;
		mpi_request_complete(r, buffered_send(self, &g->message));
		return MPI_SUCCESS;
	case SEND:
	case SSEND:
	default:
		message_start_send(self, r, &g->message, g->what == SSEND ? SYNCHRONOUS : STANDARD);
		return MPI_SUCCESS;
	}
}

static int
persist_drop(struct mpi_rank *self, struct request *r)
{
	struct again *g = r->own;

	(void)self;
	mpi_type_release(g->message.type);
	free(g);
	return MPI_SUCCESS;
}

static const struct request_class again_class = {.start = persist_start, .drop = persist_drop};

static int
persist_make(struct call *call, const struct message *m, enum what what, MPI_Request *request)
{
	struct again *g = malloc(sizeof(*g));
	struct request *r = g ? mpi_request_new_class(call->self, m->comm, &again_class, g) : NULL;

	if (r == NULL) {
		free(g);
		return MPI_ERR_NO_MEM;
	}
	*g = (struct again){*m, what};
	mpi_type_hold(m->type);
	r->persistent = 1;
	r->inactive = 1;
	*request = (MPI_Request)r->handle;
	return MPI_SUCCESS;
}

int
impl_Send_init(struct call *call, const struct args_Send_init *a)
{
	return persist_make(call, &MESSAGE_OUT(a), SEND, a->request);
}

int
impl_Rsend_init(struct call *call, const struct args_Rsend_init *a)
{
	return persist_make(call, &MESSAGE_OUT(a), SEND, a->request);
}

int
impl_Ssend_init(struct call *call, const struct args_Ssend_init *a)
{
	return persist_make(call, &MESSAGE_OUT(a), SSEND, a->request);
}

int
impl_Bsend_init(struct call *call, const struct args_Bsend_init *a)
{
	return persist_make(call, &MESSAGE_OUT(a), BSEND, a->request);
}

int
impl_Recv_init(struct call *call, const struct args_Recv_init *a)
{
	return persist_make(call, &MESSAGE_IN(a), RECV, a->request);
}

/* A persistent request that may be started, or NULL. */
static struct request *
startable(struct mpi_rank *self, MPI_Request handle)
{
	struct request *r = mpi_request_find(self, handle);

	return r != NULL && r->persistent && r->inactive ? r : NULL;
}

static int
start_one(struct mpi_rank *self, struct request *r)
{
	r->inactive = 0;
	return r->class->start(self, r);
}

int
impl_Start(struct call *call, const struct args_Start *a)
{
	struct request *r = startable(call->self, *a->request);

	return r != NULL ? start_one(call->self, r) : MPI_ERR_REQUEST;
}

int
impl_Startall(struct call *call, const struct args_Startall *a)
{
	int err = MPI_SUCCESS;

	for (int i = 0; i < a->count; i++)
		if (startable(call->self, a->array_of_requests[i]) == NULL)
			return MPI_ERR_REQUEST;
	for (int i = 0; err == MPI_SUCCESS && i < a->count; i++)
		err = start_one(call->self, startable(call->self, a->array_of_requests[i]));
	return err;
}
