/* SPDX-License-Identifier: MIT
 *
 * Portals between home cores: the events of a transfer, and the end of processes and clusters in the middle of one. Home core.
 *
 * The receiver's port is the only name of a transfer that events carry: it has one sender at a time. What it allows us is kept per
 * peer and port, so that ALLOW may come before the sender has opened. Closing a port with a sender allowed needs the sender's answer
 * (REVOKE, REVOKED), because its core may be putting a block at that moment.
 */
#include <base/str.h>
#include <kernel/ikc/state.h>

struct ikc_desc *
portal_allowed_desc(struct cluster *c, uint32_t peer, uint32_t port)
{
	const struct portal_allow *a = portal_allow_at(c, peer, port);
	uint32_t living = c->ikc.peer[peer].incarnation;
	struct ikc_desc *d = a->valid ? desc_at(c, a->descs) : NULL;

	while (d != NULL && (d->local_port != a->local_port || (d->incarnation != 0 && d->incarnation != living)))
		d = desc_at(c, d->next);
	return d;
}

struct portal_info
portal_info_out(struct cluster *c, const struct ikc_desc *d)
{
	return (struct portal_info){
		.cluster = d->cluster,
		.port = d->port,
		.local_port = d->local_port,
		.sequence = portal_allow_at(c, d->cluster, d->port)->sequence,
		.incarnation = c->ikc.peer[d->cluster].incarnation,
	};
}

struct portal_info
portal_info_in(struct cluster *c, uint32_t port)
{
	const struct portal_in *in = &c->ikc.portal[port];

	return (struct portal_info){
		.cluster = in->cluster,
		.port = (uint8_t)port,
		.local_port = in->local_port,
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

/* --- sender --- */

static void
writer_goes(struct cluster *c, struct ikc_desc *d)
{
	d->state = PORTAL_MOVING;
	wake_with(d->writer, PORTAL_GO, portal_info_out(c, d));
}

static void
writer_ends(struct ikc_desc *d, long result)
{
	d->state = PORTAL_IDLE;
	d->revoked = false;
	thread_ready(d->writer, result);
	d->writer = NULL;
}

static void
on_allow(struct cluster *c, uint32_t peer, uint32_t event)
{
	uint32_t port = wire_event_port(event);
	struct portal_allow *a = portal_allow_at(c, peer, port);
	struct ikc_desc *d;

	a->valid = true;
	a->local_port = (uint8_t)(wire_event_argument(event) >> 8);
	a->sequence = (uint8_t)wire_event_argument(event);
	d = portal_allowed_desc(c, peer, port);
	if (d == NULL)
		return;
	binding_signal(c, &d->event);
	if (d->state == PORTAL_ALLOWED && peer_check(c, d) == 0)
		writer_goes(c, d);
}

static void
on_next(struct cluster *c, uint32_t peer, uint32_t port)
{
	struct ikc_desc *d = portal_allowed_desc(c, peer, port);

	if (d != NULL && d->state == PORTAL_WAITING)
		writer_goes(c, d);
}

static void
on_done(struct cluster *c, uint32_t peer, uint32_t event)
{
	uint32_t port = wire_event_port(event);
	struct ikc_desc *d = portal_allowed_desc(c, peer, port);

	if (d == NULL || d->state != PORTAL_WAITING)
		return;
	portal_allow_at(c, peer, port)->valid = false;
	writer_ends(d, PORTAL_OVER + (long)wire_event_argument(event));
}

static void
on_revoke(struct cluster *c, uint32_t peer, uint32_t port)
{
	struct ikc_desc *d = portal_allowed_desc(c, peer, port);

	if (d != NULL && d->state == PORTAL_MOVING) {
		d->revoked = true;
		return;
	}
	portal_allow_at(c, peer, port)->valid = false;
	event_send(c, peer, wire_event(WIRE_REVOKED, port, 0));
	if (d != NULL && d->state == PORTAL_WAITING)
		writer_ends(d, -E_PIPE);
}

void
portal_stop_out(struct cluster *c, struct ikc_desc *d)
{
	struct portal_allow *a = portal_allow_at(c, d->cluster, d->port);
	bool revoked = d->revoked;

	a->valid = false;
	d->state = PORTAL_IDLE;
	d->revoked = false;
	d->writer = NULL;
	event_send(c, d->cluster, wire_event(revoked ? WIRE_REVOKED : WIRE_ABORT, d->port, a->sequence));
}

void
portal_close_out(struct cluster *c, struct ikc_desc *d)
{
	if (d->state == PORTAL_MOVING || d->state == PORTAL_WAITING)
		portal_stop_out(c, d);
	desc_unlink(c, &portal_allow_at(c, d->cluster, d->port)->descs, d);
	desc_release(c, d);
}

/* --- receiver --- */

static void
reader_ends(struct portal_in *in, long result)
{
	struct thread *t = in->reader;

	in->state = PORTAL_IDLE;
	in->reader = NULL;
	thread_ready(t, result);
}

static bool
is_transfer(const struct portal_in *in, uint32_t peer, uint32_t event)
{
	return in->cluster == peer && in->sequence == (uint8_t)wire_event_argument(event);
}

static void
on_data(struct cluster *c, uint32_t peer, uint32_t event)
{
	uint32_t port = wire_event_port(event);
	struct portal_in *in = &c->ikc.portal[port];

	if (!is_transfer(in, peer, event) || (in->state != PORTAL_ALLOWED && in->state != PORTAL_WAITING))
		return;
	if (in->reader == NULL) {
		in->state = PORTAL_FULL;
		binding_signal(c, &in->event);
		return;
	}
	in->state = PORTAL_MOVING;
	wake_with(in->reader, PORTAL_GO, portal_info_in(c, port));
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
	} else if (in->reader != NULL) {
		reader_ends(in, error);
	} else {
		in->state = PORTAL_ABORTED;
		in->error = (int16_t)error;
		binding_signal(c, &in->event);
	}
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
		in->state = PORTAL_IDLE;
}

void
portal_revoke(struct cluster *c, uint32_t port)
{
	struct portal_in *in = &c->ikc.portal[port];

	in->reader = NULL;
	in->error = 0;
	in->state = in->told ? PORTAL_DRAINING : PORTAL_IDLE;
	if (in->told)
		event_send(c, in->cluster, wire_event(WIRE_REVOKE, port, 0));
}

void
portal_close_in(struct cluster *c, struct ikc_desc *d)
{
	struct portal_in *in = &c->ikc.portal[d->port];

	in->desc = NONE;
	in->event = (struct binding){0, 0};
	if (in->state == PORTAL_MOVING && in->error != 0)
		in->state = PORTAL_ABORTED;
	if (in->state == PORTAL_ABORTED)
		in->state = PORTAL_IDLE;
	else if (in->state != PORTAL_IDLE && in->state != PORTAL_DRAINING)
		portal_revoke(c, d->port);
	in->reader = NULL;
	in->error = 0;
	desc_release(c, d);
}

/* --- both --- */

void
portal_event(struct cluster *c, uint32_t peer, uint32_t event)
{
	uint32_t port = wire_event_port(event);

	switch (wire_event_kind(event)) {
	case WIRE_ALLOW:
		on_allow(c, peer, event);
		break;
	case WIRE_DATA:
		on_data(c, peer, event);
		break;
	case WIRE_NEXT:
		on_next(c, peer, port);
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

/* Send the allowances that wait for the peer to come up. */
void
portal_peer_up(struct cluster *c, uint32_t peer)
{
	for (uint32_t port = 0; port < c->ikc.portal_ports; port++) {
		struct portal_in *in = &c->ikc.portal[port];

		if (in->state != PORTAL_ALLOWED || in->cluster != peer || in->told)
			continue;
		in->told = true;
		event_send(c, peer, wire_event(WIRE_ALLOW, port, (uint32_t)in->local_port << 8 | in->sequence));
	}
}

static void
peer_is_gone_for(struct cluster *c, struct ikc_desc *d, long error)
{
	binding_signal(c, &d->event);
	if (d->state == PORTAL_MOVING) {
		d->state = PORTAL_ABORTED;
		d->error = (int16_t)error;
		d->revoked = false;
	} else if (d->state == PORTAL_ALLOWED || d->state == PORTAL_WAITING) {
		writer_ends(d, error);
	}
}

void
portal_peer_gone(struct cluster *c, uint32_t peer, long error)
{
	for (uint32_t port = 0; port < c->ikc.portal_ports; port++) {
		struct portal_allow *a = portal_allow_at(c, peer, port);
		struct portal_in *in = &c->ikc.portal[port];

		for (struct ikc_desc *d = desc_at(c, a->descs); d != NULL; d = desc_at(c, d->next))
			peer_is_gone_for(c, d, error);
		a->valid = false;
		if (in->cluster == peer)
			sender_gone(c, in, error);
	}
}
