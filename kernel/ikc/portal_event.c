/* SPDX-License-Identifier: MIT
 *
 * Portals between home cores: the events of a transfer, and the end of processes and clusters in
 * the middle of one. Home core.
 *
 * The receiver's port is the only name of a transfer that events carry: it has one sender at a
 * time. What it allows us is kept per peer and port, so that ALLOW may come before the sender has
 * opened. Closing a port with a sender allowed needs the sender's answer (REVOKE, REVOKED), because
 * its core may be putting a block at that moment.
 *
 * A transfer names its endpoint from the first half of the call on: what a core moves data for does
 * not go away. Whether the handle still names it is asked again after each block.
 */
#include <base/str.h>
#include <kernel/ikc/state.h>

struct endpoint **
portal_place(struct cluster *c, uint32_t peer, uint32_t port, uint32_t local_port)
{
	struct endpoint **at = &portal_allow_at(c, peer, port)->endpoints;

	while (*at != NULL && (*at)->local_port < local_port)
		at = &(*at)->next;
	return at;
}

struct endpoint *
portal_allowed(struct cluster *c, uint32_t peer, uint32_t port)
{
	const struct portal_allow *a = portal_allow_at(c, peer, port);
	struct endpoint *ep = a->valid ? *portal_place(c, peer, port, a->local_port) : NULL;

	if (ep == NULL || ep->local_port != a->local_port)
		return NULL;
	return ep->incarnation == 0 || ep->incarnation == c->ikc.peer[peer].incarnation ? ep : NULL;
}

struct portal_info
portal_info_out(struct cluster *c, const struct endpoint *ep)
{
	const struct portal_allow *a = portal_allow_at(c, ep->cluster, ep->port);

	return (struct portal_info){
		.cluster = ep->cluster,
		.port = ep->port,
		.slot = portal_shares(c) ? a->granted : ep->port,
		.sequence = a->sequence,
		.incarnation = c->ikc.peer[ep->cluster].incarnation,
	};
}

struct portal_info
portal_info_in(struct cluster *c, uint32_t port)
{
	const struct portal_in *in = &c->ikc.portal[port];

	return (struct portal_info){
		.cluster = in->cluster,
		.port = (uint8_t)port,
		.slot = (uint8_t)(portal_shares(c) ? in->connector - 1u : port),
		.sequence = in->sequence,
		.incarnation = c->ikc.peer[in->cluster].incarnation,
	};
}

/* Wake the thread that moves data: result, and what it needs to know for PORTAL_GO. */
static void
wake_with(struct thread *t, long result, struct portal_info info)
{
	memcpy(t->wake_data, &info, sizeof(info));
	thread_ready(t, result);
}

void
portal_enter(struct thread *t, struct endpoint *ep)
{
	object_get(&ep->object);
	ep->thread = t;
	t->transfer = ep;
}

/*
 * Never its last name: the handle that the thread waits through is there, or portal_abandon names
 * it.
 */
void
portal_done(struct endpoint *ep)
{
	ep->thread->transfer = NULL;
	ep->thread = NULL;
	check(--ep->object.refs > 0);
}

/* --- sender --- */

static void
writer_goes(struct cluster *c, struct endpoint *ep)
{
	if (portal_is_parked(ep->thread) && portal_shares(c)) {
		ep->state = PORTAL_READY;
		thread_ready(ep->thread, PORTAL_TURN);
	} else if (portal_is_parked(ep->thread)) {
		ep->state = PORTAL_MOVING;
		portal_moves(c, ep);
		wake_with(ep->thread, PORTAL_GO, portal_info_out(c, ep));
	} else {
		ep->state = PORTAL_READY;
		binding_signal(c, &ep->event);
	}
}

static void
writer_ends(struct cluster *c, struct endpoint *ep, long result)
{
	ep->revoked = false;
	if (portal_is_parked(ep->thread)) {
		ep->state = PORTAL_IDLE;
		thread_ready(ep->thread, result);
		portal_done(ep);
	} else {
		ep->state = PORTAL_ENDED;
		ep->result = (int32_t)result;
		binding_signal(c, &ep->event);
	}
}

void
portal_ask(struct cluster *c, const struct endpoint *ep)
{
	struct portal_allow *a = portal_allow_at(c, ep->cluster, ep->port);

	if (!portal_shares(c) || a->asked || portal_allowed(c, ep->cluster, ep->port) != ep)
		return;
	a->asked = true;
	event_send(c, ep->cluster, wire_event(WIRE_ASK, ep->port, a->sequence));
}

static void
on_allow(struct cluster *c, uint32_t peer, uint32_t event)
{
	uint32_t port = wire_event_port(event);
	struct portal_allow *a = portal_allow_at(c, peer, port);
	struct endpoint *ep;

	a->valid = true;
	a->local_port = (uint8_t)(wire_event_argument(event) >> 8);
	a->sequence = (uint8_t)wire_event_argument(event);
	a->asked = false;
	a->granted = NO_CONNECTOR;
	ep = portal_allowed(c, peer, port);
	if (ep == NULL)
		return;
	binding_signal(c, &ep->event);
	if (ep->state != PORTAL_ALLOWED || peer_check(c, ep) != 0)
		return;
	if (portal_shares(c))
		portal_ask(c, ep);
	else
		writer_goes(c, ep);
}

/* A grant that nobody has a use for is kept until it is to be returned. */
static void
granted(struct cluster *c, struct portal_allow *a, struct endpoint *ep, uint32_t event)
{
	a->granted = (uint8_t)event;
	if (ep == NULL)
		return;
	ep->first = ep->state == PORTAL_ALLOWED;
	if (ep->first || ep->state == PORTAL_WAITING)
		writer_goes(c, ep);
	else
		binding_signal(c, &ep->event);
}

/* Only a block that is being put is on its way. */
static void
on_return(struct cluster *c, uint32_t peer, uint32_t port)
{
	struct portal_allow *a = portal_allow_at(c, peer, port);
	struct endpoint *ep = portal_allowed(c, peer, port);

	if (!a->valid || a->granted == NO_CONNECTOR)
		return;
	if (ep != NULL && ep->state == PORTAL_READY)
		ep->state = ep->first ? PORTAL_ALLOWED : PORTAL_WAITING;
	a->granted = NO_CONNECTOR;
	a->asked = false;
	event_send(c, peer, wire_event(WIRE_RETURNED, port, a->sequence));
}

static void
on_next(struct cluster *c, uint32_t peer, uint32_t event)
{
	uint32_t port = wire_event_port(event);
	struct endpoint *ep = portal_allowed(c, peer, port);

	if (portal_shares(c)) {
		granted(c, portal_allow_at(c, peer, port), ep, event);
		return;
	}
	if (ep == NULL || ep->state != PORTAL_WAITING)
		return;
	count_bytes(c, ep, c->ikc.unit);
	writer_goes(c, ep);
}

static void
on_done(struct cluster *c, uint32_t peer, uint32_t event)
{
	uint32_t port = wire_event_port(event), last = wire_event_argument(event);
	struct endpoint *ep = portal_allowed(c, peer, port);

	if (ep == NULL || ep->state != PORTAL_WAITING)
		return;
	portal_allow_at(c, peer, port)->valid = false;
	count_write(c, ep, CLASS_PORTAL);
	count_bytes(c, ep, last < c->ikc.unit ? last : c->ikc.unit);
	latency_end(c, ep);
	writer_ends(c, ep, PORTAL_OVER + (long)last);
}

static void
on_revoke(struct cluster *c, uint32_t peer, uint32_t port)
{
	struct endpoint *ep = portal_allowed(c, peer, port);

	if (ep != NULL && ep->state == PORTAL_MOVING) {
		ep->revoked = true;
		return;
	}
	portal_allow_at(c, peer, port)->valid = false;
	event_send(c, peer, wire_event(WIRE_REVOKED, port, 0));
	if (ep != NULL && (ep->state == PORTAL_WAITING || ep->state == PORTAL_READY))
		writer_ends(c, ep, -E_PIPE);
}

static void
leave_out(struct cluster *c, struct endpoint *ep)
{
	struct portal_allow *a = portal_allow_at(c, ep->cluster, ep->port);

	if (ep->state == PORTAL_MOVING || ep->state == PORTAL_ABORTED)
		portal_moved(c, ep);
	if (ep->state == PORTAL_MOVING || ep->state == PORTAL_WAITING ||
		ep->state == PORTAL_READY) {
		a->valid = false;
		event_send(c, ep->cluster,
			wire_event(ep->revoked ? WIRE_REVOKED : WIRE_ABORT, ep->port, a->sequence));
	}
	ep->state = PORTAL_IDLE;
	ep->revoked = false;
}

void
portal_close_out(struct cluster *c, const struct endpoint *ep)
{
	struct endpoint **at = portal_place(c, ep->cluster, ep->port, ep->local_port);

	if (*at == ep)			/* another may have its place: see kc_portal_open */
		*at = ep->next;
}

/* --- receiver --- */

static void
reader_ends(struct portal_in *in, long result)
{
	in->state = PORTAL_IDLE;
	thread_ready(in->endpoint->thread, result);
	portal_done(in->endpoint);
}

/* Does an event speak of the transfer of the port? */
static bool
is_transfer(const struct portal_in *in, uint32_t peer, uint32_t event)
{
	return in->cluster == peer && in->sequence == (uint8_t)wire_event_argument(event);
}

/* DATA, ASK or RETURNED */
static void
on_data(struct cluster *c, uint32_t peer, uint32_t event)
{
	uint32_t port = wire_event_port(event);
	struct portal_in *in = &c->ikc.portal[port];

	if (!is_transfer(in, peer, event) ||
		(in->state != PORTAL_ALLOWED && in->state != PORTAL_WAITING))
		return;
	if (portal_shares(c)) {
		portal_turn_event(c, in, wire_event_kind(event));
		return;
	}
	if (in->endpoint->thread == NULL) {
		in->state = PORTAL_FULL;
		binding_signal(c, &in->event);
		return;
	}
	in->state = PORTAL_MOVING;
	wake_with(in->endpoint->thread, PORTAL_GO, portal_info_in(c, port));
}

/* The sender will not go on. */
static void
sender_gone(struct cluster *c, struct portal_in *in, long error)
{
	if (in->state == PORTAL_IDLE || in->state == PORTAL_ABORTED)
		return;
	if (in->state == PORTAL_DRAINING) {
		in->state = PORTAL_IDLE;
	} else if (in->state == PORTAL_MOVING) {
		in->error = (int16_t)error;
		return;
	} else if (in->endpoint->thread != NULL && portal_is_parked(in->endpoint->thread)) {
		reader_ends(in, error);
	} else {
		in->state = PORTAL_ABORTED;
		in->error = (int16_t)error;
		binding_signal(c, &in->event);
	}
	portal_turn_leave(c, in);
	portal_turn_put(c, in);
}

static void
on_abort(struct cluster *c, uint32_t peer, uint32_t event)
{
	struct portal_in *in = &c->ikc.portal[wire_event_port(event)];

	if (is_transfer(in, peer, event) && in->state != PORTAL_DRAINING)
		sender_gone(c, in, -E_PIPE);
}

static void
on_revoked(struct cluster *c, uint32_t peer, uint32_t port)
{
	struct portal_in *in = &c->ikc.portal[port];

	if (in->cluster == peer && in->state == PORTAL_DRAINING)
		sender_gone(c, in, 0);
}

/* Make the allowed sender stop; the port is DRAINING until it has. */
static void
revoke(struct cluster *c, uint32_t port)
{
	struct portal_in *in = &c->ikc.portal[port];

	in->error = 0;
	in->state = in->told ? PORTAL_DRAINING : PORTAL_IDLE;
	if (in->told)
		event_send(c, in->cluster, wire_event(WIRE_REVOKE, port, 0));
}

static void
leave_in(struct cluster *c, uint32_t port)
{
	struct portal_in *in = &c->ikc.portal[port];

	portal_turn_leave(c, in);
	if (in->error != 0) {		/* the sender was first */
		in->state = PORTAL_IDLE;
		in->error = 0;
		portal_turn_put(c, in);
	} else if (in->state != PORTAL_ALLOWED) {
		revoke(c, port);
	} else if (in->turn.wanted) {
		binding_signal(c, &in->event);
	}
}

void
portal_close_in(struct cluster *c, const struct endpoint *ep)
{
	struct portal_in *in = &c->ikc.portal[ep->port];

	in->endpoint = NULL;
	in->event = (struct binding){0};
	if (in->state == PORTAL_ABORTED)
		in->state = PORTAL_IDLE;
	else if (in->state != PORTAL_IDLE && in->state != PORTAL_DRAINING)
		revoke(c, ep->port);
	in->error = 0;
}

/* --- both --- */

void
portal_leave(struct thread *t)
{
	struct endpoint *ep = t->transfer;

	if (ep->kind == PORTAL_OUT)
		leave_out(t->cluster, ep);
	else
		leave_in(t->cluster, ep->port);
	portal_done(ep);
}

void
portal_event(struct cluster *c, uint32_t peer, uint32_t event)
{
	uint32_t port = wire_event_port(event);

	switch (wire_event_kind(event)) {
	case WIRE_ALLOW:
		on_allow(c, peer, event);
		break;
	case WIRE_DATA:
	case WIRE_ASK:
	case WIRE_RETURNED:
		on_data(c, peer, event);
		break;
	case WIRE_RETURN:
		on_return(c, peer, port);
		break;
	case WIRE_NEXT:
		on_next(c, peer, event);
		break;
	case WIRE_DONE:
		on_done(c, peer, event);
		break;
	case WIRE_ABORT:
		on_abort(c, peer, event);
		break;
	case WIRE_REVOKE:
		on_revoke(c, peer, port);
		break;
	case WIRE_REVOKED:
		on_revoked(c, peer, port);
		break;
	default:
		break;
	}
}

void
portal_tell(struct cluster *c, uint32_t port)
{
	struct portal_in *in = &c->ikc.portal[port];

	if (in->state != PORTAL_ALLOWED || in->told)
		return;
	in->told = true;
	event_send(c, in->cluster,
		wire_event(WIRE_ALLOW, port, (uint32_t)in->local_port << 8 | in->sequence));
}

/* An output portal that has not been used yet is for the next life, too. */
static void
peer_is_gone_for(struct cluster *c, struct endpoint *ep, const struct ikc_peer *p)
{
	long error = p->state == PEER_DEAD ? -E_HOSTDOWN : -E_CONNRESET;

	if (p->state != PEER_DEAD && ep->incarnation == 0)
		return;
	binding_signal(c, &ep->event);
	if (ep->state == PORTAL_MOVING) {
		ep->state = PORTAL_ABORTED;
		ep->error = (int16_t)error;
		ep->revoked = false;
	} else if (ep->state == PORTAL_ALLOWED || ep->state == PORTAL_WAITING ||
		ep->state == PORTAL_READY) {
		writer_ends(c, ep, error);
	}
}

bool
portal_peer_changed(struct cluster *c, uint32_t peer, uint32_t port)
{
	struct portal_in *in = &c->ikc.portal[port];
	struct ikc_peer *p = &c->ikc.peer[peer];
	struct endpoint *ep;

	if (p->state == PEER_UP) {
		if (in->cluster == peer)
			portal_tell(c, port);
		return true;
	}
	ep = *portal_place(c, peer, port, p->walk_local);
	if (ep != NULL) {
		p->walk_local = ep->local_port + 1u;
		peer_is_gone_for(c, ep, p);
		return false;
	}
	portal_allow_at(c, peer, port)->valid = false;
	if (in->cluster == peer && (p->state == PEER_DEAD || in->told))
		sender_gone(c, in, p->state == PEER_DEAD ? -E_HOSTDOWN : -E_CONNRESET);
	return true;
}
