/* SPDX-License-Identifier: MIT
 *
 * Input side of mailboxes: which slots hold messages, whose turn it is, and what happens to
 * messages for a port that is closed. A slot belongs to its sender again once FREED or REFUSED was
 * sent. Home core.
 */
#include <base/str.h>
#include <kernel/ikc/state.h>

#define REFUSE_COST 2			/* of what a step of a look costs */

/*
 * A message in a slot. Its sender can change the slot at any time: what was looked at once is here.
 */
struct letter {
	const unsigned char *payload;
	uint32_t sequence;
	uint32_t generation;
	uint32_t badge;
};

/* Look at a slot. False if it holds no message of the peer's present life. */
static bool
find_letter(struct cluster *c, uint32_t source, uint32_t port, struct letter *l)
{
	const struct wire_mail *m = hal_noc_slot(hal_noc_mailbox_slot(port, source));
	const volatile struct wire_header *h = &m->head;

	*l = (struct letter){m->payload, h->sequence, h->generation, h->badge};
	return h->magic == WIRE_MAIL && h->source == source && h->port == port &&
		h->incarnation == c->ikc.peer[source].incarnation;
}

static void
free_slot(struct cluster *c, uint32_t source, uint32_t port, uint32_t sequence)
{
	struct mail_in *in = &c->ikc.in[port];

	bitmap_clear(in->pending, source);
	event_send(c, source,
		wire_event(WIRE_FREED, port, in->generation << 12 | (sequence & WIRE_SEQUENCE)));
}

static void
refuse_slot(struct cluster *c, uint32_t source, uint32_t port, uint32_t sequence)
{
	event_send(c, source, wire_event(WIRE_REFUSED, port, sequence & WIRE_SEQUENCE));
}

/*
 * Look at a slot marked pending: is there a message? What is of a past life of the sender, or was
 * changed by it since, counts as none.
 */
static bool
is_pending(struct cluster *c, uint32_t source, uint32_t port, struct letter *l)
{
	uint32_t *pending = c->ikc.in[port].pending;

	if (c->ikc.peer[source].state == PEER_MEETING || !bitmap_test(pending, source))
		return false;
	if (find_letter(c, source, port, l))
		return true;
	bitmap_clear(pending, source);
	return false;
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
mail_in_look(struct cluster *c, uint32_t port)
{
	const struct mail_in *in = &c->ikc.in[port];

	if (!list_is_empty(&in->waiters) || in->refusing)
		look_at(c, queue_in(c, port));
}

void
mail_arrived(struct cluster *c, uint32_t source, uint32_t port)
{
	struct mail_in *in = &c->ikc.in[port];
	struct letter l;

	if (bitmap_test(in->refused, source) || !find_letter(c, source, port, &l))
		return;
	if (l.generation != 0 && (in->endpoint == NULL || l.generation != in->generation)) {
		refuse_slot(c, source, port, l.sequence);
		return;
	}
	bitmap_set(in->pending, source);
	in->arrivals++;
	mail_in_count(c, port);
	binding_signal(c, &in->event);
	mail_in_look(c, port);
}

/* A message of `source` (of any: those with messages in turn): its source, or -E_AGAIN. */
static long
find(struct cluster *c, uint32_t port, int source, struct letter *l)
{
	const struct mail_in *in = &c->ikc.in[port];
	uint32_t at = in->next, end = c->ikc.clusters;

	if (source != ANY_SOURCE_CLUSTER)
		return is_pending(c, (uint32_t)source, port, l) ? source : -E_AGAIN;
	for (int pass = 0; pass < 2; pass++, at = 0, end = in->next)
		for (; (at = bitmap_find_set(in->pending, end, at)) < end; at++)
			if (is_pending(c, at, port, l))
				return (long)at;
	return -E_AGAIN;
}

bool
mail_in_is_pending(struct cluster *c, uint32_t port, int source)
{
	struct letter l;

	return find(c, port, source, &l) >= 0;
}

/* Copy a message out unless its sender restarted meanwhile and may have overwritten it. */
static bool
copy_message(struct cluster *c, uint32_t source, const struct letter *l, void *msg)
{
	memcpy(msg, l->payload, MAILBOX_MSG_SIZE);
	hal_fence();
	return hal_noc_incarnation(source) == c->ikc.peer[source].incarnation;
}

long
mail_in_take(struct cluster *c, uint32_t port, int source, void *msg, struct mail_sender *sender)
{
	struct letter l;
	long from;

	while ((from = find(c, port, source, &l)) >= 0) {
		if (copy_message(c, (uint32_t)from, &l, msg)) {
			free_slot(c, (uint32_t)from, port, l.sequence);
			*sender = (struct mail_sender){(uint32_t)from, l.badge};
			if (source == ANY_SOURCE_CLUSTER)
				c->ikc.in[port].next = (uint32_t)from + 1;
			break;
		}
		bitmap_clear(c->ikc.in[port].pending, (uint32_t)from);
	}
	return from;
}

/*
 * The messages that nobody has read are refused: some at once, the rest while home looks through
 * the port's queue.
 */
void
mail_in_close(struct cluster *c, const struct endpoint *ep)
{
	struct mail_in *in = &c->ikc.in[ep->port];

	in->endpoint = NULL;
	in->event = (struct binding){0};
	for (uint32_t i = 0; i < BITMAP_WORDS(CLUSTERS_MAX); i++) {
		in->refusing |= in->pending[i] != 0;
		in->refused[i] |= in->pending[i];
		in->pending[i] = 0;
	}
	mail_in_look(c, ep->port);
}

int
mail_in_refuse(struct cluster *c, uint32_t port, int cost)
{
	struct mail_in *in = &c->ikc.in[port];
	struct letter l;

	for (; in->refusing && cost > 0; cost -= REFUSE_COST) {
		uint32_t source = bitmap_find_set(in->refused, c->ikc.clusters, 0);

		if (source == c->ikc.clusters) {
			in->refusing = false;
			break;
		}
		bitmap_clear(in->refused, source);
		if (find_letter(c, source, port, &l))
			refuse_slot(c, source, port, l.sequence);
	}
	return cost;
}

void
mail_in_peer_changed(struct cluster *c, uint32_t peer, uint32_t port)
{
	struct mail_in *in = &c->ikc.in[port];

	if (c->ikc.peer[peer].state == PEER_MEETING) {
		bitmap_clear(in->pending, peer);
		bitmap_clear(in->refused, peer);
	}
	binding_signal(c, &in->event);
	mail_in_look(c, port);
}
