/* SPDX-License-Identifier: MIT
 *
 * The fast path: what is not done with each message, or takes longer anyhow.
 */
#include <mpi/pt2pt/bounce.h>
#include <mpi/pt2pt/direct.h>

/* turns before the second look: a peer that is sending gets ahead, an answer takes longer anyhow */
#define FIRST_WAIT 200

bool
mpi_direct_send_copied(struct mpi_rank *self, const struct direct *d, uint32_t world)
{
	struct peer *peer = &self->peers[world];
	struct bounce_copy *copy = d->bytes <= transport_copied_max(self)
		? mpi_bounce_take(self, self->bounce, d->bytes) : NULL;
	struct packet *p = NULL;
	uint32_t position;

	/* copied before a cell is claimed: the receiver waits for what is claimed */
	if (copy == NULL)
		return false;
	memcpy(mpi_bounce_data(copy), d->buffer, d->bytes);
	p = inbox_claim(peer->direct, self->inbox->mask + 1, &position);
	if (p == NULL) {
		mpi_bounce_undo(self->bounce, copy);
		return false;
	}
	direct_header(self, p, d, PACKET_NEAR);
	p->flags = PACKET_BOUNCED;
	p->near.address = transport_reference(self, mpi_bounce_data(copy));
	p->near.flag = transport_reference(self, &copy->taken);
	if (inbox_publish(peer->direct, p, position))
		transport_wake(self, world);
	peer->sent++;
	return true;
}

bool
mpi_direct_recv_copied(struct mpi_rank *self, const struct direct *d, const struct packet *p)
{
	/* copies lie in shared memory, which can always be read */
	if (!(p->flags & PACKET_BOUNCED))
		return false;
	transport_fetch(self, p->origin, p->near.address, d->buffer, (size_t)p->bytes);
	transport_signal(self, p->origin, p->near.flag, false);
	return true;
}

void
mpi_direct_round(struct mpi_rank *self)
{
	if (inbox_tell(self->inbox))
		transport_wake_all(self);
	/* so that what comes straight does not hold up what else is to go on */
	mpi_progress(self);
}

static bool
has_nothing_else(const struct mpi_rank *self)
{
	return self->lock.waiting == 0 && self->bulk_out == NULL && self->detached == NULL &&
		list_is_empty(&self->pushing) && list_is_empty(&self->answers) &&
		list_is_empty(&self->outgoing) && list_is_empty(&self->pending) &&
		list_is_empty(&self->running) &&
		list_is_empty(&self->agreements);
}

/* Do nothing, without looking at memory that a peer is about to write. */
static void
direct_let_go(unsigned turns)
{
	for (unsigned i = 0; i < turns; i++)
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* May the message come in another way? */
static bool
may_be_far(const struct mpi_rank *self, const struct direct *d)
{
	return self->inbox->others && (d->rank == MPI_ANY_SOURCE ||
		!transport_is_near(self, (uint32_t)mpi_group_world(d->comm->group, d->rank)));
}

const struct packet *
mpi_direct_wait(struct mpi_rank *self, const struct direct *d)
{
	const struct inbox_reader *inbox = self->inbox;
	const struct packet *p = NULL;

	if (inbox->polls == 0 || !has_nothing_else(self) || may_be_far(self, d))
		return NULL;
	direct_let_go(FIRST_WAIT);
	for (unsigned i = 0; p == NULL && i < inbox->polls && !mpi_rank_lock_is_wanted(&self->lock);
		i++)
		p = inbox_peek(inbox);
	return p;
}
