/* SPDX-License-Identifier: MIT
 *
 * Receiving: a message and its receive have met, or wait for each other.
 */
#include <abi/errors.h>
#include <mpi/pt2pt/data.h>
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/shared.h>
#include <mpi/transport/transport.h>

#define FETCH_PIECE 8192

void
mpi_recv_prepare(struct request *r, struct comm *c, void *buffer, size_t bytes, int rank, int tag)
{
	if (r->type != NULL)
		mpi_request_let_type_go(r);
	mpi_request_clear(r);
	r->kind = REQUEST_RECV;
	r->context = c->context;
	r->source = rank;
	r->tag = tag;
	r->buffer = buffer;
	r->bytes = bytes;
	r->group = mpi_comm_peer_group(c);
}

/* The sender of a single copy may go on. Its request may be gone as soon as the flag is set. */
static void
release_sender(struct mpi_rank *self, const struct packet *p)
{
	struct packet done = {.kind = PACKET_DONE, .near = {.flag = p->near.flag}};

	if (!transport_signal(self, p->origin, p->near.flag, !(p->flags & PACKET_BOUNCED)))
		mpi_answer(self, p->origin, &done);
}

/*
 * Get data that has one piece at the sender and several here; through a buffer that stays in the
 * cache, where the sender's memory is not ours.
 */
static int
fetch_pieces(struct mpi_rank *self, struct request *r, const struct packet *p, size_t bytes)
{
	char piece[FETCH_PIECE];

	if (transport_shares_memory(self)) {
		request_write(r, 0, (const void *)(uintptr_t)p->near.address, bytes);
		return 0;
	}
	for (size_t done = 0; done < bytes; done += sizeof(piece)) {
		size_t len = bytes - done < sizeof(piece) ? bytes - done : sizeof(piece);
		int err = transport_fetch(self, p->origin, p->near.address + done, piece, len);

		if (err != 0)
			return err;
		request_write(r, done, piece, len);
	}
	return 0;
}

/*
 * The sender has several pieces. Where all memory is shared, so is its request, which stays until
 * the sender is released.
 */
static int
fetch_typed(struct mpi_rank *self, struct request *r, const struct packet *p, size_t bytes)
{
	const struct request *sender = (const struct request *)(uintptr_t)p->near.request;

	if (!transport_shares_memory(self) && p->origin != (uint32_t)self->world_rank)
		return -E_PERM;
	if (r->type == NULL)
		mpi_type_pack(sender->type, sender->buffer, 0, r->buffer, (MPI_Count)bytes);
	else
		mpi_type_copy(r->type, r->buffer, sender->type, sender->buffer, (MPI_Count)bytes);
	return 0;
}

static int
fetch_data(struct mpi_rank *self, struct request *r, const struct packet *p, size_t bytes)
{
	if (p->flags & PACKET_TYPED)
		return fetch_typed(self, r, p, bytes);
	return r->type == NULL ? transport_fetch(self, p->origin, p->near.address, r->buffer, bytes)
		: fetch_pieces(self, r, p, bytes);
}

/* Get the data of a near peer; false: it will come in chunks. */
static bool
fetch(struct mpi_rank *self, struct request *r, const struct packet *p, size_t bytes)
{
	if (bytes > 0 && fetch_data(self, r, p, bytes) != 0) {
		mpi_pull(self, r, p);
		return false;
	}
	release_sender(self, p);
	return true;
}

void
mpi_deliver(struct mpi_rank *self, struct request *r, const struct packet *p)
{
	size_t bytes = p->bytes <= r->bytes ? (size_t)p->bytes : r->bytes;

	r->source = p->source;
	r->tag = p->tag;
	r->peer = p->origin;
	r->moved = 0;
	r->error = p->bytes > r->bytes ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
	mpi_credit_matched(self, p->origin);
	if (p->kind == PACKET_REQUEST) {
		mpi_bulk_request(self, r, p);
		return;
	}
	if (p->kind == PACKET_EAGER && r->type == NULL)
		bytes_copy_few(r->buffer, p->data, bytes);
	else if (p->kind == PACKET_EAGER)
		request_write(r, 0, p->data, bytes);
	else if (!fetch(self, r, p, bytes))
		return;
	r->moved = bytes;
	mpi_request_complete(r, r->error);
}

void
mpi_recv_start(struct mpi_rank *self, struct request *r)
{
	struct unexpected *u = mpi_match_find(&self->match, r->context, r->source, r->tag);

	if (u == NULL) {
		if (self->lost_cluster && mpi_source_is_lost(self, r->group, r->source))
			mpi_request_complete(r, MPI_ERR_PROC_ABORTED);
		else
			mpi_match_post(&self->match, r);
		return;
	}
	mpi_deliver(self, r, &u->packet);
	mpi_match_remove(&self->match, u);
}

static void
arrived_message(struct mpi_rank *self, const struct packet *p)
{
	struct request *r = mpi_match_arrived(&self->match, p);

	if (r != NULL)
		mpi_deliver(self, r, p);
	else if (mpi_match_keep(&self->match, p) != 0)
		mpi_die(self, 1, "out of memory for a message that nobody has asked for yet");
}

void
mpi_arrived(struct mpi_rank *self, const struct packet *p)
{
	if (!transport_is_near(self, p->origin))
		self->peers[p->origin].taken = p->word;
	switch (p->kind) {
	case PACKET_EAGER:
	case PACKET_NEAR:
	case PACKET_REQUEST:
		arrived_message(self, p);
		break;
	case PACKET_ALLOW:
		mpi_bulk_allowed(self, p);
		break;
	case PACKET_START:
		mpi_bulk_started(self, p);
		break;
	case PACKET_DONE:
		store_release((uint32_t *)(uintptr_t)p->near.flag, 1);
		break;
	case PACKET_PULL:
		mpi_push_asked(self, p);
		break;
	case PACKET_CHUNK:
		mpi_push_arrived(self, p);
		break;
	case PACKET_CREDIT:
	default:
		break;
	}
}

int
mpi_recv_bytes(struct mpi_rank *self, struct request *prepared)
{
	int err;

	transport_attend(self, true);
	mpi_recv_start(self, prepared);
	err = mpi_wait(self, prepared);
	transport_attend(self, false);
	return err;
}

int
mpi_request_cancel(struct mpi_rank *self, struct request *r)
{
	if (r->kind == REQUEST_OTHER)
		return r->class != NULL && r->class->cancel != NULL ? r->class->cancel(self, r) :
			MPI_SUCCESS;
	if (mpi_request_is_done(r) || r->cancelled)
		return MPI_SUCCESS;
	if (r->kind == REQUEST_RECV && r->posted) {
		mpi_match_withdraw(&self->match, r);
		r->cancelled = 1;
		mpi_request_complete(r, MPI_SUCCESS);
	}
	return MPI_SUCCESS;
}
