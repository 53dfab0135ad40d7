/* SPDX-License-Identifier: MIT
 *
 * When the system does not let a near receiver read the sender's memory: the receiver names its
 * receive to the sender, and the sender sends the data in chunks, through copies in shared memory,
 * as many at a time as there is room for. Chunks of one message stay in order.
 *
 * Each receiver to which chunks are under way has a ring of chunks for itself, so that one which
 * computes instead of taking them stops no other. A ring whose chunks are all taken goes to the
 * next receiver that needs one.
 */
#include <stdlib.h>
#include <mpi/core/rank.h>
#include <mpi/pt2pt/bounce.h>
#include <mpi/pt2pt/data.h>
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/transport.h>

#define TAKE_PIECE 4096
#define FURTHER_CHUNKS 4	/* in a ring that is not the first */
#define RINGS_MAX 256		/* so many receivers may compute before the next one waits */

struct push_ring {
	struct push_ring *next;
	uint32_t peer;
	struct bounce copies;
};

void
mpi_pull(struct mpi_rank *self, struct request *r, const struct packet *p)
{
	struct packet pull = {.kind = PACKET_PULL};

	if (p->bytes < r->bytes)
		r->bytes = (size_t)p->bytes;
	pull.bytes = r->bytes;
	pull.near = (struct packet_near){.request = p->near.request,
		.peer_request = mpi_bulk_name(self, r)};
	mpi_answer(self, p->origin, &pull);
}

void
mpi_push_asked(struct mpi_rank *self, const struct packet *p)
{
	struct request *r = (struct request *)(uintptr_t)p->near.request;

	r->bytes = (size_t)p->bytes;
	r->remote_request = p->near.peer_request;
	r->moved = 0;
	list_push_back(&self->pushing, &r->link);
}

static void
fill_chunk(struct mpi_rank *self, struct packet *p, const struct request *r,
	struct bounce_copy *copy)
{
	p->kind = PACKET_CHUNK;
	p->flags = PACKET_BOUNCED;
	p->origin = (uint32_t)self->world_rank;
	p->near = (struct packet_near){
		.address = transport_reference(self, mpi_bounce_data(copy)),
			.flag = transport_reference(self, &copy->taken),
		.peer_request = r->remote_request,
	};
}

static size_t
next_len(const struct mpi_rank *self, const struct request *r)
{
	size_t left = r->bytes - r->moved, max = transport_copied_max(self);

	return left < max ? left : max;
}

/* One more ring for chunks, the first of full size; NULL: no memory, or there are too many. */
static struct push_ring *
push_ring_new(struct mpi_rank *self, unsigned rings)
{
	struct push_ring *ring = rings < RINGS_MAX ? calloc(1, sizeof(*ring)) : NULL;

	if (ring == NULL)
		return NULL;
	if (rings > 0)
		ring->copies.bytes = FURTHER_CHUNKS * mpi_bounce_span(transport_copied_max(self));
	ring->next = self->push_rings;
	self->push_rings = ring;
	return ring;
}

/*
 * The ring of a receiver: the one that it has, or one that is empty, or a new one. NULL: none now.
 */
static struct bounce *
push_ring_of(struct mpi_rank *self, uint32_t peer)
{
	struct push_ring *empty = NULL;
	unsigned rings = 0;

	for (struct push_ring *ring = self->push_rings; ring != NULL; ring = ring->next, rings++) {
		if (ring->peer == peer)
			return &ring->copies;
		/* the last of them is the first that was made, and larger */
		if (mpi_bounce_is_empty(&ring->copies))
			empty = ring;
	}
	if (empty == NULL)
		empty = push_ring_new(self, rings);
	if (empty == NULL)
		return NULL;
	empty->peer = peer;
	return &empty->copies;
}

/* The next chunk of a message; false: no room now. */
static bool
push_chunk(struct mpi_rank *self, struct request *r)
{
	size_t len = next_len(self, r);
	struct bounce *ring = push_ring_of(self, r->peer);
	struct bounce_copy *copy = ring ? request_copy(self, ring, r, len) : NULL;
	struct packet *p = copy ? transport_claim(self, r->peer) : NULL;

	if (p == NULL) {
		mpi_bounce_undo(ring, copy);
		return false;
	}
	fill_chunk(self, p, r, copy);
	p->bytes = len;
	transport_send_claimed(self, r->peer, p);
	r->moved += len;
	return true;
}

bool
mpi_push_progress(struct mpi_rank *self)
{
	bool moved = false;

	for (struct list *l = self->pushing.next, *next; l != &self->pushing; l = next) {
		struct request *r = list_entry(l, struct request, link);

		next = l->next;
		while (r->moved < r->bytes && push_chunk(self, r))
			moved = true;
		if (r->moved < r->bytes)
			continue;
		list_remove(l);
		mpi_request_complete(r, MPI_SUCCESS);
		moved = true;
	}
	return moved;
}

/* If all copies are in use, their receivers say when they are not. */
bool
mpi_push_has_room(struct mpi_rank *self)
{
	for (struct list *l = self->pushing.next; l != &self->pushing; l = l->next) {
		struct request *r = list_entry(l, struct request, link);

		struct bounce *ring = push_ring_of(self, r->peer);

		if (ring != NULL && mpi_bounce_has_room(self, ring, next_len(self, r)) &&
				transport_has_room(self, r->peer))
			return true;
	}
	return false;
}

void
mpi_push_exit(struct mpi_rank *self)
{
	for (struct push_ring *ring = self->push_rings, *next; ring != NULL; ring = next) {
		next = ring->next;
		mpi_bounce_exit(self, &ring->copies);
		free(ring);
	}
	self->push_rings = NULL;
}

/* Chunks are copies in shared memory, which can always be read. */
static void
take_chunk(struct mpi_rank *self, const struct request *r, const struct packet *p)
{
	char piece[TAKE_PIECE];
	size_t bytes = (size_t)p->bytes;

	if (r->type == NULL) {
		transport_fetch(self, p->origin, p->near.address,
			address_shift(r->buffer, (MPI_Aint)r->moved), bytes);
		return;
	}
	for (size_t done = 0; done < bytes; done += sizeof(piece)) {
		size_t len = bytes - done < sizeof(piece) ? bytes - done : sizeof(piece);

		transport_fetch(self, p->origin, p->near.address + done, piece, len);
		request_write(r, r->moved + done, piece, len);
	}
}

void
mpi_push_arrived(struct mpi_rank *self, const struct packet *p)
{
	struct request *r = mpi_handle_find(&self->bulk_names, p->near.peer_request);
	struct packet look = {.kind = PACKET_CREDIT};

	take_chunk(self, r, p);
	transport_signal(self, p->origin, p->near.flag, false);
	/*
	 * a packet, because the sender may be about to sleep and does not look at its copies then
	 */
	mpi_answer(self, p->origin, &look);
	r->moved += (size_t)p->bytes;
	if (r->moved == r->bytes)
		mpi_bulk_done(self, r, r->error);
}
