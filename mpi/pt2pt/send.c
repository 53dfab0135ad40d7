/* SPDX-License-Identifier: MIT
 *
 * Sending: the choice of the protocol, and the queue of what found no room.
 */
#include <abi/errors.h>
#include <mpi/pt2pt/bounce.h>
#include <mpi/pt2pt/data.h>
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/shared.h>
#include <mpi/transport/transport.h>

enum outcome { SENT, NO_ROOM };

void
mpi_send_prepare(struct request *r, struct comm *c, const void *buffer, size_t bytes, int rank,
	int tag)
{
	if (r->type != NULL)
		mpi_request_let_type_go(r);
	mpi_request_clear(r);
	r->kind = REQUEST_SEND;
	r->context = c->context;
	r->source = c->rank;
	r->tag = tag;
	r->buffer = (void *)(uintptr_t)buffer;
	r->bytes = bytes;
	r->peer = (uint32_t)mpi_group_world(mpi_comm_peer_group(c), rank);
}

static void
fill_header(struct packet *p, const struct request *r, enum packet_kind kind, uint32_t origin)
{
	p->kind = (uint8_t)kind;
	p->flags = 0;
	p->context = r->context;
	p->source = r->source;
	p->tag = r->tag;
	p->origin = origin;
	p->bytes = r->bytes;
}

/*
 * Data too long for a packet, or a send that must wait for its receive: the receiver gets it from
 * memory of this rank.
 */
static void
fill_near(struct mpi_rank *self, struct packet *p, struct request *r, struct bounce_copy *copy)
{
	p->near.address = transport_reference(self, copy ? mpi_bounce_data(copy) : r->buffer);
	p->near.flag = transport_reference(self, copy ? &copy->taken : &r->done);
	p->near.request = (uintptr_t)r;
	if (copy)
		p->flags |= PACKET_BOUNCED;
	else if (r->type)
		p->flags |= PACKET_TYPED;
}

static enum outcome
send_near(struct mpi_rank *self, struct request *r)
{
	bool waits = r->synchronous || !mpi_credit_left(self, r->peer);
	bool inside = r->bytes <= PACKET_INLINE && !waits;
	bool medium = !inside && r->bytes <= transport_copied_max(self) && !waits;
	/* copied before a cell is claimed: the receiver waits for what is claimed */
	struct bounce_copy *copy = medium ? request_copy(self, self->bounce, r, r->bytes) : NULL;
	struct packet *p = transport_claim(self, r->peer);

	if (p == NULL) {
		mpi_bounce_undo(self->bounce, copy);
		return NO_ROOM;
	}
	fill_header(p, r, inside ? PACKET_EAGER : PACKET_NEAR, (uint32_t)self->world_rank);
	if (inside)
		request_read(r, 0, p->data, r->bytes);
	else
		fill_near(self, p, r, copy);
	transport_send_claimed(self, r->peer, p);
	if (inside || copy != NULL)
		mpi_request_complete(r, MPI_SUCCESS);
	return SENT;
}

static enum outcome
send_far(struct mpi_rank *self, struct request *r)
{
	bool waits = r->synchronous || !mpi_credit_left(self, r->peer);
	bool inside = r->bytes < self->inside_far && !waits;
	struct packet p;
	int err;

	fill_header(&p, r, inside ? PACKET_EAGER : PACKET_REQUEST, (uint32_t)self->world_rank);
	if (inside)
		request_read(r, 0, p.data, r->bytes);
	else
		p.bulk = (struct packet_bulk){.request = mpi_bulk_name(self, r)};
	if (!inside && r->type)
		p.flags |= PACKET_TYPED;
	p.word = self->peers[r->peer].matched;
	err = transport_send_far(self, r->peer, &p);
	if (err == -E_AGAIN)
		return NO_ROOM;
	self->peers[r->peer].reported = p.word;
	if (err != 0)
		mpi_request_complete(r, mpi_far_error(err));
	else if (p.kind == PACKET_EAGER)
		mpi_request_complete(r, MPI_SUCCESS);
	return SENT;
}

static enum outcome
send_one(struct mpi_rank *self, struct request *r)
{
	enum outcome outcome = transport_is_near(self, r->peer) ? send_near(self, r) :
		send_far(self, r);

	if (outcome == SENT)
		self->peers[r->peer].sent++;
	return outcome;
}

static bool
has_queue(const struct peer *peer)
{
	return peer->queue.next != NULL && !list_is_empty(&peer->queue);
}

static void
enqueue(struct mpi_rank *self, struct peer *peer, struct request *r)
{
	if (peer->queue.next == NULL)
		list_init(&peer->queue);
	if (list_is_empty(&peer->queue))
		list_push_back(&self->outgoing, &peer->blocked);
	list_push_back(&peer->queue, &r->link);
	peer->direct = NULL;
}

void
mpi_send_start(struct mpi_rank *self, struct request *r)
{
	struct peer *peer = &self->peers[r->peer];

	if (has_queue(peer) || send_one(self, r) == NO_ROOM)
		enqueue(self, peer, r);
	else if (transport_is_near(self, r->peer))
		peer->direct = transport_inbox_of(self, r->peer);
}

/* Send what there is room for; true if something was. */
static bool
flush_peer(struct mpi_rank *self, struct peer *peer)
{
	bool moved = false;

	while (!list_is_empty(&peer->queue)) {
		struct request *r = list_entry(peer->queue.next, struct request, link);
		struct list *l = &r->link;

		/* out of the queue first: a request may be gone once its packet is out */
		list_remove(l);
		if (send_one(self, r) == NO_ROOM) {
			list_push_front(&peer->queue, l);
			return moved;
		}
		moved = true;
	}
	list_remove(&peer->blocked);
	return moved;
}

bool
mpi_sends_flush(struct mpi_rank *self)
{
	bool moved = false;

	for (struct list *l = self->outgoing.next, *next; l != &self->outgoing; l = next) {
		next = l->next;
		moved |= flush_peer(self, list_entry(l, struct peer, blocked));
	}
	return moved;
}

int
mpi_send_bytes(struct mpi_rank *self, struct request *prepared)
{
	mpi_send_start(self, prepared);
	return mpi_wait(self, prepared);
}
