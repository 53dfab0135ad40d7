/* SPDX-License-Identifier: MIT
 *
 * Input side of mailboxes: which slots hold messages, whose turn it is, and what happens to messages for a port that is closed.
 * A slot belongs to its sender again once FREED or REFUSED was sent. Home core.
 */
#include <base/str.h>
#include <kernel/ikc/state.h>

/* A message in a slot. Its sender can change the slot at any time: what was looked at once is here. */
struct letter {
	const unsigned char *payload;
	uint32_t sequence;
	uint32_t generation;
	uint32_t badge;
};

/* Look at a slot. False if it holds no message of the peer's present life. */
static bool
look_at(struct cluster *c, uint32_t source, uint32_t port, struct letter *l)
{
	const struct wire_mail *m = hal_noc_slot(hal_noc_mailbox_slot(port, source));
	const volatile struct wire_header *h = &m->head;

	*l = (struct letter){m->payload, h->sequence, h->generation, h->badge};
	return h->magic == WIRE_MAIL && h->source == source && h->port == port && h->incarnation == c->ikc.peer[source].incarnation;
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
 * Look at a slot marked pending: is there a message for the port's present life? What is of a past life (the sender's or the port's)
 * leaves the slot.
 */
static bool
is_pending(struct cluster *c, uint32_t source, uint32_t port, struct letter *l)
{
	const struct mail_in *in = &c->ikc.in[port];

	if (!bitmap_test(in->pending, source))
		return false;
	if (!look_at(c, source, port, l)) {
		bitmap_clear(c->ikc.in[port].pending, source);
		return false;
	}
	if (l->generation == 0 || l->generation == in->generation)
		return true;
	refuse_slot(c, source, port, l->sequence);
	return false;
}

/* Those that wait for a message of this source go on. */
static void
ready_for(struct mail_in *in, uint32_t source, long result)
{
	struct list *node, *after;

	list_each(node, after, &in->waiters) {
		struct thread *t = list_entry(node, struct thread, wait.link);

		if ((int)t->wait.on == (int)source || ((int)t->wait.on == ANY_SOURCE_CLUSTER && result == 0))
			thread_ready(t, result);
	}
}

void
mail_in_count(struct cluster *c, uint32_t port)
{
	const struct mail_in *in = &c->ikc.in[port];
	const struct process *p;

	if (in->endpoint == NULL)
		return;
	p = &c->proc[ID_INDEX(in->endpoint->owner)];
	if (p->id == in->endpoint->owner && p->events != NULL)
		hal_store32(&p->events->mailbox_arrivals[port], in->arrivals);
}

void
mail_arrived(struct cluster *c, uint32_t source, uint32_t port)
{
	struct mail_in *in = &c->ikc.in[port];
	struct letter l;

	if (!look_at(c, source, port, &l))
		return;
	if (in->endpoint == NULL && l.generation != 0) {
		refuse_slot(c, source, port, l.sequence);
		return;
	}
	bitmap_set(in->pending, source);
	in->arrivals++;
	mail_in_count(c, port);
	ready_for(in, source, 0);
	binding_signal(c, &in->event);
}

bool
mail_in_is_pending(struct cluster *c, uint32_t port, int from)
{
	struct letter l;

	if (from != ANY_SOURCE_CLUSTER)
		return is_pending(c, (uint32_t)from, port, &l);
	for (uint32_t source = 0; source < c->ikc.clusters; source++)
		if (is_pending(c, source, port, &l))
			return true;
	return false;
}

/* Copy a message out unless its sender restarted meanwhile and may have overwritten it. */
static bool
copy_message(struct cluster *c, uint32_t source, const struct letter *l, void *msg)
{
	memcpy(msg, l->payload, MAILBOX_MSG_SIZE);
	hal_fence();
	return hal_noc_incarnation(source) == c->ikc.peer[source].incarnation;
}

static bool
take_from(struct cluster *c, uint32_t source, uint32_t port, void *msg, struct mail_sender *sender)
{
	struct letter l;

	if (!is_pending(c, source, port, &l))
		return false;
	if (!copy_message(c, source, &l, msg)) {
		bitmap_clear(c->ikc.in[port].pending, source);
		return false;
	}
	free_slot(c, source, port, l.sequence);
	*sender = (struct mail_sender){source, l.badge};
	return true;
}

long
mail_in_take(struct cluster *c, uint32_t port, int source, void *msg, struct mail_sender *sender)
{
	struct mail_in *in = &c->ikc.in[port];
	uint32_t at = in->next;

	if (source != ANY_SOURCE_CLUSTER)
		return take_from(c, (uint32_t)source, port, msg, sender) ? source : -E_AGAIN;
	for (uint32_t i = 0; i < c->ikc.clusters; i++) {
		uint32_t candidate = at;

		at = at + 1 < c->ikc.clusters ? at + 1 : 0;
		if (take_from(c, candidate, port, msg, sender)) {
			in->next = at;
			return (long)candidate;
		}
	}
	return -E_AGAIN;
}

void
mail_in_close(struct cluster *c, const struct endpoint *ep)
{
	struct mail_in *in = &c->ikc.in[ep->port];

	in->endpoint = NULL;
	in->event = (struct binding){0, 0};
	for (uint32_t source = 0; source < c->ikc.clusters; source++) {
		struct letter l;

		if (is_pending(c, source, ep->port, &l))
			refuse_slot(c, source, ep->port, l.sequence);
	}
}

void
mail_in_peer_gone(struct cluster *c, uint32_t peer)
{
	for (uint32_t port = 0; port < c->ikc.mailbox_ports; port++) {
		ready_for(&c->ikc.in[port], peer, -E_HOSTDOWN);
		binding_signal(c, &c->ikc.in[port].event);
	}
}

void
mail_in_peer_new(struct cluster *c, uint32_t peer)
{
	for (uint32_t port = 0; port < c->ikc.mailbox_ports; port++)
		bitmap_clear(c->ikc.in[port].pending, peer);
}
