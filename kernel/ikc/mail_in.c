/* SPDX-License-Identifier: MIT
 *
 * Input side of mailboxes: which slots hold messages, whose turn it is, and what happens to messages for a port that is closed.
 * A slot belongs to its sender again once FREED or REFUSED was sent. Home core.
 */
#include <base/str.h>
#include <kernel/ikc/state.h>

/* The message in a slot, NULL if it is not one of the peer's present life. */
static const struct wire_mail *
message_of(struct cluster *c, uint32_t source, uint32_t port)
{
	const struct wire_mail *m = hal_noc_slot(hal_noc_mailbox_slot(port, source));

	if (m->head.magic != WIRE_MAIL || m->head.source != source || m->head.port != port)
		return NULL;
	return m->head.incarnation == c->ikc.peer[source].incarnation ? m : NULL;
}

static void
free_slot(struct cluster *c, uint32_t source, uint32_t port, uint32_t sequence)
{
	struct mail_in *in = &c->ikc.in[port];

	bitmap_clear(in->pending, source);
	event_send(c, source, wire_event(WIRE_FREED, port, in->generation << 12 | (sequence & WIRE_SEQUENCE)));
}

static void
refuse_slot(struct cluster *c, uint32_t source, uint32_t port, uint32_t sequence)
{
	bitmap_clear(c->ikc.in[port].pending, source);
	event_send(c, source, wire_event(WIRE_REFUSED, port, sequence & WIRE_SEQUENCE));
}

/*
 * Look at a slot marked pending: the message if it is for the port's present life. What is of a past life (the sender's or the port's)
 * leaves the slot.
 */
static const struct wire_mail *
pending_message(struct cluster *c, uint32_t source, uint32_t port)
{
	const struct mail_in *in = &c->ikc.in[port];
	const struct wire_mail *m;

	if (!bitmap_test(in->pending, source))
		return NULL;
	m = message_of(c, source, port);
	if (m == NULL) {
		bitmap_clear(c->ikc.in[port].pending, source);
		return NULL;
	}
	if (m->head.generation == 0 || m->head.generation == in->generation)
		return m;
	refuse_slot(c, source, port, m->head.sequence);
	return NULL;
}

static void
wake_waiters(struct cluster *c, struct mail_in *in)
{
	struct thread *t;

	while ((t = thread_first(&in->waiters)) != NULL) {
		seen_of(t)->waits_in = false;
		seen_of(t)->gone = c->ikc.gone;
		thread_ready(t, 0);
	}
	if (in->desc != NONE)
		ikc_wake(c, in->listener);
}

void
mail_arrived(struct cluster *c, uint32_t source, uint32_t port)
{
	struct mail_in *in = &c->ikc.in[port];
	const struct wire_mail *m = message_of(c, source, port);

	if (m == NULL)
		return;
	if (in->desc == NONE && m->head.generation != 0) {
		refuse_slot(c, source, port, m->head.sequence);
		return;
	}
	bitmap_set(in->pending, source);
	in->arrivals++;
	hal_store32(&c->events->mailbox_arrivals[port], in->arrivals);
	wake_waiters(c, in);
}

bool
mail_in_is_pending(struct cluster *c, uint32_t port)
{
	for (uint32_t source = 0; source < c->ikc.clusters; source++)
		if (pending_message(c, source, port) != NULL)
			return true;
	return false;
}

/* Copy a message out unless its sender restarted meanwhile and may have overwritten it. */
static bool
copy_message(struct cluster *c, const struct wire_mail *m, void *msg)
{
	uint32_t source = m->head.source, incarnation = c->ikc.peer[source].incarnation;

	memcpy(msg, m->payload, MAILBOX_MSG_SIZE);
	hal_fence();
	return hal_noc_incarnation(source) == incarnation;
}

static bool
take_from(struct cluster *c, uint32_t source, uint32_t port, void *msg)
{
	const struct wire_mail *m = pending_message(c, source, port);
	uint32_t sequence;

	if (m == NULL)
		return false;
	sequence = m->head.sequence;
	if (!copy_message(c, m, msg)) {
		bitmap_clear(c->ikc.in[port].pending, source);
		return false;
	}
	free_slot(c, source, port, sequence);
	return true;
}

long
mail_in_take(struct cluster *c, uint32_t port, int source, void *msg)
{
	struct mail_in *in = &c->ikc.in[port];
	uint32_t at = in->next;

	if (source != ANY_SOURCE_CLUSTER)
		return take_from(c, (uint32_t)source, port, msg) ? source : -E_AGAIN;
	for (uint32_t i = 0; i < c->ikc.clusters; i++) {
		uint32_t candidate = at;

		at = at + 1 < c->ikc.clusters ? at + 1 : 0;
		if (take_from(c, candidate, port, msg)) {
			in->next = at;
			return (long)candidate;
		}
	}
	return -E_AGAIN;
}

void
mail_in_close(struct cluster *c, struct ikc_desc *d)
{
	struct mail_in *in = &c->ikc.in[d->port];
	struct thread *t;

	while ((t = thread_first(&in->waiters)) != NULL) {
		seen_of(t)->waits_in = false;
		thread_ready(t, -E_BADF);
	}
	in->desc = NONE;
	for (uint32_t source = 0; source < c->ikc.clusters; source++) {
		const struct wire_mail *m = pending_message(c, source, d->port);

		if (m != NULL)
			refuse_slot(c, source, d->port, m->head.sequence);
	}
	desc_release(c, d);
}

void
mail_in_peer_gone(struct cluster *c)
{
	c->ikc.gone++;
	for (uint32_t port = 0; port < c->ikc.mailbox_ports; port++)
		wake_waiters(c, &c->ikc.in[port]);
}

void
mail_in_peer_new(struct cluster *c, uint32_t peer)
{
	for (uint32_t port = 0; port < c->ikc.mailbox_ports; port++)
		bitmap_clear(c->ikc.in[port].pending, peer);
}

/* End a thread's wait for a message, though none came: there is news that it should look at. */
void
mail_in_stir(struct cluster *c, int tid)
{
	struct thread *t = thread_find(c, tid);

	ikc_wake(c, tid);
	if (t == NULL)
		return;
	if (t->state == THREAD_WAITING && seen_of(t)->waits_in) {
		seen_of(t)->waits_in = false;
		thread_ready(t, 0);
	} else {
		seen_of(t)->stirred = true;
	}
}
