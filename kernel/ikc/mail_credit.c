/* SPDX-License-Identifier: MIT
 *
 * Ports that share connectors. A message for which none of its sender's connectors at the receiver
 * is free is kept by the sender's kernel, charged to the process that wrote it, and the receiver is
 * told (WANT). Each port has credits, slots that no other port uses: one after the other the
 * clusters that want one get it (GRANT), and put their message there. So what nobody reads at one
 * port holds back nothing at another.
 *
 * The sender keeps its copy until the message was read. So the receiver can take a credit back by
 * itself from a message that lies there: that one waits again, and comes when it is granted the
 * next. It does so when somebody waits for a message of one cluster only. Home core.
 *
 * Source: seed 002 4.3.1, 4.3.2. Differs: the table of buffers is the senders', who pay for it; who
 * reads a port never has to look through messages for others.
 */
#include <kernel/ikc/state.h>

#define GIVE_COST 2			/* of what a step of a look costs */

/* --- receiver --- */

void
mail_credit_put(struct cluster *c, uint32_t source, uint32_t port)
{
	struct mail_in *in = &c->ikc.in[port];
	uint32_t place = *mail_at(c, source, port);

	if (place - WIRE_CREDIT >= MAILBOX_CREDITS)
		return;
	in->credit[place - WIRE_CREDIT] = 0;
	*mail_at(c, source, port) = 0;
	if (in->wants)
		look_later(c, queue_in(c, port));
}

bool
mail_has_credit(const struct mail_in *in, uint32_t source)
{
	unsigned i = 0;

	while (i < MAILBOX_CREDITS && in->credit[i] != source + 1)
		i++;
	return i < MAILBOX_CREDITS;
}

static void
grant(struct cluster *c, uint32_t source, uint32_t port, unsigned credit)
{
	struct mail_in *in = &c->ikc.in[port];

	bitmap_clear(in->wanted, source);
	in->credit[credit] = (uint8_t)(source + 1);
	event_send(c, source, wire_event(WIRE_GRANT, port, WIRE_CREDIT + credit));
}

/* The cluster that wants a credit and is served next; ikc.clusters: there is none. */
static uint32_t
next_wanting(struct cluster *c, struct mail_in *in)
{
	uint32_t clusters = c->ikc.clusters, next = bitmap_find_set(in->wanted, clusters, in->next);

	if (next == clusters)
		next = bitmap_find_set(in->wanted, clusters, 0);
	in->wants = next < clusters;
	return next;
}

int
mail_credits_give(struct cluster *c, uint32_t port, int cost)
{
	struct mail_in *in = &c->ikc.in[port];

	for (unsigned i = 0; i < MAILBOX_CREDITS && cost > 0; i++) {
		uint32_t source;

		if (in->credit[i] != 0)
			continue;
		source = next_wanting(c, in);
		if (!in->wants)
			break;
		grant(c, source, port, i);
		cost -= GIVE_COST;
	}
	return cost;
}

/*
 * A credit that is free, or becomes so: what lies there waits at its sender again. -1: none does.
 */
static int
credit_take_back(struct cluster *c, uint32_t port)
{
	struct mail_in *in = &c->ikc.in[port];

	for (unsigned i = 0; i < MAILBOX_CREDITS; i++)
		if (in->credit[i] == 0)
			return (int)i;
	for (unsigned i = 0; i < MAILBOX_CREDITS; i++) {
		uint32_t from = in->credit[i] - 1u;

		if (!bitmap_test(in->pending, from) ||
			*mail_at(c, from, port) != WIRE_CREDIT + i ||
			c->ikc.peer[from].state != PEER_UP)
			continue;
		bitmap_clear(in->pending, from);
		if (mail_wants_again(c, from, port)) {
			bitmap_set(in->wanted, from);
			in->wants = true;
		}
		return (int)i;
	}
	return -1;
}

void
mail_demand(struct cluster *c, uint32_t source, uint32_t port)
{
	int credit;

	if (!bitmap_test(c->ikc.in[port].wanted, source))
		return;
	credit = credit_take_back(c, port);
	if (credit >= 0)
		grant(c, source, port, (unsigned)credit);
}

void
mail_credits_forget(struct cluster *c, uint32_t peer, uint32_t port)
{
	struct mail_in *in = &c->ikc.in[port];
	uint32_t place = *mail_at(c, peer, port);
	bool lies = bitmap_test(in->pending, peer) || bitmap_test(in->refused, peer);

	bitmap_clear(in->wanted, peer);
	for (unsigned i = 0; i < MAILBOX_CREDITS; i++)
		if (in->credit[i] == peer + 1 && !(lies && place == WIRE_CREDIT + i))
			in->credit[i] = 0;
}

/* --- sender --- */

long
mail_keep(struct thread *caller, struct mail_out *o, struct wire_mail **mail)
{
	struct quota *q = caller->proc->quota;

	o->kept = quota_alloc(q, &caller->cluster->slab, sizeof(*o->kept));
	if (o->kept == NULL)
		return -E_NOMEM;
	quota_get(q);
	o->kept->quota = q;
	*mail = &o->kept->mail;
	caller->cluster->ikc.kept++;
	return 0;
}

void
mail_kept_free(struct cluster *c, struct mail_out *o)
{
	struct quota *q = o->kept->quota;

	quota_free(q, &c->slab, o->kept, sizeof(*o->kept));
	quota_put(&c->slab, q);
	o->kept = NULL;
	c->ikc.kept--;
}

void
mail_granted(struct cluster *c, uint32_t peer, uint32_t event)
{
	uint32_t port = wire_event_port(event), place = wire_event_argument(event) & WIRE_PLACE;
	struct mail_out *o = *mail_out_at(c, peer, port);

	if (o == NULL || o->kept == NULL)
		return;
	if (hal_noc_put(peer, hal_noc_credit_slot(port, place - WIRE_CREDIT),
		c->ikc.peer[peer].incarnation, &o->kept->mail, sizeof(o->kept->mail)) == 0)
		event_send(c, peer, wire_event(WIRE_ARRIVED, port, place));
}
