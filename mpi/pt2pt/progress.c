/* SPDX-License-Identifier: MIT
 *
 * Progress is made by whoever is inside the library; there is no other thread.
 */
#include <stdlib.h>
#include <mpi/pt2pt/agree.h>
#include <mpi/pt2pt/bounce.h>
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/shared.h>
#include <mpi/transport/transport.h>

int
mpi_pt2pt_init(struct mpi_rank *self)
{
	self->peers = calloc((size_t)self->world_size, sizeof(*self->peers));
	self->bounce = calloc(1, sizeof(*self->bounce));
	return self->peers && self->bounce ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

void
mpi_pt2pt_exit(struct mpi_rank *self)
{
	mpi_match_exit(&self->match);
	free(self->bulk_staging[0]);
	free(self->bulk_staging[1]);
	self->bulk_staging[0] = self->bulk_staging[1] = NULL;
	mpi_push_exit(self);
	mpi_bounce_exit(self, self->bounce);
	free(self->bounce);
	free(self->peers);
}

static bool
advance_pending(struct mpi_rank *self)
{
	bool moved = false;

	for (struct list *l = self->pending.next, *next; l != &self->pending; l = next) {
		struct pending *p = list_entry(l, struct pending, link);

		next = l->next;
		moved |= p->advance(p);
	}
	return moved;
}

bool
mpi_progress(struct mpi_rank *self)
{
	bool moved = transport_poll(self);

	if (self->bulk_out != NULL)
		moved |= mpi_bulk_progress(self);
	if (!list_is_empty(&self->pushing))
		moved |= mpi_push_progress(self);
	if (!list_is_empty(&self->answers))
		moved |= mpi_answers_flush(self);
	if (!list_is_empty(&self->outgoing))
		moved |= mpi_sends_flush(self);
	if (!list_is_empty(&self->pending))
		moved |= advance_pending(self);
	if (!list_is_empty(&self->running))
		moved |= mpi_requests_advance(self);
	if (!list_is_empty(&self->agreements))
		moved |= mpi_agreements_advance(self);
	if (self->detached != NULL)
		mpi_request_reap(self);
	return moved;
}

/* Has room come up for something that waits for it? Far peers wake us in other ways. */
static bool
room_for_any(struct mpi_rank *self)
{
	for (struct list *l = self->outgoing.next; l != &self->outgoing; l = l->next) {
		uint32_t peer = (uint32_t)(list_entry(l, struct peer, blocked) - self->peers);

		if (transport_is_near(self, peer) && transport_has_room(self, peer))
			return true;
	}
	if (!list_is_empty(&self->pushing) && mpi_push_has_room(self))
		return true;
	return !list_is_empty(&self->answers) && mpi_answers_have_room(self);
}

bool
mpi_can_move(struct mpi_rank *self)
{
	if (mpi_requests_are_ready(self) || mpi_agreements_are_ready(self) ||
		mpi_requests_are_over(self) || room_for_any(self))
		return true;
	for (const struct list *l = self->pending.next; l != &self->pending; l = l->next) {
		const struct pending *p = list_entry(l, const struct pending, link);

		if (p->can_move(p))
			return true;
	}
	return false;
}

static bool
may_go_on(const void *arg)
{
	const struct waiting *w = arg;

	return w->ready(w->arg) || mpi_can_move(w->self);
}

/* Not part of its callers, which seldom come to it. */
__attribute__((noinline)) void
mpi_idle(struct mpi_rank *self, unsigned idle, bool (*ready)(const void *arg), const void *arg)
{
	struct waiting w = {self, ready, arg};

	self->waits = &w;
	if (self->thread_level == MPI_THREAD_MULTIPLE)
		mpi_rank_wait(self, idle, ready, arg);
	else
		transport_idle(self, idle, may_go_on, &w);
	self->waits = NULL;
}

void
mpi_wait_until(struct mpi_rank *self, bool (*ready)(const void *arg), const void *arg)
{
	unsigned idle = 0;
	bool attends = false;

	while (!ready(arg)) {
		if (!attends)
			transport_attend(self, attends = true);
		if (mpi_progress(self)) {
			idle = 0;
			continue;
		}
		mpi_idle(self, idle++, ready, arg);
	}
	if (attends)
		transport_attend(self, false);
}

void
mpi_relax(struct mpi_rank *self)
{
	if (self->thread_level == MPI_THREAD_MULTIPLE)
		mpi_rank_pause(self, transport_relax);
	else
		transport_relax(self);
}

bool
mpi_request_is_ready(const void *arg)
{
	return mpi_request_is_done(arg);
}

/* A rank that has just begun to wait looks first at what the request itself needs. */
int
mpi_wait_longer(struct mpi_rank *self, struct request *r)
{
	if (r->pending != NULL)
		r->pending->spin(r->pending);
	mpi_wait_until(self, mpi_request_is_ready, r);
	return r->error;
}
