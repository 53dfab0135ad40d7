/* SPDX-License-Identifier: MIT
 *
 * The fast path of small messages between near ranks: from the program's buffer into the peer's
 * inbox, and from the own inbox into the program's buffer, without a request, when nothing else is
 * in the way: no send that waits for room, no credit missing; no receive posted before, no message
 * kept. Whatever is not simple is refused, without a trace, and goes the ordinary way (send.c,
 * recv.c), which leads to the same end: order, credit and progress do not depend on the way.
 *
 * Whoever is inside the library may do it: nobody else is there (mpi_rank.direct), and who waits
 * here lets others in.
 */
#ifndef MPI_PT2PT_DIRECT_H
#define MPI_PT2PT_DIRECT_H

#include <mpi/core/comm.h>
#include <mpi/core/rank.h>
#include <mpi/core/request.h>
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/inbox.h>
#include <mpi/transport/transport.h>

/* A message, its arguments checked: bytes side by side. */
struct direct {
	void *buffer;
	size_t bytes;			/* data to send, or room */
	struct comm *comm;		/* of one group */
	int rank;			/* of it; or MPI_ANY_SOURCE */
	int tag;
};

/* The two that are not small: through a copy; and all that is not done with each message. */
bool mpi_direct_send_copied(struct mpi_rank *self, const struct direct *d, uint32_t world);
bool mpi_direct_recv_copied(struct mpi_rank *self, const struct direct *d, const struct packet *p);
void mpi_direct_round(struct mpi_rank *self);

/*
 * Nothing is in the inbox: wait a little for the next packet, if there is nothing else to do. NULL:
 * there is, or nothing came.
 */
const struct packet *mpi_direct_wait(struct mpi_rank *self, const struct direct *d);

static inline void
direct_header(struct mpi_rank *self, struct packet *p, const struct direct *d,
	enum packet_kind kind)
{
	p->kind = (uint8_t)kind;
	p->flags = 0;
	p->context = d->comm->context;
	p->source = d->comm->rank;
	p->tag = d->tag;
	p->origin = (uint32_t)self->world_rank;
	p->bytes = d->bytes;
}

/* Send. True if it is done. */
static inline __attribute__((always_inline)) bool
mpi_direct_send(struct mpi_rank *self, const struct direct *d)
{
	uint32_t world = (uint32_t)mpi_group_world(d->comm->group, d->rank), position;
	struct peer *peer = &self->peers[world];
	struct packet *p;

	if (peer->direct == NULL || peer->sent - peer->taken >= CREDIT_WINDOW)
		return false;
	if (d->bytes > PACKET_INLINE)
		return mpi_direct_send_copied(self, d, world);
	p = inbox_claim(peer->direct, self->inbox->mask + 1, &position);
	if (p == NULL)
		return false;
	direct_header(self, p, d, PACKET_EAGER);
	bytes_copy_few(p->data, d->buffer, d->bytes);
	if (inbox_publish(peer->direct, p, position))
		transport_wake(self, world);
	peer->sent++;
	return true;
}

/* Is it a packet with a message for this receive, which has room for it? */
static inline __attribute__((always_inline)) bool
direct_fits(const struct direct *d, const struct packet *p)
{
	return p->kind <= PACKET_NEAR && p->context == d->comm->context &&
		(p->source == d->rank || d->rank == MPI_ANY_SOURCE) &&
		(p->tag == d->tag || d->tag == MPI_ANY_TAG) && p->bytes <= d->bytes;
}

/* Receive the message that is the next in the inbox, or will be soon. True if it is done. */
static inline __attribute__((always_inline)) bool
mpi_direct_recv(struct mpi_rank *self, const struct direct *d, MPI_Status *status)
{
	const struct packet *p;

	if ((self->match.posted_count | self->match.unexpected_count) != 0)
		return false;
	p = inbox_peek(self->inbox);
	if (p == NULL)
		p = mpi_direct_wait(self, d);
	if (p == NULL || !direct_fits(d, p))
		return false;
	if (p->kind == PACKET_EAGER)
		bytes_copy_few(d->buffer, p->data, (size_t)p->bytes);
	else if (!mpi_direct_recv_copied(self, d, p))
		return false;
	mpi_status_set(status, p->source, p->tag, p->bytes);
	mpi_credit_matched(self, p->origin);
	if (inbox_next(self->inbox))
		mpi_direct_round(self);
	return true;
}

/*
 * Start a receive for which there is a new request. It does not look whether the message has come:
 * that would take the line away from the sender that is writing it, each time anew.
 */
static inline __attribute__((always_inline)) void
mpi_direct_irecv(struct mpi_rank *self, const struct direct *d, struct request *r)
{
	r->kind = REQUEST_RECV;
	r->context = d->comm->context;
	r->source = d->rank;
	r->tag = d->tag;
	r->buffer = d->buffer;
	r->bytes = d->bytes;
	r->group = d->comm->group;
	mpi_recv_start(self, r);
}

#endif
