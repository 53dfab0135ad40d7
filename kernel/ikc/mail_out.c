/* SPDX-License-Identifier: MIT
 *
 * Output side of mailboxes: our slots at the peers, one per peer and port, shared by the processes of the cluster. A slot is full from
 * the put until FREED or REFUSED. A freed slot is granted to the thread that waited longest: nobody else may write to it until that
 * thread has written, or GRANT_NS have passed. Home core.
 */
#include <base/str.h>
#include <hal/timer.h>
#include <kernel/ikc/state.h>

#define GRANT_NS 10000000

static struct mail_out *
slot_of(struct cluster *c, const struct ikc_desc *d)
{
	return mail_out_at(c, d->cluster, d->port);
}

static bool
is_granted(const struct mail_out *o)
{
	return o->grantee != NONE;
}

static bool
is_usable_by(const struct mail_out *o, const struct thread *t)
{
	return !o->full && (!is_granted(o) || o->grantee == t->tid);
}

static void
grant_end(struct cluster *c, struct mail_out *o)
{
	o->grantee = NONE;
	list_remove(&o->granted);
	c->chores--;
}

/* Remember who found the slot full. */
static void
miss(struct mail_out *o, struct thread *t)
{
	if (o->missed == MISSED_NONE || o->missed == t->tid) {
		o->missed = t->tid;
		return;
	}
	if (o->missed != MISSED_MANY) {
		struct thread *first = thread_find(t->cluster, o->missed);

		if (first != NULL)
			seen_of(first)->missed = true;
		o->missed = MISSED_MANY;
	}
	seen_of(t)->missed = true;
}

/* Wake whoever missed this slot; with many, whoever missed any such slot: a wake-up is a hint to try again. */
static void
wake_missed(struct cluster *c, struct mail_out *o)
{
	int missed = o->missed;

	o->missed = MISSED_NONE;
	if (missed >= 0)
		ikc_wake(c, missed);
	if (missed != MISSED_MANY)
		return;
	for (uint32_t i = 0; i < c->threads_used; i++) {
		if (!c->ikc.seen[i].missed)
			continue;
		c->ikc.seen[i].missed = false;
		ikc_wake(c, c->ikc.seen[i].tid);
	}
}

/* The slot is free for whoever comes first in line. */
static void
slot_offer(struct cluster *c, struct mail_out *o)
{
	struct thread *t = thread_first(&o->waiters);

	if (t == NULL) {
		wake_missed(c, o);
		return;
	}
	o->grantee = t->tid;
	o->granted_until = hal_clock_ns() + GRANT_NS;
	list_push_back(&c->ikc.grants, &o->granted);
	c->chores++;
	thread_ready(t, 0);
}

static void
wake_all(struct cluster *c, struct mail_out *o, long result)
{
	if (is_granted(o))
		grant_end(c, o);
	thread_ready_all(&o->waiters, result);
	wake_missed(c, o);
}

void
mail_grants_poll(struct cluster *c, bool *found)
{
	struct list *first = c->ikc.grants.next;
	struct mail_out *o = list_entry(first, struct mail_out, granted);

	if (first == &c->ikc.grants || hal_clock_ns() < o->granted_until)
		return;
	*found = true;
	grant_end(c, o);
	slot_offer(c, o);
}

uint64_t
mail_grants_deadline(struct cluster *c)
{
	if (list_is_empty(&c->ikc.grants))
		return HAL_FOREVER;
	return list_entry(c->ikc.grants.next, struct mail_out, granted)->granted_until;
}

/* Has the peer read (or refused) the message that we wrote last? */
static bool
is_answer(const struct mail_out *o, uint32_t event)
{
	return o->full && (event & WIRE_SEQUENCE) == (o->sequence & WIRE_SEQUENCE);
}

static void
slot_emptied(struct cluster *c, struct mail_out *o, uint32_t port)
{
	o->full = false;
	hal_store32(&c->events->mailbox_frees[port], hal_load32(&c->events->mailbox_frees[port]) + 1);
	slot_offer(c, o);
}

void
mail_freed(struct cluster *c, uint32_t peer, uint32_t event)
{
	struct mail_out *o = mail_out_at(c, peer, wire_event_port(event));
	struct ikc_desc *d;

	if (!is_answer(o, event))
		return;
	d = desc_at(c, o->writer);
	if (d != NULL)
		d->generation = (uint8_t)(wire_event_argument(event) >> 12);
	slot_emptied(c, o, wire_event_port(event));
}

void
mail_refused(struct cluster *c, uint32_t peer, uint32_t event)
{
	struct mail_out *o = mail_out_at(c, peer, wire_event_port(event));
	struct ikc_desc *d;
	struct list *node, *after;

	if (!is_answer(o, event))
		return;
	d = desc_at(c, o->writer);
	if (d != NULL) {
		d->error = -E_PIPE;
		list_each(node, after, &o->waiters) {
			struct thread *t = list_entry(node, struct thread, wait.link);

			if (t->proc == d->owner)
				thread_ready(t, -E_PIPE);
		}
		mail_in_stir(c, o->writer_tid);
	}
	slot_emptied(c, o, wire_event_port(event));
}

/* Why this mailbox cannot be written to now: 0 if it can, as far as the peer is concerned. */
static long
out_check(struct cluster *c, struct ikc_desc *d)
{
	return d->error != 0 ? d->error : peer_check(c, d);
}

static void
fill(struct cluster *c, struct wire_mail *m, const struct ikc_desc *d, const void *msg)
{
	m->head = (struct wire_header){
		.magic = WIRE_MAIL,
		.incarnation = c->record->cluster[c->id].incarnation,
		.sequence = slot_of(c, d)->sequence + 1,
		.length = MAILBOX_MSG_SIZE,
		.source = (uint16_t)c->id,
		.port = d->port,
		.generation = d->generation,
	};
	memcpy(m->payload, msg, MAILBOX_MSG_SIZE);
}

static long
put(struct cluster *c, struct ikc_desc *d, const void *msg)
{
	struct wire_mail m;

	fill(c, &m, d, msg);
	if (hal_noc_put(d->cluster, hal_noc_mailbox_slot(d->port, c->id), d->incarnation, &m, sizeof(m)) == 0)
		return 0;
	return peer_look_again(c, d);
}

long
mail_out_write(struct thread *caller, struct ikc_desc *d, const void *msg)
{
	struct cluster *c = caller->cluster;
	struct mail_out *o = slot_of(c, d);
	long wrong = out_check(c, d);

	if (wrong == 0 && !is_usable_by(o, caller))
		wrong = -E_AGAIN;
	if (wrong == 0)
		wrong = put(c, d, msg);
	if (wrong == -E_AGAIN)
		miss(o, caller);
	if (wrong != 0)
		return wrong;
	if (is_granted(o))
		grant_end(c, o);
	o->full = true;
	o->sequence++;
	o->writer = desc_index(c, d);
	o->writer_tid = caller->tid;
	event_send(c, d->cluster, wire_event(WIRE_ARRIVED, d->port, 0));
	return 0;
}

long
mail_out_wait(struct thread *caller, struct ikc_desc *d)
{
	struct cluster *c = caller->cluster;
	struct mail_out *o = slot_of(c, d);
	long wrong = out_check(c, d);

	if (wrong == 0 && is_usable_by(o, caller))
		return 0;
	if (wrong != 0 && wrong != -E_AGAIN)
		return wrong;
	return thread_park(caller, &o->waiters);
}

static bool
grantee_is_of(struct cluster *c, const struct mail_out *o, const struct process *p)
{
	const struct thread *t = thread_find(c, o->grantee);

	return t == NULL || t->proc == p;
}

/* Threads of the process that wait for the slot get -E_BADF, also if they came through another of its descriptors: they look again. */
void
mail_out_close(struct cluster *c, struct ikc_desc *d)
{
	struct mail_out *o = slot_of(c, d);
	struct list *node, *after;

	list_each(node, after, &o->waiters) {
		struct thread *t = list_entry(node, struct thread, wait.link);

		if (t->proc == d->owner)
			thread_ready(t, -E_BADF);
	}
	if (o->writer == desc_index(c, d))
		o->writer = NONE;
	if (is_granted(o) && !o->full && grantee_is_of(c, o, d->owner)) {
		grant_end(c, o);
		slot_offer(c, o);
	}
	desc_unlink(c, &o->descs, d);
	desc_release(c, d);
}

void
mail_peer_up(struct cluster *c, uint32_t peer)
{
	for (uint32_t port = 0; port < c->ikc.mailbox_ports; port++) {
		struct mail_out *o = mail_out_at(c, peer, port);

		if (!o->full && !is_granted(o))
			slot_offer(c, o);
	}
}

void
mail_peer_gone(struct cluster *c, uint32_t peer, long error)
{
	for (uint32_t port = 0; port < c->ikc.mailbox_ports; port++) {
		struct mail_out *o = mail_out_at(c, peer, port);

		o->full = false;
		o->writer = NONE;
		wake_all(c, o, error);
	}
	mail_in_peer_gone(c);
}
