/* SPDX-License-Identifier: MIT
 *
 * Chapter point-to-point: a send and a receive in one call. The receive is posted first, so that
 * two ranks that do this to each other meet.
 */
#include <stdlib.h>
#include <mpi_impl.h>
#include <mpi/api/message.h>
#include <mpi/pt2pt/pt2pt.h>

/* Both halves of one that goes on after the call. */
struct halves {
	struct request in;
	struct request out;
	struct type *types[2];		/* held */
	void *copy;			/* of the data to send, where it is replaced */
};

static int
sendrecv(struct mpi_rank *self, const struct message *out, const struct message *in,
	MPI_Status *status)
{
	struct request r = {.handle = 0};
	int err, err_in;

	message_start_recv(self, &r, in);
	err = message_send(self, out, STANDARD);
	err_in = mpi_wait(self, &r);
	mpi_request_status(&r, status);
	return err != MPI_SUCCESS ? err : err_in;
}

int
impl_Sendrecv(struct call *call, const struct args_Sendrecv *a)
{
	struct message out = {a->sendbuf, a->sendcount, a->sendtype, a->dest, a->sendtag, a->comm};
	struct message in = {a->recvbuf, a->recvcount, a->recvtype, a->source, a->recvtag, a->comm};

	return sendrecv(call->self, &out, &in, a->status);
}

/* A copy of what will be replaced, as a message of bytes. Error class. */
static int
copy_out(struct call *call, struct message *out, void **copy)
{
	size_t bytes = message_bytes(out);

	*copy = malloc(bytes + 1);
	if (*copy == NULL)
		return MPI_ERR_NO_MEM;
	message_pack(out, *copy);
	out->buffer = *copy;
	out->count = (MPI_Count)bytes;
	return call_type(call, MPI_PACKED, &out->type);
}

int
impl_Sendrecv_replace(struct call *call, const struct args_Sendrecv_replace *a)
{
	struct message out = {a->buf, a->count, a->datatype, a->dest, a->sendtag, a->comm};
	struct message in = {a->buf, a->count, a->datatype, a->source, a->recvtag, a->comm};
	void *copy;
	int err = copy_out(call, &out, &copy);

	if (err == MPI_SUCCESS)
		err = sendrecv(call->self, &out, &in, a->status);
	free(copy);
	return err;
}

static bool
are_done(const struct request *r)
{
	const struct halves *h = r->own;

	return mpi_request_is_done(&h->in) && mpi_request_is_done(&h->out);
}

static bool
sendrecv_advance(struct mpi_rank *self, struct request *r)
{
	const struct halves *h = r->own;

	(void)self;
	if (!are_done(r))
		return false;
	mpi_request_complete(r, h->out.error != MPI_SUCCESS ? h->out.error : h->in.error);
	return true;
}

static int
sendrecv_finish(struct mpi_rank *self, struct request *r, MPI_Status *status)
{
	const struct halves *h = r->own;

	(void)self;
	mpi_request_status(&h->in, status);
	return r->error;
}

static int
sendrecv_drop(struct mpi_rank *self, struct request *r)
{
	struct halves *h = r->own;

	(void)self;
	mpi_type_release(h->types[0]);
	mpi_type_release(h->types[1]);
	free(h->copy);
	free(h);
	return MPI_SUCCESS;
}

static const struct request_class halves_class = {.ready = are_done, .advance = sendrecv_advance,
	.finish = sendrecv_finish, .drop = sendrecv_drop};

/* `copy` is taken over, also on failure. */
static int
isendrecv(struct mpi_rank *self, const struct message *out, const struct message *in, void *copy,
	MPI_Request *request)
{
	struct halves *h = calloc(1, sizeof(*h));
	struct request *r = h ? mpi_request_new_class(self, in->comm, &halves_class, h) : NULL;

	if (r == NULL) {
		free(h);
		free(copy);
		return MPI_ERR_NO_MEM;
	}
	h->copy = copy;
	h->types[0] = mpi_type_hold(in->type);
	h->types[1] = mpi_type_hold(out->type);
	message_start_recv(self, &h->in, in);
	message_start_send(self, &h->out, out, STANDARD);
	*request = (MPI_Request)r->handle;
	mpi_request_run(self, r);
	return MPI_SUCCESS;
}

int
impl_Isendrecv(struct call *call, const struct args_Isendrecv *a)
{
	struct message out = {a->sendbuf, a->sendcount, a->sendtype, a->dest, a->sendtag, a->comm};
	struct message in = {a->recvbuf, a->recvcount, a->recvtype, a->source, a->recvtag, a->comm};

	return isendrecv(call->self, &out, &in, NULL, a->request);
}

int
impl_Isendrecv_replace(struct call *call, const struct args_Isendrecv_replace *a)
{
	struct message out = {a->buf, a->count, a->datatype, a->dest, a->sendtag, a->comm};
	struct message in = {a->buf, a->count, a->datatype, a->source, a->recvtag, a->comm};
	void *copy;
	int err = copy_out(call, &out, &copy);

	if (err == MPI_SUCCESS)
		return isendrecv(call->self, &out, &in, copy, a->request);
	free(copy);
	return err;
}
