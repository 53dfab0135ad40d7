/* SPDX-License-Identifier: MIT
 *
 * What a rank waits for, in words. Blocking operations are known by what mpi_wait_until asks,
 * others by their handles, the steps of a collective by the receives that it has posted.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <mpi/api/probe.h>
#include <mpi/core/comm.h>
#include <mpi/core/request.h>
#include <mpi/pt2pt/pt2pt.h>

#define MOST 4			/* of one kind */

struct words {
	struct mpi_rank *self;
	char *at;
	size_t room;
	int said;			/* operations */
	bool begins;			/* with the next one, a list */
	const struct request *asked;	/* of the program's, that the call waits for; or NULL */
};

static void waits_say(struct words *w, const char *format,
	...) __attribute__((format(printf, 2, 3)));

static void
waits_say(struct words *w, const char *format, ...)
{
	va_list list;
	int len;

	va_start(list, format);
	len = vsnprintf(w->at, w->room, format, list);
	va_end(list);
	if (len < 0 || (size_t)len >= w->room)
		len = w->room > 0 ? (int)w->room - 1 : 0;
	w->at += len;
	w->room -= (size_t)len;
}

static const struct comm *
comm_of(const struct mpi_rank *self, int32_t context)
{
	const struct handle_table *t = &self->tables[HANDLE_COMM];

	if (context / CONTEXTS_PER_COMM == ID_WORLD)
		return &self->world;
	for (uint32_t i = 0; i < t->capacity; i++) {
		const struct comm *c = t->slots[i].object;

		if (c != NULL && c->context / CONTEXTS_PER_COMM == context / CONTEXTS_PER_COMM)
			return c;
	}
	return NULL;
}

static void
say_comm(struct words *w, int32_t context)
{
	const struct comm *c = comm_of(w->self, context);

	switch (context / CONTEXTS_PER_COMM) {
	case ID_WORLD:
		waits_say(w, " on MPI_COMM_WORLD");
		break;
	case ID_SELF:
		waits_say(w, " on MPI_COMM_SELF");
		break;
	case ID_UNIVERSE:
		break;
	default:
		if (c != NULL && c->name != NULL)
			waits_say(w, " on communicator '%s'", c->name);
		else
			waits_say(w, " on communicator %d", context / CONTEXTS_PER_COMM);
		break;
	}
	if (context % CONTEXTS_PER_COMM != CONTEXT_PT2PT)
		waits_say(w, " (part of a collective or partitioned operation)");
}

static void
say_tag(struct words *w, int32_t context, int32_t tag)
{
	if (context % CONTEXTS_PER_COMM != CONTEXT_PT2PT)
		return;
	if (tag == MPI_ANY_TAG)
		waits_say(w, " with any tag");
	else
		waits_say(w, " with tag %d", tag);
}

static void
waits_begin(struct words *w)
{
	waits_say(w, w->said++ == 0 || w->begins ? ": " : "; ");
	w->begins = false;
}

static void
say_message(struct words *w, const struct group *g, int32_t context, int32_t source, int32_t tag)
{
	waits_begin(w);
	if (source == MPI_ANY_SOURCE)
		waits_say(w, "a message from any rank");
	else
		waits_say(w, "a message from rank %d", g != NULL ? mpi_group_world(g, source) :
			source);
	say_tag(w, context, tag);
	say_comm(w, context);
}

static void
say_request(struct words *w, const struct request *r)
{
	if (r->kind == REQUEST_RECV) {
		say_message(w, r->group, r->context, r->source, r->tag);
	} else if (r->kind == REQUEST_SEND) {
		waits_begin(w);
		waits_say(w, "that rank %u receives a message", r->peer);
		say_tag(w, r->context, r->tag);
		say_comm(w, r->context);
	}
}

/* The receives in one of the matcher's queues. */
static void
say_posted(struct words *w, const struct list *queue)
{
	for (const struct list *l = queue->next; l != NULL && l != queue && w->said < MOST;
		l = l->next)
		say_request(w, list_entry(l, const struct request, link));
}

static void
say_all_posted(struct words *w)
{
	const struct matcher *m = &w->self->match;

	for (int i = 0; i < MATCH_BINS; i++)
		say_posted(w, &m->posted[i]);
	say_posted(w, &m->posted_any);
}

/* Others that the program has begun and that are not done: MPI_Waitall waits for them in turn. */
static void
say_begun(struct words *w)
{
	const struct handle_table *t = &w->self->tables[HANDLE_REQUEST];

	for (uint32_t i = 0; i < t->capacity && w->said < MOST; i++) {
		const struct request *r = t->slots[i].object;

		if (r == NULL || r == w->asked || !mpi_request_is_active(r) ||
			mpi_request_is_done(r))
			continue;
		if (w->asked != NULL && w->said == 1) {
			waits_say(w, "; has also begun");
			w->begins = true;
		}
		say_request(w, r);
	}
}

/* What a call asks for that has no request of its own. */
static void
say_asked(struct words *w)
{
	const struct waiting *now = w->self->waits;

	if (now == NULL)
		return;
	if (now->ready == mpi_request_is_ready) {
		say_request(w, now->arg);
		if (((const struct request *)now->arg)->handle != 0)
			w->asked = now->arg;
	} else if (now->ready == probe_is_over) {
		const struct probe *p = now->arg;

		say_message(w, mpi_comm_peer_group(p->comm), p->comm->context, p->source, p->tag);
	}
}

static void
say_unexpected(struct words *w)
{
	const struct list *all = &w->self->match.unexpected_all;
	int said = 0;

	for (const struct list *l = all->next; l != NULL && l != all && said < MOST; l = l->next) {
		const struct packet *p = &list_entry(l, const struct unexpected, all)->packet;

		if (p->context % CONTEXTS_PER_COMM != CONTEXT_PT2PT)
			continue;
		waits_say(w, said++ == 0 ? "; has arrived and is not received: a message" :
			", one");
		waits_say(w, " from rank %u", p->origin);
		say_tag(w, p->context, p->tag);
		say_comm(w, p->context);
	}
}

void
mpi_describe_wait(struct mpi_rank *self, const char *function, char *text, size_t room)
{
	struct words w = {.self = self, .at = text, .room = room};

	waits_say(&w, "%s", function != NULL ? function : "an MPI function");
	say_asked(&w);
	if (w.said == 0 || w.asked != NULL)
		say_begun(&w);
	if (w.said == 0)
		say_all_posted(&w);
	if (w.said == 0 && function == NULL)
		waits_say(&w, ": other ranks of a collective operation");
	say_unexpected(&w);
}
