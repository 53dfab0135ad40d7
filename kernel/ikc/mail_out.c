/* SPDX-License-Identifier: MIT
 *
 * Output side of mailboxes: one message per peer and port at most is on its way, of all processes
 * of the cluster. Such a slot is full from the write until FREED or REFUSED. When it is free, or
 * its peer gone, the threads that wait for it go on, one after the other as long as it is, and
 * those that found it full and have bound EVENT_ROOM are told: who comes first writes. Home core.
 */
#include <base/str.h>
#include <kernel/ikc/state.h>

static uint16_t *
left_at(struct cluster *c, uint32_t peer, uint32_t port)
{
	return &c->ikc.left[peer * c->ikc.mailbox_ports + port];
}

/*
 * The cluster's account pays, for processes share the slot: but only as long as the one that opens
 * it first could pay, too.
 */
static struct mail_out *
slot_new(struct thread *caller, uint32_t peer, uint32_t port)
{
	struct cluster *c = caller->cluster;
	size_t bytes = slab_size(&c->slab, sizeof(struct mail_out));
	struct mail_out *o = NULL;

	if (quota_has_room(caller->proc->quota, QUOTA_BYTES, bytes))
		o = quota_alloc(&c->all, &c->slab, bytes);
	if (o == NULL)
		return NULL;
	list_init(&o->waiters);
	list_init(&o->missed);
	o->peer = (uint8_t)peer;
	o->port = (uint8_t)port;
	o->full = *left_at(c, peer, port) != 0;
	o->sequence = o->full ? *left_at(c, peer, port) & WIRE_SEQUENCE :
		c->record->cluster[c->id].incarnation << 6;
	o->place = (uint8_t)(*left_at(c, peer, port) >> MAIL_LEFT_PLACE);
	*left_at(c, peer, port) = 0;
	return o;
}

struct mail_out *
mail_out_get(struct thread *caller, uint32_t peer, uint32_t port)
{
	struct mail_out **at = mail_out_at(caller->cluster, peer, port);

	if (*at == NULL)
		*at = slot_new(caller, peer, port);
	if (*at != NULL)
		(*at)->endpoints++;
	return *at;
}

void
mail_out_put(struct cluster *c, struct mail_out *o)
{
	uint32_t peer = o->peer, port = o->port;

	if (--o->endpoints == 0)
		mail_out_look(c, o);
	mail_out_forget(c, peer, port);
}

void
mail_out_forget(struct cluster *c, uint32_t peer, uint32_t port)
{
	struct mail_out **at = mail_out_at(c, peer, port), *o = *at;

	if (o == NULL || o->endpoints > 0 || o->kept != NULL || !list_is_empty(&o->waiters) ||
		!list_is_empty(&o->missed) || bitmap_test(c->ikc.look, queue_out(c, peer, port)))
		return;
	*at = NULL;
	if (o->full)
		*left_at(c, peer, port) = (uint16_t)(MAIL_LEFT |
			(uint32_t)o->place << MAIL_LEFT_PLACE | (o->sequence & WIRE_SEQUENCE));
	quota_free(&c->all, &c->slab, o, slab_size(&c->slab, sizeof(*o)));
}

/*
 * The slot was full: its next emptiness is told. A thread that misses several slots is told of any
 * of them: it tries them all again, for a bit is no more than a hint. Until it is told it keeps its
 * place among those, whatever it misses: one slot may be free already.
 */
static void
miss(struct mail_out *o, struct thread *t)
{
	struct list *several = &t->cluster->ikc.missed;
	bool misses_others;

	if (t->missed_slot == NULL)
		list_init(&t->missed);
	if (t->missed_slot == several && !list_is_empty(&t->missed))
		return;
	misses_others = !list_is_empty(&t->missed) && t->missed_slot != o;
	t->missed_slot = misses_others ? (const void *)several : o;
	if (t->room.tid == 0)
		return;
	list_remove(&t->missed);
	list_push_back(misses_others ? several : &o->missed, &t->missed);
}

void
mail_out_look(struct cluster *c, const struct mail_out *o)
{
	bool is_free = mail_out_is_free(c, o);

	if (!list_is_empty(&o->waiters) || !list_is_empty(&o->missed))
		look_at(c, queue_out(c, o->peer, o->port));
	if (!list_is_empty(&c->ikc.missed) && is_free)
		look_at(c, QUEUE_MISSED);
}

/* Where no message lies any more, a connector may be free. */
static void
place_free(struct cluster *c, uint32_t peer, uint32_t place)
{
	if (place < WIRE_CREDIT)
		bitmap_clear(connected_at(c, peer), place);
}

static void
left_free(struct cluster *c, uint32_t peer, uint16_t *left)
{
	if (*left != 0)
		place_free(c, peer, *left >> MAIL_LEFT_PLACE & WIRE_PLACE);
	*left = 0;
}

/*
 * The peer has read (or refused) the message that we wrote last: the slot, if one of our mailboxes
 * names it, or NULL. Also if the event is wrong.
 */
static struct mail_out *
answered(struct cluster *c, uint32_t peer, uint32_t event)
{
	struct mail_out *o = *mail_out_at(c, peer, wire_event_port(event));
	uint16_t *left = left_at(c, peer, wire_event_port(event));

	if (((*left ^ event) & WIRE_SEQUENCE) == 0)
		left_free(c, peer, left);
	return o != NULL && o->full && (event & WIRE_SEQUENCE) == (o->sequence & WIRE_SEQUENCE) ?
		o : NULL;
}

/* The slot is empty. Nobody may know it any more but those who are told now. */
static void
emptied(struct cluster *c, struct mail_out *o)
{
	uint32_t peer = o->peer, port = o->port;

	if (o->kept != NULL)
		mail_kept_free(c, o);
	else if (o->full)
		place_free(c, peer, o->place);
	o->full = false;
	mail_out_look(c, o);
	mail_out_forget(c, peer, port);
}

void
mail_freed(struct cluster *c, uint32_t peer, uint32_t event)
{
	struct mail_out *o = answered(c, peer, event);

	if (o == NULL)
		return;
	if (o->writer != NULL) {
		latency_end(c, o->writer);
		o->writer->generation = (uint8_t)(wire_event_argument(event) >> WIRE_GENERATION);
	}
	emptied(c, o);
}

void
mail_refused(struct cluster *c, uint32_t peer, uint32_t event)
{
	struct mail_out *o = answered(c, peer, event);
	struct thread *writer;

	if (o == NULL)
		return;
	writer = thread_find(c, o->writer_tid);
	if (o->writer != NULL) {
		o->writer->error = -E_PIPE;
		if (writer != NULL)
			binding_signal(c, &writer->room);
	}
	emptied(c, o);
}

/* Why this mailbox cannot be written to now: 0 if it can, as far as the peer is concerned. */
static long
out_check(struct cluster *c, struct endpoint *ep)
{
	return ep->error != 0 ? ep->error : peer_check(c, ep);
}

/* The badge is that of the process that writes: it can put no other there. */
static void
fill(const struct thread *caller, struct wire_mail *m, const struct endpoint *ep, const void *msg,
	const struct mail_sender *origin)
{
	struct cluster *c = caller->cluster;

	m->head = (struct wire_header){
		.magic = WIRE_MAIL,
		.incarnation = c->record->cluster[c->id].incarnation,
		.sequence = ep->slot->sequence + 1,
		.length = MAILBOX_MSG_SIZE,
		.source = (uint16_t)c->id,
		.port = ep->port,
		.generation = ep->generation,
		.badge = caller->proc->badge,
		.origin = (uint8_t)origin->cluster,
		.origin_badge = origin->badge,
	};
	memcpy(m->payload, msg, MAILBOX_MSG_SIZE);
}

/*
 * A connector of the peer that holds no message of ours: that with the port's number, if possible.
 */
static int
connector(const struct cluster *c, const struct endpoint *ep)
{
	const uint32_t *used = connected_at(c, ep->cluster);

	if (ep->port < c->ikc.connectors && !bitmap_test(used, ep->port))
		return ep->port;
	return bitmap_find_clear(used, c->ikc.connectors, 0);
}

/* Put a message where there is room, or keep it. */
static long
put(struct thread *caller, struct endpoint *ep, const void *msg, const struct mail_sender *origin)
{
	struct cluster *c = caller->cluster;
	int free = connector(c, ep);
	struct wire_mail m, *kept;
	long wrong;

	if (free < 0) {
		wrong = mail_keep(caller, ep->slot, &kept);
		if (wrong == 0)
			fill(caller, kept, ep, msg, origin);
		return wrong;
	}
	fill(caller, &m, ep, msg, origin);
	if (hal_noc_put(ep->cluster, hal_noc_mailbox_slot((unsigned)free, c->id), ep->incarnation,
		&m, sizeof(m)) != 0)
		return peer_look_again(c, ep);
	bitmap_set(connected_at(c, ep->cluster), (uint32_t)free);
	ep->slot->place = (uint8_t)free;
	return 0;
}

/* What the peer is told of the message that was put, or kept. */
static uint32_t
news(const struct endpoint *ep)
{
	const struct mail_out *o = ep->slot;

	return o->kept == NULL ? wire_event(WIRE_ARRIVED, ep->port, o->place) :
		wire_event(WIRE_WANT, ep->port, (uint32_t)ep->generation << WIRE_GENERATION |
		(o->sequence & WIRE_SEQUENCE));
}

long
mail_out_write(struct thread *caller, struct endpoint *ep, const void *msg,
	const struct mail_sender *origin)
{
	struct cluster *c = caller->cluster;
	struct mail_out *o = ep->slot;
	long wrong = out_check(c, ep);

	if (wrong == 0 && o->full)
		wrong = -E_AGAIN;
	if (wrong == 0)
		wrong = put(caller, ep, msg, origin);
	if (wrong == -E_AGAIN)
		miss(o, caller);
	if (wrong != 0)
		return wrong;
	o->full = true;
	o->sequence++;
	o->writer = ep;
	o->writer_tid = caller->tid;
	count_write(c, ep, CLASS_MAILBOX);
	latency_begin(ep);
	event_send(c, ep->cluster, news(ep));
	return 0;
}

long
mail_out_result(struct cluster *c, struct endpoint *ep)
{
	long wrong = out_check(c, ep);

	if (wrong == -E_AGAIN || (wrong == 0 && ep->slot->full))
		return -E_PARK;
	return wrong;
}

void
mail_out_close(struct cluster *c, const struct endpoint *ep)
{
	if (ep->slot->writer == ep)
		ep->slot->writer = NULL;
	mail_out_put(c, ep->slot);
}

void
mail_out_peer_changed(struct cluster *c, uint32_t peer, uint32_t port)
{
	struct mail_out *o = *mail_out_at(c, peer, port);

	if (c->ikc.peer[peer].state != PEER_UP)
		left_free(c, peer, left_at(c, peer, port));
	if (o == NULL)
		return;
	if (c->ikc.peer[peer].state == PEER_UP) {
		mail_out_look(c, o);
	} else {
		o->writer = NULL;
		emptied(c, o);
	}
}
