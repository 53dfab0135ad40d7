/* SPDX-License-Identifier: MIT
 *
 * Buffered sends.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi/api/buffered.h>
#include <mpi/core/session.h>
#include <mpi/pt2pt/pt2pt.h>

#define ALIGN 16u

/* A message on its way; the data follows. */
struct copy {
	struct copy *next;		/* at a higher address */
	size_t span;			/* with this head */
	struct request request;
};

_Static_assert(sizeof(struct copy) + 2 * ALIGN <= MPI_BSEND_OVERHEAD,
	"what a program allows for a copy is enough");

static size_t
span_of(size_t bytes)
{
	return (sizeof(struct copy) + bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* Forget what has been sent. */
static void
reap(struct send_buffer *b)
{
	struct copy **at = &b->copies;

	while (*at != NULL) {
		struct copy *c = *at;

		if (!mpi_request_is_done(&c->request)) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		if (b->automatic)
			free(c);
	}
}

static struct copy *
place(struct send_buffer *b, size_t span)
{
	uintptr_t at = ((uintptr_t)b->memory + ALIGN - 1) / ALIGN * ALIGN,
		end = (uintptr_t)b->memory + (uintptr_t)b->bytes;
	struct copy **link = &b->copies, *c;

	while (*link != NULL && (uintptr_t)*link - at < span) {
		at = (uintptr_t)*link + (*link)->span;
		link = &(*link)->next;
	}
	if (*link == NULL && (at > end || end - at < span))
		return NULL;
	c = (struct copy *)at;
	c->next = *link;
	*link = c;
	return c;
}

static struct copy *
place_automatic(struct send_buffer *b, size_t span)
{
	struct copy *c = malloc(span);

	if (c == NULL)
		return NULL;
	c->next = b->copies;
	b->copies = c;
	return c;
}

static struct send_buffer *
buffer_of(struct mpi_rank *self, struct comm *c)
{
	if (c->buffer.attached)
		return &c->buffer;
	return c->session ? &c->session->buffer : &self->buffer;
}

int
buffered_send(struct mpi_rank *self, const struct message *m)
{
	struct send_buffer *b = buffer_of(self, m->comm);
	size_t bytes = message_bytes(m), span = span_of(bytes);
	struct message packed = *m;
	struct copy *c;

	if (m->rank == MPI_PROC_NULL)
		return MPI_SUCCESS;
	if (!b->attached)
		return MPI_ERR_BUFFER;
	mpi_progress(self);
	reap(b);
	c = b->automatic ? place_automatic(b, span) : place(b, span);
	if (c == NULL)
		return MPI_ERR_BUFFER;
	c->span = span;
	memset(&c->request, 0, sizeof(c->request));
	message_pack(m, c + 1);
	packed.buffer = c + 1;
	packed.count = (MPI_Count)bytes;
	packed.type = (struct type *)(uintptr_t)mpi_type_find(MPI_PACKED);
	message_start_send(self, &c->request, &packed, STANDARD);
	return MPI_SUCCESS;
}

int
buffered_attach(struct send_buffer *b, void *memory, MPI_Count bytes)
{
	if (b->attached)
		return MPI_ERR_BUFFER;
	if (bytes < 0)
		return MPI_ERR_ARG;
	*b = (struct send_buffer){.attached = true, .automatic = memory == MPI_BUFFER_AUTOMATIC,
		.memory = memory, .bytes = bytes};
	return MPI_SUCCESS;
}

static bool
is_flushed(const void *arg)
{
	const struct send_buffer *b = arg;

	for (const struct copy *c = b->copies; c != NULL; c = c->next)
		if (!mpi_request_is_done(&c->request))
			return false;
	return true;
}

void
buffered_flush(struct mpi_rank *self, struct send_buffer *b)
{
	mpi_wait_until(self, is_flushed, b);
	reap(b);
}

int
buffered_detach(struct mpi_rank *self, struct send_buffer *b, void *memory_out, MPI_Count *bytes)
{
	if (!b->attached)
		return MPI_ERR_BUFFER;
	buffered_flush(self, b);
	if (memory_out != NULL)
		memcpy(memory_out, &b->memory, sizeof(b->memory));
	if (bytes != NULL)
		*bytes = b->automatic ? 0 : b->bytes;
	*b = (struct send_buffer){.attached = false};
	return MPI_SUCCESS;
}

static bool
flush_is_ready(const struct request *r)
{
	return is_flushed(r->own);
}

static bool
flush_advance(struct mpi_rank *self, struct request *r)
{
	(void)self;
	if (!is_flushed(r->own))
		return false;
	mpi_request_complete(r, MPI_SUCCESS);
	return true;
}

static int
flush_finish(struct mpi_rank *self, struct request *r, MPI_Status *status)
{
	(void)self;
	mpi_status_empty(status);
	return r->error;
}

static const struct request_class flush_class = {.ready = flush_is_ready, .advance = flush_advance,
	.finish = flush_finish};

int
buffered_iflush(struct mpi_rank *self, struct send_buffer *b, struct comm *c, MPI_Request *request)
{
	struct request *r = mpi_request_new_class(self, c, &flush_class, b);

	if (r == NULL)
		return MPI_ERR_NO_MEM;
	*request = (MPI_Request)r->handle;
	mpi_request_run(self, r);
	return MPI_SUCCESS;
}
