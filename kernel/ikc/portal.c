/* SPDX-License-Identifier: MIT
 *
 * The portal calls: bulk data, one to one. The receiver allows one sender (cluster, its local port)
 * to transfer once; then the sender's calling core puts block after block into the receiver's
 * portal slot and the receiver's calling core copies them out (portal_move.c). The home cores pass
 * one event per block (portal_event.c). A transfer moves min(len of writer, len of reader) bytes;
 * both calls return that number, and what the writer has beyond it is discarded.
 *
 * Portals are named by handles. Writing needs RIGHT_WRITE, allowing and reading RIGHT_READ, binding
 * RIGHT_WAIT. handle_close closes; who takes part in a transfer is then told that it is over.
 *
 * A write can be started (portal_start) and completed later (portal_wait), by the same thread. What
 * starts a read is portal_allow: the first block comes meanwhile.
 *
 * Source: seed 000 III-B; seed 002 4.1.1 (Portal). Differs: one call moves any length, with one
 * allowance.
 */
#include <base/str.h>
#include <kernel/ikc/state.h>

/*
 * A fault, the end of a process or a death on one side ends the transfer on both: -E_FAULT on the
 * side where it happened, -E_PIPE on the other; -E_HOSTDOWN, -E_CONNRESET when the peer's cluster
 * died or restarted. So does a deadline that passes in the middle: -E_TIMEDOUT and -E_PIPE. One
 * that passes before the first block ends the call only; an allowance stays. A handle that is
 * closed or revoked meanwhile ends the call like a deadline, with -E_BADF, after the block that is
 * under way.
 */

static bool
is_port(const struct cluster *c, int port)
{
	return port >= 0 && (uint32_t)port < c->ikc.portal_ports;
}

static bool
is_cluster(const struct cluster *c, int cluster)
{
	return cluster >= 0 && (uint32_t)cluster < c->ikc.clusters;
}

/*
 * kc_portal_create: open the input portal of a port of this cluster.
 *
 * Returns its handle; -E_INVAL: no such port; -E_BUSY: it is open, or a sender of its past life may
 * still put; -E_MFILE; -E_NOMEM.
 */
long
kc_portal_create(struct thread *caller, int port)
{
	struct cluster *c = caller->cluster;
	struct portal_in *in;

	if (!is_port(c, port))
		return -E_INVAL;
	in = &c->ikc.portal[port];
	if (in->endpoint != NULL || in->state != PORTAL_IDLE)
		return -E_BUSY;
	return endpoint_new(caller, (struct endpoint){.kind = PORTAL_IN, .port = (uint8_t)port},
		&in->endpoint);
}

/*
 * kc_portal_open: an output portal to a port of some cluster; `local_port` names this side to the
 * receiver. Nothing is sent. A process that opens the same again gets one more handle of the same
 * portal.
 *
 * Returns a handle; -E_INVAL: no such cluster or port; -E_BUSY: another process has it; -E_MFILE;
 * -E_NOMEM.
 */
long
kc_portal_open(struct thread *caller, int cluster, int port, int local_port)
{
	struct cluster *c = caller->cluster;
	struct endpoint key = {.kind = PORTAL_OUT, .cluster = (uint8_t)cluster,
		.port = (uint8_t)port, .local_port = (uint8_t)local_port};
	struct endpoint **at, *ep;
	long made;

	if (!is_cluster(c, cluster) || !is_port(c, port) || !is_port(c, local_port))
		return -E_INVAL;
	at = portal_place(c, key.cluster, key.port, key.local_port);
	ep = *at;
	if (ep == NULL || ep->local_port != key.local_port)
		return endpoint_new(caller, key, at);
	if (ep->incarnation == 0 || ep->incarnation == c->ikc.peer[cluster].incarnation)
		return ep->owner == caller->proc->id ? endpoint_name(caller, ep) : -E_BUSY;
	*at = ep->next;			/* that of a past life will never work again */
	made = endpoint_new(caller, key, at);
	if (made < 0)
		*at = ep;
	return made;
}

/*
 * kc_portal_allow: let (cluster, local_port) transfer once; portal_read then takes the data. The
 * sender need not have opened yet.
 *
 * Returns 0; -E_BADF; -E_ACCES; -E_INVAL: no such cluster or port; -E_BUSY: the last allowance was
 * not used up; -E_HOSTDOWN.
 */
long
kc_portal_allow(struct thread *caller, int portal, int cluster, int local_port)
{
	struct cluster *c = caller->cluster;
	struct endpoint *ep;
	struct portal_in *in;
	long wrong = endpoint_find(caller, portal, PORTAL_IN, RIGHT_READ, &ep);

	if (wrong != 0)
		return wrong;
	if (!is_cluster(c, cluster) || !is_port(c, local_port))
		return -E_INVAL;
	in = &c->ikc.portal[ep->port];
	if (in->state != PORTAL_IDLE)
		return -E_BUSY;
	peer_look(c, (uint32_t)cluster);
	if (c->ikc.peer[cluster].state == PEER_DEAD)
		return -E_HOSTDOWN;
	in->state = PORTAL_ALLOWED;
	in->cluster = (uint8_t)cluster;
	in->local_port = (uint8_t)local_port;
	in->sequence++;
	in->told = false;
	in->error = 0;
	memset(&in->turn, 0, sizeof(in->turn));
	if (c->ikc.peer[cluster].state == PEER_UP)
		portal_tell(c, ep->port);
	return 0;
}

long
portal_abandon(struct thread *t, long wrong)
{
	struct object *o = &t->transfer->object;

	object_get(o);
	portal_leave(t);
	object_put(o);
	return wrong;
}

static void
tell(struct kcall_args *args, struct portal_info info)
{
	memcpy(args->data, &info, sizeof(info));
}

/*
 * Wait until an event of the portal wakes the thread, or its deadline comes: that ends the transfer
 * unless it was started.
 */
static long
park(struct thread *t)
{
	t->wait.undo = t->transfer->started ? NULL : portal_leave;
	t->wait.kind = WAIT_PORTAL;
	return thread_park(t, NULL);
}

/*
 * The endpoint of a transfer that a thread takes part in: the wait goes through this handle. 0 or
 * -E_NAME.
 */
static long
begin(struct kcall_args *args, enum endpoint_kind kind, struct endpoint **ep)
{
	args->caller->wait.handle = (int)args->a[0];
	return endpoint_find(args->caller, (int)args->a[0], kind, kind == PORTAL_IN ? RIGHT_READ :
		RIGHT_WRITE, ep);
}

/* 0: the handle of the transfer still names its endpoint, with the right; -E_BADF. */
static long
handle_check(struct kcall_args *args)
{
	struct endpoint *ep, *mine = args->caller->transfer;

	return begin(args, mine->kind, &ep) == 0 && ep == mine ? 0 : -E_BADF;
}

static long
writer_goes_at_once(struct kcall_args *args, struct endpoint *ep)
{
	struct cluster *c = args->caller->cluster;
	struct portal_info info = portal_info_out(c, ep);

	if (portal_shares(c)) {
		portal_allow_at(c, ep->cluster, ep->port)->granted = NO_CONNECTOR;
		if (!ep->first && !(info.slot & WIRE_AGAIN))
			count_bytes(c, ep, c->ikc.unit);
	}
	ep->state = PORTAL_MOVING;
	portal_moves(c, ep);
	tell(args, info);
	return PORTAL_GO;
}

static bool
may_put(struct cluster *c, const struct endpoint *ep)
{
	if (portal_allowed(c, ep->cluster, ep->port) != ep)
		return false;
	portal_ask(c, ep);
	return !portal_shares(c) ||
		portal_allow_at(c, ep->cluster, ep->port)->granted != NO_CONNECTOR;
}

static long
write_begin(struct kcall_args *args, bool starts)
{
	struct thread *caller = args->caller;
	struct cluster *c = caller->cluster;
	struct endpoint *ep;
	long wrong = begin(args, PORTAL_OUT, &ep);

	if (wrong != 0)
		return wrong;
	if (ep->state != PORTAL_IDLE || caller->transfer != NULL)
		return -E_BUSY;
	wrong = peer_check(c, ep);
	if (wrong != 0 && wrong != -E_AGAIN)
		return wrong;
	if (wrong == 0 && !may_put(c, ep))
		wrong = -E_AGAIN;
	if (wrong != 0 && starts)
		return wrong;
	portal_enter(caller, ep);
	ep->started = starts ? (int)args->a[0] : 0;
	ep->first = true;
	latency_begin(ep);
	if (wrong == 0)
		return writer_goes_at_once(args, ep);
	ep->state = PORTAL_ALLOWED;
	return park(caller);
}

/*
 * Home half of portal_write: the transfer begins (PORTAL_GO, and a struct portal_info in
 * args->data), or the thread waits for leave.
 */
long
portal_write_start(struct kcall_args *args)
{
	return write_begin(args, false);
}

/* Home half of portal_start: the same, but the thread does not wait. */
long
portal_start_home(struct kcall_args *args)
{
	return write_begin(args, true);
}

/* Home half of portal_wait, and of portal_write for a thread whose turn may have come. */
long
portal_wait_home(struct kcall_args *args)
{
	struct thread *caller = args->caller;
	struct endpoint *ep;
	long wrong = begin(args, PORTAL_OUT, &ep), result;

	if (wrong != 0)
		return wrong;
	if (caller->transfer != ep)
		return -E_INVAL;
	portal_ask(caller->cluster, ep);
	if (ep->state == PORTAL_READY)
		return writer_goes_at_once(args, ep);
	if (ep->state != PORTAL_ENDED)
		return park(caller);
	result = ep->result;
	ep->state = PORTAL_IDLE;
	portal_done(ep);
	return result;
}

/* Why a transfer does not go on after a block that was put, or not (status); 0: it does. */
static long
write_error(struct kcall_args *args, struct endpoint *ep, long status)
{
	long wrong;

	if (ep->state == PORTAL_ABORTED)
		return ep->error;
	if (status == -E_FAULT)
		return status;
	if (status == 0)
		return ep->revoked ? -E_PIPE : handle_check(args);
	/* the peer is gone, or it only seemed so */
	wrong = peer_look_again(args->caller->cluster, ep);
	return wrong == -E_AGAIN ? -E_CONNRESET : wrong;
}

/*
 * Home half of portal_write after each block. a[1]: 0, or why the block was not put. a[2]: the
 * thread does not wait.
 */
long
portal_write_step(struct kcall_args *args)
{
	struct thread *caller = args->caller;
	struct cluster *c = caller->cluster;
	struct endpoint *ep = caller->transfer;
	long wrong = write_error(args, ep, (long)args->a[1]);

	if (wrong != 0)
		return portal_abandon(caller, wrong);
	portal_moved(c, ep);
	ep->state = PORTAL_WAITING;
	if (args->a[2] == 0)
		wrong = park(caller);
	event_send(c, ep->cluster,
		wire_event(WIRE_DATA, ep->port,
		portal_allow_at(c, ep->cluster, ep->port)->sequence));
	return wrong;
}

static long
reader_waits(struct thread *caller, struct portal_in *in)
{
	long result = park(caller);

	portal_turn_wait(caller->cluster, in);
	return result;
}

/*
 * Home half of portal_read, also for a thread that takes part already and whose turn may have come:
 * a block is there (PORTAL_GO, and a struct portal_info in args->data), or the thread waits for
 * one.
 */
long
portal_read_start(struct kcall_args *args)
{
	struct thread *caller = args->caller;
	struct cluster *c = caller->cluster;
	struct endpoint *ep;
	struct portal_in *in;
	long wrong = begin(args, PORTAL_IN, &ep);

	if (wrong != 0)
		return wrong;
	if (ep->thread != caller && (ep->thread != NULL || caller->transfer != NULL))
		return -E_BUSY;
	in = &c->ikc.portal[ep->port];
	if (ep->thread == NULL && (in->state == PORTAL_FULL || in->state == PORTAL_ALLOWED))
		portal_enter(caller, ep);
	switch (in->state) {
	case PORTAL_FULL:
		in->state = PORTAL_MOVING;
		tell(args, portal_info_in(c, ep->port));
		return PORTAL_GO;
	case PORTAL_ALLOWED:
	case PORTAL_WAITING:
		return reader_waits(caller, in);
	case PORTAL_ABORTED:
		in->state = PORTAL_IDLE;
		wrong = in->error;
		in->error = 0;
		if (ep->thread != NULL)
			portal_done(ep);
		return wrong;
	case PORTAL_IDLE:
		return -E_ACCES;
	default:
		return -E_BUSY;
	}
}

/*
 * Home half of portal_read after each block. a[1]: PORTAL_GO: all was taken, more is wanted;
 * PORTAL_OVER + bytes: the transfer is over, so many bytes of this block were taken; or why the
 * block could not be taken.
 */
long
portal_read_step(struct kcall_args *args)
{
	struct thread *caller = args->caller;
	struct cluster *c = caller->cluster;
	struct endpoint *ep = caller->transfer;
	struct portal_in *in = &c->ikc.portal[ep->port];
	long status = (long)args->a[1], wrong = in->error;

	if (wrong == 0)
		wrong = status < 0 ? status : handle_check(args);
	if (wrong != 0)
		return portal_abandon(caller, wrong);
	if (status == PORTAL_GO) {
		count_bytes(c, ep, c->ikc.unit);
		in->state = PORTAL_WAITING;
		if (portal_shares(c)) {
			portal_turn_put(c, in);
			return reader_waits(caller, in);
		}
		park(caller);
		event_send(c, in->cluster, wire_event(WIRE_NEXT, ep->port, in->sequence));
		return -E_PARK;
	}
	count_read(c, ep, CLASS_PORTAL);
	count_bytes(c, ep, (uint32_t)(status - PORTAL_OVER));
	in->state = PORTAL_IDLE;
	event_send(c, in->cluster,
		wire_event(WIRE_DONE, ep->port, (uint32_t)(status - PORTAL_OVER)));
	portal_turn_put(c, in);
	portal_done(ep);
	return 0;
}
