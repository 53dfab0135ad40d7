/* SPDX-License-Identifier: MIT
 *
 * Bulk data between clusters: request, allow, start, and the data through a portal; and the answers
 * that go with it.
 *
 * Nothing can stop in a circle: a rank's thread waits inside the kernel only to read from a sender
 * that has started to write to it. Writing goes on beside the rank, one send after the other, and
 * only to receivers that have allowed it. A receiver allows one sender at a time, so the receiver
 * of the send that is being written reads from nobody else.
 *
 * Data that is in several pieces on one side goes in parts, each allowed and started for itself,
 * through a buffer of one part.
 */
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <mpi/pt2pt/data.h>
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/transport.h>

#define PART 65536		/* bytes of a transfer in parts */

/* an answer that found no room */
struct answer {
	struct list link;
	uint32_t peer;
	struct packet packet;
};

int
mpi_far_error(int err)
{
	return err == -E_HOSTDOWN || err == -E_CONNRESET || err == -E_PIPE ? MPI_ERR_PROC_ABORTED :
		MPI_ERR_INTERN;
}

/*
 * Peers name requests by numbers; a number is an index into a table of those that take part in bulk
 * transfers.
 */
uint32_t
mpi_bulk_name(struct mpi_rank *self, struct request *r)
{
	if (r->bulk_name == 0)
		r->bulk_name = (uint32_t)mpi_handle_new(&self->bulk_names, r);
	return r->bulk_name;
}

static struct request *
bulk_find(struct mpi_rank *self, uint32_t name)
{
	return mpi_handle_find(&self->bulk_names, name);
}

void
mpi_bulk_done(struct mpi_rank *self, struct request *r, int error)
{
	mpi_handle_drop(&self->bulk_names, r->bulk_name);
	r->bulk_name = 0;
	mpi_request_complete(r, error);
}

static int
send_answer_near(struct mpi_rank *self, uint32_t peer, const struct packet *p)
{
	struct packet *cell = transport_claim(self, peer);

	if (cell == NULL)
		return -E_AGAIN;
	memcpy((char *)cell + sizeof(cell->word), (const char *)p + sizeof(p->word),
		sizeof(*p) - sizeof(p->word));
	transport_send_claimed(self, peer, cell);
	return 0;
}

static int
send_answer(struct mpi_rank *self, uint32_t peer, struct packet *p)
{
	int err;

	if (transport_is_near(self, peer))
		return send_answer_near(self, peer, p);
	p->word = self->peers[peer].matched;
	err = transport_send_far(self, peer, p);
	if (err != -E_AGAIN)
		self->peers[peer].reported = p->word;
	return err;
}

void
mpi_answer(struct mpi_rank *self, uint32_t peer, struct packet *p)
{
	struct answer *a;

	p->origin = (uint32_t)self->world_rank;
	if (list_is_empty(&self->answers) && send_answer(self, peer, p) != -E_AGAIN)
		return;
	a = malloc(sizeof(*a));
	if (a == NULL)
		mpi_die(self, 1, "out of memory for an answer to another rank");
	a->peer = peer;
	a->packet = *p;
	list_push_back(&self->answers, &a->link);
}

bool
mpi_answers_have_room(struct mpi_rank *self)
{
	for (struct list *l = self->answers.next; l != &self->answers; l = l->next) {
		uint32_t peer = list_entry(l, struct answer, link)->peer;

		if (transport_is_near(self, peer) && transport_has_room(self, peer))
			return true;
	}
	return false;
}

bool
mpi_answers_flush(struct mpi_rank *self)
{
	bool moved = false;

	for (struct list *l = self->answers.next, *next; l != &self->answers; l = next) {
		struct answer *a = list_entry(l, struct answer, link);

		next = l->next;
		if (send_answer(self, a->peer, &a->packet) == -E_AGAIN)
			continue;
		list_remove(l);
		free(a);
		moved = true;
	}
	return moved;
}

static void
finish_in(struct mpi_rank *self, int error)
{
	struct request *r = self->bulk_in;

	self->bulk_in = NULL;
	mpi_bulk_done(self, r, error);
}

/* The buffer for parts in one direction, or NULL: no memory. */
static char *
staging(struct mpi_rank *self, int direction)
{
	if (self->bulk_staging[direction] == NULL)
		self->bulk_staging[direction] = malloc(PART);
	return self->bulk_staging[direction];
}

/*
 * Let the sender of the receive that has the portal write what is wanted of the message, or the
 * next part of it.
 */
static void
allow(struct mpi_rank *self, struct request *r)
{
	size_t left = r->bytes - r->moved, part = r->in_parts && left > PART ? PART : left;
	struct packet p = {.kind = PACKET_ALLOW, .bytes = part, .flags = part < left ? PACKET_MORE :
		0};
	int err = part > 0 ? transport_bulk_allow(self, r->peer) : 0;

	r->part = part;
	if (err != 0) {
		finish_in(self, mpi_far_error(err));
		return;
	}
	p.bulk = (struct packet_bulk){.request = r->remote_request, .peer_request = r->bulk_name};
	mpi_answer(self, r->peer, &p);
	if (r->bytes == 0)
		finish_in(self, r->error);
}

/* The next receive in line gets the portal. */
static void
next_in(struct mpi_rank *self)
{
	while (self->bulk_in == NULL && !list_is_empty(&self->bulk_wanted)) {
		struct request *r = list_entry(self->bulk_wanted.next, struct request, link);

		list_remove(&r->link);
		self->bulk_in = r;
		allow(self, r);
	}
}

void
mpi_bulk_request(struct mpi_rank *self, struct request *r, const struct packet *p)
{
	if (p->bytes < r->bytes)
		r->bytes = (size_t)p->bytes;
	r->remote_request = p->bulk.request;
	r->in_parts = r->type != NULL || (p->flags & PACKET_TYPED);
	mpi_bulk_name(self, r);
	list_push_back(&self->bulk_wanted, &r->link);
	next_in(self);
}

/* Read the part that the sender writes. Error class. */
static int
read_part(struct mpi_rank *self, struct request *r)
{
	char *to = r->type ? staging(self, 0) : address_shift(r->buffer, (MPI_Aint)r->moved);
	int err;

	if (to == NULL)
		return MPI_ERR_NO_MEM;
	err = transport_bulk_read(self, to, r->part);
	if (err != 0)
		return mpi_far_error(err);
	if (r->type != NULL)
		request_write(r, r->moved, to, r->part);
	r->moved += r->part;
	return MPI_SUCCESS;
}

void
mpi_bulk_started(struct mpi_rank *self, const struct packet *p)
{
	struct request *r = bulk_find(self, p->bulk.request);
	int err;

	if (r == NULL || r != self->bulk_in)
		return;
	err = read_part(self, r);
	if (err == MPI_SUCCESS && r->moved < r->bytes)
		allow(self, r);
	else
		finish_in(self, err == MPI_SUCCESS ? r->error : err);
	next_in(self);
}

/* Start to write the next part of a send. Error class. */
static int
write_part(struct mpi_rank *self, struct request *r)
{
	char *from = r->type ? staging(self, 1) : address_shift(r->buffer, (MPI_Aint)r->moved);
	int err;

	if (from == NULL)
		return MPI_ERR_NO_MEM;
	if (r->type != NULL)
		request_read(r, r->moved, from, r->part);
	err = transport_bulk_write(self, r->peer, from, r->part);
	if (err != 0)
		return mpi_far_error(err);
	r->moved += r->part;
	self->bulk_out = r;
	self->bulk_more = r->more;
	return MPI_SUCCESS;
}

/* The next send that was allowed is written. */
static void
next_out(struct mpi_rank *self)
{
	while (self->bulk_out == NULL && !list_is_empty(&self->bulk_allowed)) {
		struct request *r = list_entry(self->bulk_allowed.next, struct request, link);
		struct packet start = {.kind = PACKET_START, .bulk = {.request = r->remote_request,
			.peer_request = r->bulk_name}};
		int err;

		list_remove(&r->link);
		err = write_part(self, r);
		if (err == MPI_SUCCESS)
			mpi_answer(self, r->peer, &start);
		else
			mpi_bulk_done(self, r, err);
	}
}

void
mpi_bulk_allowed(struct mpi_rank *self, const struct packet *p)
{
	struct request *r = bulk_find(self, p->bulk.request);

	if (r == NULL)
		return;
	if (p->bytes == 0) {
		mpi_bulk_done(self, r, MPI_SUCCESS);
		return;
	}
	r->part = (size_t)p->bytes;
	r->more = p->flags & PACKET_MORE;
	r->remote_request = p->bulk.peer_request;
	list_push_back(&self->bulk_allowed, &r->link);
	next_out(self);
}

bool
mpi_bulk_progress(struct mpi_rank *self)
{
	struct request *r = self->bulk_out;
	int result;

	if (!transport_bulk_written(self, &result))
		return false;
	self->bulk_out = NULL;
	if (result != 0 && r->link.next != NULL)
		list_remove(&r->link);
	/* the next part may be allowed already */
	if (result != 0 || !self->bulk_more)
		mpi_bulk_done(self, r, result == 0 ? MPI_SUCCESS : mpi_far_error(result));
	next_out(self);
	return true;
}

/* Transfers that the transport has in hand end with its error; the others end here. */
void
mpi_bulk_cluster_died(struct mpi_rank *self, uint32_t cluster)
{
	for (uint32_t i = 0; i < self->bulk_names.capacity; i++) {
		struct request *r = self->bulk_names.slots[i].object;

		if (r == NULL || r == self->bulk_out ||
			transport_cluster_of(self, r->peer) != cluster)
			continue;
		if (r == self->bulk_in)
			self->bulk_in = NULL;
		else if (r->link.next != NULL)
			list_remove(&r->link);
		mpi_bulk_done(self, r, MPI_ERR_PROC_ABORTED);
	}
	next_in(self);
}
