/* SPDX-License-Identifier: MIT
 *
 * Agreements.
 */
#include <string.h>
#include <mpi/pt2pt/agree.h>
#include <mpi/pt2pt/pt2pt.h>

enum step { STEP_BEGIN, STEP_UP, STEP_ACROSS, STEP_DOWN_IN, STEP_DECIDE, STEP_DOWN_OUT };

/* Rank in the circle's communicator of a place in the tree. */
static int
rank_at(const struct agreement *a, int position)
{
	const struct circle *c = &a->circle;
	int member = (position + c->leader) % a->size;

	return c->members ? mpi_group_find(c->comm->group, mpi_group_world(c->members, member)) :
		member;
}

static void
send_to(struct mpi_rank *self, struct agreement *a, int position)
{
	mpi_send_prepare(&a->send, a->circle.comm, &a->mine, sizeof(a->mine), rank_at(a, position),
		a->circle.tag);
	a->send.context = a->circle.context;
	a->sending = true;
	mpi_send_start(self, &a->send);
}

static void
recv_from(struct mpi_rank *self, struct agreement *a, int position)
{
	mpi_recv_prepare(&a->recv, a->circle.comm, &a->in, sizeof(a->in), rank_at(a, position),
		a->circle.tag);
	a->recv.context = a->circle.context;
	a->receiving = true;
	mpi_recv_start(self, &a->recv);
}

static void
exchange_with_other_leader(struct mpi_rank *self, struct agreement *a)
{
	const struct circle *c = &a->circle;

	mpi_recv_prepare(&a->recv, c->bridge, &a->in, sizeof(a->in), c->bridge_peer, c->bridge_tag);
	mpi_send_prepare(&a->send, c->bridge, &a->mine, sizeof(a->mine), c->bridge_peer,
		c->bridge_tag);
	a->recv.context = a->send.context = c->bridge_context;
	a->sending = a->receiving = true;
	mpi_recv_start(self, &a->recv);
	mpi_send_start(self, &a->send);
}

/* Only what is free at both. */
static void
agree_combine(struct agreement *a)
{
	struct proposal *p = &a->mine;

	for (int i = 0; i < IDS_WORDS; i++)
		p->free[i] &= a->in.free[i];
	if (a->in.next > p->next)
		p->next = a->in.next;
	p->agrees &= a->in.agrees;
	if (a->step == STEP_ACROSS)
		p->theirs = a->in.ours;
}

/* The messages of the step before are there. */
static void
agree_take(struct agreement *a)
{
	if (!a->receiving)
		return;
	if (a->step == STEP_DOWN_IN)
		a->mine = a->in;
	else
		agree_combine(a);
	a->receiving = false;
}

static void
begin_round(struct mpi_rank *self, struct agreement *a)
{
	if (!mpi_ids_offer(&self->ids, a->window, a->offered))
		a->mine.agrees = 0;
	memcpy(a->mine.free, a->offered, sizeof(a->offered));
	a->mine.next = mpi_ids_next(&self->ids, a->window);
	a->bit = 1;
	a->step = STEP_UP;
}

/* Collect from those below, or tell the one above and wait for the result. */
static void
step_up(struct mpi_rank *self, struct agreement *a)
{
	int bit = a->bit;

	if (bit >= a->size) {
		a->step = a->circle.bridge ? STEP_ACROSS : STEP_DECIDE;
		if (a->circle.bridge)
			exchange_with_other_leader(self, a);
	} else if (a->position & bit) {
		recv_from(self, a, a->position - bit);
		send_to(self, a, a->position - bit);
		a->step = STEP_DOWN_IN;
	} else {
		a->bit = 2 * bit;
		if (a->position + bit < a->size)
			recv_from(self, a, a->position + bit);
	}
}

static void
agree_finish(struct mpi_rank *self, struct agreement *a, int error)
{
	mpi_ids_settle(&self->ids, a->window, a->offered, error == MPI_SUCCESS ? a->id : -1);
	a->error = error;
	list_remove(&a->link);
	a->done = true;
	if (a->then != NULL)
		a->then(self, a);
}

/* Everybody knows the result; true if it is the last one. */
static bool
end_round(struct mpi_rank *self, struct agreement *a)
{
	if (a->mine.agrees && a->id < 0) {
		mpi_ids_settle(&self->ids, a->window, a->offered, -1);
		a->window = a->mine.next;
		a->step = STEP_BEGIN;
		return false;
	}
	agree_finish(self, a, a->mine.agrees ? MPI_SUCCESS : MPI_ERR_OTHER);
	return true;
}

/* Pass the result on to those below; true when the agreement is over. */
static bool
step_down(struct mpi_rank *self, struct agreement *a)
{
	int bit = a->bit / 2;

	if (bit == 0)
		return end_round(self, a);
	a->bit = bit;
	if (a->position + bit < a->size)
		send_to(self, a, a->position + bit);
	return false;
}

/* One step; true when the agreement is over. */
static bool
advance_one(struct mpi_rank *self, struct agreement *a)
{
	agree_take(a);
	a->sending = false;
	switch ((enum step)a->step) {
	case STEP_BEGIN:
		begin_round(self, a);
		return false;
	case STEP_UP:
		step_up(self, a);
		return false;
	case STEP_ACROSS:
	case STEP_DOWN_IN:
	case STEP_DECIDE:
		a->id = mpi_ids_lowest(a->window, a->mine.free);
		a->step = STEP_DOWN_OUT;
		return false;
	case STEP_DOWN_OUT:
	default:
		return step_down(self, a);
	}
}

static bool
messages_done(const struct agreement *a)
{
	return (!a->sending || mpi_request_is_done(&a->send)) &&
		(!a->receiving || mpi_request_is_done(&a->recv));
}

static int
message_error(const struct agreement *a)
{
	if (a->sending && a->send.error != MPI_SUCCESS)
		return a->send.error;
	return a->receiving ? a->recv.error : MPI_SUCCESS;
}

/* Must it wait until an earlier one among the same members is over? Their messages would mix. */
static bool
is_behind(const struct mpi_rank *self, const struct agreement *a)
{
	for (const struct list *l = self->agreements.next; l != &a->link; l = l->next) {
		const struct agreement *b = list_entry(l, const struct agreement, link);

		if (b->circle.context == a->circle.context && b->circle.tag == a->circle.tag)
			return true;
	}
	return false;
}

static bool
can_advance(const struct mpi_rank *self, const struct agreement *a)
{
	return messages_done(a) && !(a->step == STEP_BEGIN && is_behind(self, a));
}

bool
mpi_agreements_are_ready(const struct mpi_rank *self)
{
	for (const struct list *l = self->agreements.next; l != &self->agreements; l = l->next)
		if (can_advance(self, list_entry(l, const struct agreement, link)))
			return true;
	return false;
}

static bool
agree_advance(struct mpi_rank *self, struct agreement *a)
{
	bool moved = false;

	while (can_advance(self, a)) {
		int err = message_error(a);

		moved = true;
		if (err != MPI_SUCCESS) {
			agree_finish(self, a, err);
			break;
		}
		if (advance_one(self, a))
			break;
	}
	return moved;
}

bool
mpi_agreements_advance(struct mpi_rank *self)
{
	bool moved = false;

	for (struct list *l = self->agreements.next, *next; l != &self->agreements; l = next) {
		next = l->next;
		moved |= agree_advance(self, list_entry(l, struct agreement, link));
	}
	return moved;
}

void
mpi_agree_start(struct mpi_rank *self, struct agreement *a)
{
	const struct circle *c = &a->circle;
	const struct group *members = c->members ? c->members : c->comm->group;

	a->size = members->size;
	a->position = (members->rank - c->leader + a->size) % a->size;
	a->step = STEP_BEGIN;
	a->id = -1;
	list_push_back(&self->agreements, &a->link);
	agree_advance(self, a);
}

static bool
is_over(const void *arg)
{
	return ((const struct agreement *)arg)->done;
}

int
mpi_agree(struct mpi_rank *self, struct agreement *a)
{
	mpi_agree_start(self, a);
	mpi_wait_until(self, is_over, a);
	return a->error;
}

struct circle
mpi_circle_of(struct comm *c)
{
	struct circle circle = {.comm = c->local ? c->local : c};

	circle.context = circle.comm->context + CONTEXT_AGREE;
	if (c->local != NULL) {
		circle.bridge = c;
		circle.bridge_context = c->context + CONTEXT_AGREE;
	}
	return circle;
}
