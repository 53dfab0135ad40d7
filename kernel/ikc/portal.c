/* SPDX-License-Identifier: MIT
 *
 * The portal calls: bulk data, one to one. The receiver allows one sender (cluster, its local port) to transfer once; then
 * the sender's calling core puts block after block into the receiver's portal slot and the receiver's calling core copies them
 * out (portal_move.c). The home cores pass one event per block (portal_event.c). A transfer moves min(len of writer, len of reader)
 * bytes; both calls return that number, and what the writer has beyond it is discarded.
 *
 * A fault, the end of a process or a death on one side ends the transfer on both: -E_FAULT on the side where it happened, -E_PIPE on the
 * other; -E_HOSTDOWN, -E_CONNRESET when the peer's cluster died or restarted. So does a deadline that passes in the middle: -E_TIMEDOUT and
 * -E_PIPE. One that passes before the first block ends the call only; an allowance stays.
 *
 * Source: seed 000 III-B; seed 002 4.1.1 (Portal). Differs: one call moves any length, with one allowance.
 */
#include <base/str.h>
#include <kernel/ikc/state.h>

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
 * Returns its id; -E_INVAL: no such port; -E_BUSY: it is open, or a sender of its past life may still put; -E_MFILE: no free descriptor.
 */
long
kc_portal_create(struct thread *caller, int port)
{
	struct cluster *c = caller->cluster;
	struct portal_in *in;
	struct ikc_desc *d;

	if (!is_port(c, port))
		return -E_INVAL;
	in = &c->ikc.portal[port];
	if (in->desc != NONE || in->state != PORTAL_IDLE)
		return -E_BUSY;
	d = desc_new(c, caller->proc, DESC_PORTAL_IN);
	if (d == NULL)
		return -E_MFILE;
	d->port = (uint8_t)port;
	in->desc = desc_index(c, d);
	return desc_id(c, d);
}

/* The open portal from a local port to a peer's port that still works. */
static struct ikc_desc *
find_open(struct cluster *c, const struct ikc_desc *key)
{
	struct ikc_desc *d = desc_at(c, portal_allow_at(c, key->cluster, key->port)->descs);
	uint32_t living = c->ikc.peer[key->cluster].incarnation;

	while (d != NULL && (d->local_port != key->local_port || (d->incarnation != 0 && d->incarnation != living)))
		d = desc_at(c, d->next);
	return d;
}

/*
 * kc_portal_open: an output portal to a port of some cluster; `local_port` names this side to the receiver. Nothing is sent. A process
 * that opens the same again gets the same id, to be closed as often.
 *
 * Returns its id; -E_INVAL: no such cluster or port; -E_BUSY: another process has it; -E_MFILE: no free descriptor, or opened too often.
 */
long
kc_portal_open(struct thread *caller, int cluster, int port, int local_port)
{
	struct cluster *c = caller->cluster;
	struct ikc_desc key, *d;

	if (!is_cluster(c, cluster) || !is_port(c, port) || !is_port(c, local_port))
		return -E_INVAL;
	key = (struct ikc_desc){.cluster = (uint8_t)cluster, .port = (uint8_t)port, .local_port = (uint8_t)local_port};
	d = find_open(c, &key);
	if (d != NULL) {
		if (d->owner != caller->proc)
			return -E_BUSY;
		if (d->references == UINT16_MAX)
			return -E_MFILE;
		d->references++;
		return desc_id(c, d);
	}
	d = desc_new(c, caller->proc, DESC_PORTAL_OUT);
	if (d == NULL)
		return -E_MFILE;
	d->cluster = key.cluster;
	d->port = key.port;
	d->local_port = key.local_port;
	desc_link(c, &portal_allow_at(c, d->cluster, d->port)->descs, d);
	return desc_id(c, d);
}

/*
 * kc_portal_close: give a portal back.
 *
 * Returns 0; -E_BADF; -E_BUSY: a transfer is under way or (input) allowed.
 */
long
kc_portal_close(struct thread *caller, int id)
{
	struct cluster *c = caller->cluster;
	struct ikc_desc *d = desc_find(c, caller->proc, id, DESC_PORTAL_OUT);

	if (d != NULL) {
		if (d->state != PORTAL_IDLE && d->references == 1)
			return -E_BUSY;
		if (--d->references == 0)
			portal_close_out(c, d);
		return 0;
	}
	d = desc_find(c, caller->proc, id, DESC_PORTAL_IN);
	if (d == NULL)
		return -E_BADF;
	if (c->ikc.portal[d->port].state != PORTAL_IDLE && c->ikc.portal[d->port].state != PORTAL_ABORTED)
		return -E_BUSY;
	portal_close_in(c, d);
	return 0;
}

/*
 * kc_portal_allow: let (cluster, local_port) transfer once; portal_read then takes the data. The sender need not have opened yet.
 *
 * Returns 0; -E_BADF; -E_INVAL: no such cluster or port; -E_BUSY: the last allowance was not used up; -E_HOSTDOWN.
 */
long
kc_portal_allow(struct thread *caller, int id, int cluster, int local_port)
{
	struct cluster *c = caller->cluster;
	struct ikc_desc *d = desc_find(c, caller->proc, id, DESC_PORTAL_IN);
	struct portal_in *in;

	if (d == NULL)
		return -E_BADF;
	if (!is_cluster(c, cluster) || !is_port(c, local_port))
		return -E_INVAL;
	in = &c->ikc.portal[d->port];
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
	if (c->ikc.peer[cluster].state == PEER_UP)
		portal_peer_up(c, (uint32_t)cluster);
	return 0;
}

static void
tell(struct kcall_args *args, struct portal_info info)
{
	memcpy(args->data, &info, sizeof(info));
}

/* The deadline of a writer: before the first block it leaves, later it ends the transfer. */
static void
writer_is_late(struct thread *t)
{
	struct ikc_desc *d = (struct ikc_desc *)t->wait.on;

	if (d->state == PORTAL_WAITING)
		portal_stop_out(t->cluster, d);
	d->state = PORTAL_IDLE;
	d->writer = NULL;
}

/* That of a reader: before the first block the allowance stays, later the transfer ends. */
static void
reader_is_late(struct thread *t)
{
	const struct ikc_desc *d = (const struct ikc_desc *)t->wait.on;
	struct portal_in *in = &t->cluster->ikc.portal[d->port];

	if (in->state == PORTAL_WAITING)
		portal_revoke(t->cluster, d->port);
	in->reader = NULL;
}

/* Wait until an event of the portal wakes the thread, or its deadline comes. */
static long
park(struct thread *t, struct ikc_desc *d, void (*is_late)(struct thread *t))
{
	t->wait.on = (uintptr_t)d;
	t->wait.undo = is_late;
	return thread_park(t, NULL);
}

/* Home half of portal_write: the transfer begins (PORTAL_GO, and a struct portal_info in args->data), or the thread waits for leave. */
long
portal_write_start(struct kcall_args *args)
{
	struct thread *caller = args->caller;
	struct cluster *c = caller->cluster;
	struct ikc_desc *d = desc_find(c, caller->proc, (int)args->a[0], DESC_PORTAL_OUT);
	long wrong;

	if (d == NULL)
		return -E_BADF;
	if (d->state != PORTAL_IDLE)
		return -E_BUSY;
	wrong = peer_check(c, d);
	if (wrong != 0 && wrong != -E_AGAIN)
		return wrong;
	d->writer = caller;
	if (wrong == 0 && portal_allowed_desc(c, d->cluster, d->port) == d) {
		d->state = PORTAL_MOVING;
		tell(args, portal_info_out(c, d));
		return PORTAL_GO;
	}
	d->state = PORTAL_ALLOWED;
	return park(caller, d, writer_is_late);
}

/* What became of a block that could not be put: the peer is gone, or it only seemed so. */
static long
put_failed(struct cluster *c, struct ikc_desc *d)
{
	long wrong = peer_look_again(c, d);

	if (d->state == PORTAL_MOVING)
		portal_stop_out(c, d);
	d->state = PORTAL_IDLE;
	d->writer = NULL;
	return wrong == 0 || wrong == -E_AGAIN ? -E_CONNRESET : wrong;
}

/* Home half of portal_write after each block. a[1]: 0, or why the block was not put. */
long
portal_write_step(struct kcall_args *args)
{
	struct thread *caller = args->caller;
	struct cluster *c = caller->cluster;
	struct ikc_desc *d = desc_find(c, caller->proc, (int)args->a[0], DESC_PORTAL_OUT);
	long status = (long)args->a[1];
	uint32_t sequence;

	if (d == NULL)
		return -E_BADF;
	if (d->state == PORTAL_ABORTED) {
		d->state = PORTAL_IDLE;
		d->writer = NULL;
		return d->error;
	}
	if (status != 0 && status != -E_FAULT)
		return put_failed(c, d);
	if (status == -E_FAULT || d->revoked) {
		portal_stop_out(c, d);
		return status != 0 ? status : -E_PIPE;
	}
	sequence = portal_allow_at(c, d->cluster, d->port)->sequence;
	d->state = PORTAL_WAITING;
	park(caller, d, writer_is_late);
	event_send(c, d->cluster, wire_event(WIRE_DATA, d->port, sequence));
	return -E_PARK;
}

/* Home half of portal_read: a block is there (PORTAL_GO, and a struct portal_info in args->data), or the thread waits for one. */
long
portal_read_start(struct kcall_args *args)
{
	struct thread *caller = args->caller;
	struct cluster *c = caller->cluster;
	struct ikc_desc *d = desc_find(c, caller->proc, (int)args->a[0], DESC_PORTAL_IN);
	struct portal_in *in;

	if (d == NULL)
		return -E_BADF;
	in = &c->ikc.portal[d->port];
	switch (in->state) {
	case PORTAL_FULL:
		in->state = PORTAL_MOVING;
		in->reader = caller;
		tell(args, portal_info_in(c, d->port));
		return PORTAL_GO;
	case PORTAL_ALLOWED:
		if (in->reader != NULL)
			return -E_BUSY;
		in->reader = caller;
		return park(caller, d, reader_is_late);
	case PORTAL_ABORTED:
		in->state = PORTAL_IDLE;
		return in->error;
	case PORTAL_IDLE:
		return -E_ACCES;
	default:
		return -E_BUSY;
	}
}

/*
 * Home half of portal_read after each block. a[1]: PORTAL_GO: all was taken, more is wanted; PORTAL_OVER + bytes: the transfer is over,
 * so many bytes of this block were taken; or why the block could not be taken.
 */
long
portal_read_step(struct kcall_args *args)
{
	struct thread *caller = args->caller;
	struct cluster *c = caller->cluster;
	struct ikc_desc *d = desc_find(c, caller->proc, (int)args->a[0], DESC_PORTAL_IN);
	struct portal_in *in;
	long status = (long)args->a[1];

	if (d == NULL)
		return -E_BADF;
	in = &c->ikc.portal[d->port];
	if (in->error != 0 || status < 0) {
		long wrong = in->error != 0 ? in->error : status;

		in->reader = NULL;
		if (in->error != 0)
			in->state = PORTAL_IDLE;
		else
			portal_revoke(c, d->port);
		in->error = 0;
		return wrong;
	}
	if (status == PORTAL_GO) {
		in->state = PORTAL_WAITING;
		park(caller, d, reader_is_late);
		event_send(c, in->cluster, wire_event(WIRE_NEXT, d->port, in->sequence));
		return -E_PARK;
	}
	in->state = PORTAL_IDLE;
	in->reader = NULL;
	event_send(c, in->cluster, wire_event(WIRE_DONE, d->port, (uint32_t)(status - PORTAL_OVER)));
	return 0;
}
