/* SPDX-License-Identifier: MIT
 *
 * Input side of mailboxes: which slots hold messages, whose turn it is, and what happens to
 * messages for a port that is closed. A slot belongs to its sender again once FREED or REFUSED was
 * sent. Home core.
 */
#include <base/str.h>
#include <kernel/ikc/state.h>

#define REFUSE_COST 2			/* of what a step of a look costs */

/* Where the message of a cluster lies. */
static unsigned
slot_of(struct cluster *c, uint32_t source, uint32_t port)
{
	uint32_t place = *mail_at(c, source, port);

	return place < WIRE_CREDIT ? hal_noc_mailbox_slot(place, source) :
		hal_noc_credit_slot(port, place - WIRE_CREDIT);
}

/*
 * A message in a slot. Its sender can change the slot at any time: what was looked at once is here.
 */
struct letter {
	const unsigned char *payload;
	uint32_t sequence;
	uint32_t generation;
	uint32_t badge;
	struct mail_sender origin;
};

/* Look at a slot. False if it holds no message of the peer's present life. */
static bool
find_letter(struct cluster *c, uint32_t source, uint32_t port, struct letter *l)
{
	const struct wire_mail *m = hal_noc_slot(slot_of(c, source, port));
	const volatile struct wire_header *h = &m->head;

	*l = (struct letter){m->payload, h->sequence, h->generation, h->badge,
		{h->origin, h->origin_badge}};
	if (l->origin.cluster >= c->ikc.clusters)
		l->origin.cluster = source;
	return h->magic == WIRE_MAIL && h->source == source && h->port == port &&
		h->incarnation == c->ikc.peer[source].incarnation;
}

static void
free_slot(struct cluster *c, uint32_t source, uint32_t port, uint32_t sequence)
{
	struct mail_in *in = &c->ikc.in[port];

	bitmap_clear(in->pending, source);
	mail_credit_put(c, source, port);
	event_send(c, source,
		wire_event(WIRE_FREED, port, in->generation << WIRE_GENERATION |
		(sequence & WIRE_SEQUENCE)));
}

static __attribute__((noinline)) void
refuse_slot(struct cluster *c, uint32_t source, uint32_t port, uint32_t sequence)
{
	event_send(c, source, wire_event(WIRE_REFUSED, port, sequence & WIRE_SEQUENCE));
}

/* What lies in a slot that is marked pending is no message. */
static __attribute__((noinline)) void
drop(struct cluster *c, uint32_t source, uint32_t port)
{
	bitmap_clear(c->ikc.in[port].pending, source);
	mail_credit_put(c, source, port);
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
	drop(c, source, port);
	return false;
}

bool
mail_wants_again(struct cluster *c, uint32_t source, uint32_t port)
{
	struct letter l;
	bool is_letter = find_letter(c, source, port, &l);

	*mail_at(c, source, port) =
		(uint16_t)(is_letter ? MAIL_WANTED | (l.sequence & WIRE_SEQUENCE) : 0);
	return is_letter;
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

	if (!list_is_empty(&in->waiters) || in->refusing || in->wants)
		look_at(c, queue_in(c, port));
}

static bool
is_for_past_life(const struct mail_in *in, uint32_t generation)
{
	return generation != 0 && (in->endpoint == NULL || generation != in->generation);
}

/* Has a cluster a message for the port that was neither read nor refused? */
static bool
is_known(const struct mail_in *in, uint32_t source)
{
	return bitmap_test(in->pending, source) || bitmap_test(in->refused, source) ||
		bitmap_test(in->wanted, source);
}

void
mail_arrived(struct cluster *c, uint32_t source, uint32_t event)
{
	uint32_t port = wire_event_port(event), place = wire_event_argument(event) & WIRE_PLACE;
	struct mail_in *in = &c->ikc.in[port];
	struct letter l;

	if (is_known(in, source) ||
		(place >= WIRE_CREDIT && in->credit[place - WIRE_CREDIT] != source + 1))
		return;
	*mail_at(c, source, port) = (uint16_t)place;
	if (!find_letter(c, source, port, &l)) {
		mail_credit_put(c, source, port);
		return;
	}
	if (is_for_past_life(in, l.generation)) {
		mail_credit_put(c, source, port);
		refuse_slot(c, source, port, l.sequence);
		return;
	}
	bitmap_set(in->pending, source);
	in->arrivals++;
	mail_in_count(c, port);
	binding_signal(c, &in->event);
	mail_in_look(c, port);
}

void
mail_wanted(struct cluster *c, uint32_t source, uint32_t event)
{
	uint32_t port = wire_event_port(event), said = wire_event_argument(event);
	struct mail_in *in = &c->ikc.in[port];

	if (is_known(in, source) || mail_has_credit(in, source))
		return;
	if (is_for_past_life(in, said >> WIRE_GENERATION & 0xff)) {
		refuse_slot(c, source, port, said);
		return;
	}
	*mail_at(c, source, port) = (uint16_t)(MAIL_WANTED | (said & WIRE_SEQUENCE));
	bitmap_set(in->wanted, source);
	in->wants = true;
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
mail_in_take(struct cluster *c, uint32_t port, int source, void *msg, struct mail_senders *by)
{
	struct letter l;
	long from;

	while ((from = find(c, port, source, &l)) >= 0) {
		if (copy_message(c, (uint32_t)from, &l, msg)) {
			free_slot(c, (uint32_t)from, port, l.sequence);
			by->sender = (struct mail_sender){(uint32_t)from, l.badge};
			by->origin = l.origin;
			if (source == ANY_SOURCE_CLUSTER)
				c->ikc.in[port].next = (uint32_t)from + 1;
			break;
		}
		drop(c, (uint32_t)from, port);
	}
	if (from < 0 && source != ANY_SOURCE_CLUSTER)
		mail_demand(c, (uint32_t)source, port);
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
		in->refusing |= (in->pending[i] | in->wanted[i]) != 0;
		in->refused[i] |= in->pending[i] | in->wanted[i];
		in->pending[i] = in->wanted[i] = 0;
	}
	mail_in_look(c, ep->port);
}

/* The message of a cluster is refused, wherever it is. */
static __attribute__((noinline)) void
refuse(struct cluster *c, uint32_t source, uint32_t port)
{
	uint32_t at = *mail_at(c, source, port);
	struct letter l;

	if (at & MAIL_WANTED) {
		refuse_slot(c, source, port, at);
		return;
	}
	if (find_letter(c, source, port, &l))
		refuse_slot(c, source, port, l.sequence);
	mail_credit_put(c, source, port);
}

int
mail_in_serve(struct cluster *c, uint32_t port, int cost)
{
	struct mail_in *in = &c->ikc.in[port];

	for (; in->refusing && cost > 0; cost -= REFUSE_COST) {
		uint32_t source = bitmap_find_set(in->refused, c->ikc.clusters, 0);

		if (source == c->ikc.clusters) {
			in->refusing = false;
			break;
		}
		bitmap_clear(in->refused, source);
		refuse(c, source, port);
	}
	return in->wants ? mail_credits_give(c, port, cost) : cost;
}

void
mail_in_peer_changed(struct cluster *c, uint32_t peer, uint32_t port)
{
	struct mail_in *in = &c->ikc.in[port];

	if (c->ikc.peer[peer].state == PEER_MEETING) {
		bitmap_clear(in->pending, peer);
		bitmap_clear(in->refused, peer);
	}
	mail_credits_forget(c, peer, port);
	binding_signal(c, &in->event);
	mail_in_look(c, port);
}
