/* SPDX-License-Identifier: MIT
 *
 * Schedules: how they run. Progress calls `advance` for each that is pending.
 *
 * A rank that wants to sleep asks `can_move` of each once more after it has said so: a peer that
 * completes the first message for which a schedule waits sets its word before it looks who sleeps.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi/coll/sched.h>
#include <mpi/core/request.h>
#include <mpi/pt2pt/data.h>
#include <mpi/pt2pt/pt2pt.h>

static void
start_message(struct sched *s, const struct step *step, struct request *r)
{
	struct group *g = step->local ? s->c->group : mpi_comm_peer_group(s->c);
	int32_t tag = s->tag | (step->local ? TAG_LOCAL : 0);

	*r = (struct request){.handle = 0};
	if (step->kind == STEP_RECV) {
		mpi_recv_prepare(r, s->c, step->span.at, 0, step->peer, tag);
		r->group = g;
	} else {
		mpi_send_prepare(r, s->c, step->span.at, 0, 0, tag);
		r->peer = (uint32_t)mpi_group_world(g, step->peer);
	}
	request_elements(r, (struct type *)(uintptr_t)step->span.type, step->span.count);
	r->context = s->c->context + CONTEXT_COLL;
	if (step->kind == STEP_RECV)
		mpi_recv_start(s->self, r);
	else
		mpi_send_start(s->self, r);
}

/* Receives first: what arrives at once then needs no copy. */
static void
start_round(struct sched *s)
{
	unsigned i = s->next;

	s->round = s->next;
	s->messages = s->finished = 0;
	do {
		if (s->steps[i].kind == STEP_RECV)
			start_message(s, &s->steps[i], &s->requests[s->messages++]);
	} while (!s->steps[i++].last);
	s->next = i;
	for (i = s->round; i < s->next; i++)
		if (s->steps[i].kind == STEP_SEND)
			start_message(s, &s->steps[i], &s->requests[s->messages++]);
}

static void
move_rows(const struct rows *r)
{
	for (int i = 0; i < r->count; i++) {
		size_t to = (size_t)(r->to_at ? r->to_at[i] : i),
			from = (size_t)(r->from_at ? r->from_at[i] : i);

		memcpy(r->to + to * r->to_step, r->from + from * r->from_step, r->bytes);
	}
}

static void
end_round(struct sched *s)
{
	for (unsigned i = s->round; i < s->next; i++) {
		const struct step *step = &s->steps[i];

		if (step->kind == STEP_COPY)
			span_copy(step->span, step->from);
		else if (step->kind == STEP_ROWS)
			move_rows(step->from.at);
		else if (step->kind == STEP_REDUCE)
			mpi_op_apply(&s->op, step->from.at, step->span.at, step->span.count);
	}
}

/* Take note of messages that are done; false: one is not. */
static bool
messages_done(struct sched *s)
{
	for (; s->finished < s->messages; s->finished++) {
		const struct request *r = &s->requests[s->finished];

		if (!mpi_request_is_done(r))
			return false;
		if (r->error != MPI_SUCCESS && s->error == MPI_SUCCESS)
			s->error = r->error;
	}
	return true;
}

static void
sched_run_finish(struct sched *s)
{
	struct request *outer = s->outer;

	list_remove(&s->pending.link);
	s->done = true;
	if (outer == NULL)
		return;
	mpi_request_complete(outer, s->error);
	if (!s->keep)
		mpi_sched_free(s);
}

static bool
sched_run_advance(struct pending *p)
{
	struct sched *s = list_entry(&p->link, struct sched, pending.link);
	bool moved = false;

	while (messages_done(s)) {
		moved = true;
		end_round(s);
		if (s->next == s->count) {
			sched_run_finish(s);
			break;
		}
		start_round(s);
	}
	return moved;
}

static bool
can_move(const struct pending *p)
{
	const struct sched *s = list_entry(&p->link, const struct sched, pending.link);

	return s->finished == s->messages || mpi_request_is_done(&s->requests[s->finished]);
}

static int
prepare(struct sched *s)
{
	mpi_sched_round(s);
	if (s->broken != MPI_SUCCESS || s->most <= s->request_capacity)
		return s->broken;
	free(s->requests);
	s->request_capacity = 0;
	s->requests = malloc(s->most * sizeof(*s->requests));
	if (s->requests == NULL)
		return MPI_ERR_NO_MEM;
	s->request_capacity = s->most;
	return MPI_SUCCESS;
}

void
mpi_sched_start(struct sched *s, struct request *outer)
{
	int err = prepare(s);

	s->outer = outer;
	s->done = false;
	s->round = s->next = s->messages = s->finished = 0;
	s->pending.advance = sched_run_advance;
	s->pending.can_move = can_move;
	s->error = err;
	list_push_back(&s->self->pending, &s->pending.link);
	if (err != MPI_SUCCESS)
		sched_run_finish(s);
	else
		sched_run_advance(&s->pending);
}

static bool
is_over(const void *arg)
{
	const struct sched *s = arg;

	return s->done;
}

int
mpi_sched_run(struct sched *s)
{
	int err;

	mpi_sched_start(s, NULL);
	mpi_wait_until(s->self, is_over, s);
	err = s->error;
	mpi_sched_free(s);
	return err;
}
