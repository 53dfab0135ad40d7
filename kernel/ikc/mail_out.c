/* SPDX-License-Identifier: MIT
 *
 * Output side of mailboxes: our slots at the peers, one per peer and port, shared by the processes
 * of the cluster. A slot is full from the put until FREED or REFUSED. When it is free, or its peer
 * gone, the threads that wait for it go on, one after the other as long as it is, and those that
 * found it full and have bound EVENT_ROOM are told: who comes first writes. Home core.
 */
#include <base/str.h>
#include <kernel/ikc/state.h>

static struct mail_out *
slot_of(struct cluster *c, const struct endpoint *ep)
{
	return mail_out_at(c, ep->cluster, ep->port);
}

/*
 * The slot was full: its next emptiness is told. A thread that misses several slots is told of any
 * of them: it tries them all again, for a bit is no more than a hint.
 */
static void
miss(struct mail_out *o, struct thread *t)
{
	bool misses_others;

	if (t->missed_slot == NULL)
		list_init(&t->missed);
	misses_others = !list_is_empty(&t->missed) && t->missed_slot != o;
	t->missed_slot = o;
	if (t->room.tid == 0)
		return;
	list_remove(&t->missed);
	list_push_back(misses_others ? &t->cluster->ikc.missed : &o->missed, &t->missed);
}

void
mail_out_look(struct cluster *c, uint32_t peer, uint32_t port)
{
	const struct mail_out *o = mail_out_at(c, peer, port);

	if (!list_is_empty(&o->waiters) || !list_is_empty(&o->missed))
		look_at(c, queue_out(c, peer, port));
	if (!list_is_empty(&c->ikc.missed) && mail_out_is_free(c, o))
		look_at(c, QUEUE_MISSED);
}

/* Has the peer read (or refused) the message that we wrote last? */
static bool
is_answer(const struct mail_out *o, uint32_t event)
{
	return o->full && (event & WIRE_SEQUENCE) == (o->sequence & WIRE_SEQUENCE);
}

void
mail_freed(struct cluster *c, uint32_t peer, uint32_t event)
{
	struct mail_out *o = mail_out_at(c, peer, wire_event_port(event));

	if (!is_answer(o, event))
		return;
	if (o->writer != NULL)
		o->writer->generation = (uint8_t)(wire_event_argument(event) >> 12);
	o->full = false;
	mail_out_look(c, peer, wire_event_port(event));
}

void
mail_refused(struct cluster *c, uint32_t peer, uint32_t event)
{
	struct mail_out *o = mail_out_at(c, peer, wire_event_port(event));
	struct thread *writer = thread_find(c, o->writer_tid);
	struct endpoint *ep = o->writer;

	if (!is_answer(o, event))
		return;
	if (ep != NULL) {
		ep->error = -E_PIPE;
		if (writer != NULL)
			binding_signal(c, &writer->room);
	}
	o->full = false;
	mail_out_look(c, peer, wire_event_port(event));
}

/* Why this mailbox cannot be written to now: 0 if it can, as far as the peer is concerned. */
static long
out_check(struct cluster *c, struct endpoint *ep)
{
	return ep->error != 0 ? ep->error : peer_check(c, ep);
}

/* The badge is that of the process that writes: it can put no other there. */
static void
fill(const struct thread *caller, struct wire_mail *m, const struct endpoint *ep, const void *msg)
{
	struct cluster *c = caller->cluster;

	m->head = (struct wire_header){
		.magic = WIRE_MAIL,
		.incarnation = c->record->cluster[c->id].incarnation,
		.sequence = slot_of(c, ep)->sequence + 1,
		.length = MAILBOX_MSG_SIZE,
		.source = (uint16_t)c->id,
		.port = ep->port,
		.generation = ep->generation,
		.badge = caller->proc->badge,
	};
	memcpy(m->payload, msg, MAILBOX_MSG_SIZE);
}

static long
put(const struct thread *caller, struct endpoint *ep, const void *msg)
{
	struct cluster *c = caller->cluster;
	struct wire_mail m;

	fill(caller, &m, ep, msg);
	if (hal_noc_put(ep->cluster, hal_noc_mailbox_slot(ep->port, c->id), ep->incarnation, &m,
		sizeof(m)) == 0)
		return 0;
	return peer_look_again(c, ep);
}

long
mail_out_write(struct thread *caller, struct endpoint *ep, const void *msg)
{
	struct cluster *c = caller->cluster;
	struct mail_out *o = slot_of(c, ep);
	long wrong = out_check(c, ep);

	if (wrong == 0 && o->full)
		wrong = -E_AGAIN;
	if (wrong == 0)
		wrong = put(caller, ep, msg);
	if (wrong == -E_AGAIN)
		miss(o, caller);
	if (wrong != 0)
		return wrong;
	o->full = true;
	o->sequence++;
	o->writer = ep;
	o->writer_tid = caller->tid;
	event_send(c, ep->cluster, wire_event(WIRE_ARRIVED, ep->port, 0));
	return 0;
}

long
mail_out_result(struct cluster *c, struct endpoint *ep)
{
	long wrong = out_check(c, ep);

	if (wrong == -E_AGAIN || (wrong == 0 && slot_of(c, ep)->full))
		return -E_PARK;
	return wrong;
}

void
mail_out_close(struct cluster *c, const struct endpoint *ep)
{
	struct mail_out *o = slot_of(c, ep);

	if (o->writer == ep)
		o->writer = NULL;
}

void
mail_out_peer_changed(struct cluster *c, uint32_t peer, uint32_t port)
{
	struct mail_out *o = mail_out_at(c, peer, port);

	if (c->ikc.peer[peer].state != PEER_UP) {
		o->full = false;
		o->writer = NULL;
	}
	mail_out_look(c, peer, port);
}
