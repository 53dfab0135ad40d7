/* SPDX-License-Identifier: MIT
 *
 * The mailbox calls: N senders to one receiver port, messages of MAILBOX_MSG_SIZE bytes. Each port has one slot per sending cluster, so
 * a sender finds its slot free or gets -E_AGAIN; messages of one cluster to one port are read in the order in which they were written.
 *
 * A message to a port that nobody has created yet waits in its slot. An output mailbox belongs to the life of the port that it first
 * reached: when that port is closed (also by the end of its process), its messages are dropped and it says -E_PIPE from then on, until
 * it is closed and opened again. A mailbox that never reached the port waits for the next life. In the same way it belongs to one
 * incarnation of the peer: -E_HOSTDOWN while that is dead, -E_CONNRESET once it has restarted.
 *
 * Besides waiting there are notifications (event_bind): EVENT_MAILBOX of an input mailbox is a message or the death of a cluster,
 * EVENT_ROOM is for who got -E_AGAIN from a write, when the slot may be free, and for who wrote a message, when it is refused.
 *
 * Source: seed 000 III-B; seed 002 4.1.1 (Mailbox), 4.3.
 */
#include <base/str.h>
#include <kernel/ikc/state.h>

/*
 * kc_mailbox_create: open the input mailbox of a port of this cluster.
 *
 * Returns its id; -E_INVAL: no such port; -E_BUSY: it is open; -E_MFILE: no free descriptor.
 */
long
kc_mailbox_create(struct thread *caller, int port)
{
	struct cluster *c = caller->cluster;
	struct mail_in *in;
	struct ikc_desc *d;

	if (port < 0 || (uint32_t)port >= c->ikc.mailbox_ports)
		return -E_INVAL;
	in = &c->ikc.in[port];
	if (in->desc != NONE)
		return -E_BUSY;
	d = desc_new(c, caller->proc, DESC_MAIL_IN);
	if (d == NULL)
		return -E_MFILE;
	d->port = (uint8_t)port;
	in->desc = desc_index(c, d);
	in->generation = in->generation < 255 ? in->generation + 1 : 1;
	return desc_id(c, d);
}

/* An open mailbox of the process to the same port that still works. */
static struct ikc_desc *
find_open(struct cluster *c, const struct process *p, uint32_t peer, uint32_t port)
{
	struct ikc_desc *d = desc_at(c, mail_out_at(c, peer, port)->descs);
	uint32_t living = c->ikc.peer[peer].incarnation;

	while (d != NULL && (d->owner != p || d->error != 0 || (d->incarnation != 0 && d->incarnation != living)))
		d = desc_at(c, d->next);
	return d;
}

/*
 * kc_mailbox_open: an output mailbox to a port of some cluster (also the own one). Nothing is sent: neither the port nor the cluster needs
 * to be up yet. A process that opens the same port again gets the same id, to be closed as often.
 *
 * Returns its id; -E_INVAL: no such cluster or port; -E_MFILE: no free descriptor, or opened too often.
 */
long
kc_mailbox_open(struct thread *caller, int cluster, int port)
{
	struct cluster *c = caller->cluster;
	struct ikc_desc *d;

	if (cluster < 0 || (uint32_t)cluster >= c->ikc.clusters || port < 0 || (uint32_t)port >= c->ikc.mailbox_ports)
		return -E_INVAL;
	d = find_open(c, caller->proc, (uint32_t)cluster, (uint32_t)port);
	if (d != NULL) {
		if (d->references == UINT16_MAX)
			return -E_MFILE;
		d->references++;
		return desc_id(c, d);
	}
	d = desc_new(c, caller->proc, DESC_MAIL_OUT);
	if (d == NULL)
		return -E_MFILE;
	d->cluster = (uint8_t)cluster;
	d->port = (uint8_t)port;
	desc_link(c, &mail_out_at(c, d->cluster, d->port)->descs, d);
	return desc_id(c, d);
}

/*
 * kc_mailbox_close: give a mailbox back. Threads that wait for it get -E_BADF. What an output mailbox has written still arrives.
 *
 * Returns 0; -E_BADF; -E_BUSY: an input mailbox with unread messages.
 */
long
kc_mailbox_close(struct thread *caller, int id)
{
	struct cluster *c = caller->cluster;
	struct ikc_desc *d = desc_find(c, caller->proc, id, DESC_MAIL_OUT);

	if (d != NULL) {
		if (--d->references == 0)
			mail_out_close(c, d);
		return 0;
	}
	d = desc_find(c, caller->proc, id, DESC_MAIL_IN);
	if (d == NULL)
		return -E_BADF;
	if (mail_in_is_pending(c, d->port, ANY_SOURCE_CLUSTER))
		return -E_BUSY;
	mail_in_close(c, d);
	return 0;
}

/*
 * kc_mailbox_write: post one message, whole or not at all.
 *
 *   msg   MAILBOX_MSG_SIZE bytes, already copied from user memory by the calling core
 *
 * Returns 0; -E_BADF; -E_AGAIN: our slot at the peer is full, kept for a thread that waited longer, or the peer is not up yet;
 * -E_PIPE, -E_HOSTDOWN, -E_CONNRESET: see above.
 */
long
kc_mailbox_write(struct thread *caller, int id, const void *msg)
{
	struct ikc_desc *d = desc_find(caller->cluster, caller->proc, id, DESC_MAIL_OUT);

	if (d == NULL)
		return -E_BADF;
	return mail_out_write(caller, d, msg);
}

static bool
is_source(const struct cluster *c, int source)
{
	return source == ANY_SOURCE_CLUSTER || (source >= 0 && (uint32_t)source < c->ikc.clusters);
}

/*
 * kc_mailbox_read: take one message.
 *
 *   source   cluster whose message is wanted, or ANY_SOURCE_CLUSTER: sources with messages are then served in turn
 *   sender   struct mail_sender: the cluster, which the receiver's kernel knows, and the badge that the sender's kernel stamped
 *
 * Returns the cluster that sent it (>= 0); -E_BADF; -E_INVAL: no such cluster; -E_AGAIN: there is no such message.
 */
long
kc_mailbox_read(struct thread *caller, int id, int source, void *msg, void *sender)
{
	struct cluster *c = caller->cluster;
	struct ikc_desc *d = desc_find(c, caller->proc, id, DESC_MAIL_IN);
	struct mail_sender from;
	long got;

	if (d == NULL)
		return -E_BADF;
	got = is_source(c, source) ? mail_in_take(c, d->port, source, msg, &from) : -E_INVAL;
	if (got >= 0)
		memcpy(sender, &from, sizeof(from));
	return got;
}

/* Park until there is a message of the source. */
static long
wait_for_message(struct thread *caller, const struct ikc_desc *d, int source)
{
	struct cluster *c = caller->cluster;

	if (!is_source(c, source))
		return -E_INVAL;
	if (mail_in_is_pending(c, d->port, source))
		return 0;
	if (source != ANY_SOURCE_CLUSTER && c->ikc.peer[source].state == PEER_DEAD)
		return -E_HOSTDOWN;
	caller->wait.on = (uintptr_t)(intptr_t)source;
	return thread_park(caller, &c->ikc.in[d->port].waiters);
}

/* Home half of mailbox_wait. */
static long
wait_home(struct kcall_args *args)
{
	struct thread *caller = args->caller;
	struct cluster *c = caller->cluster;
	int id = (int)args->a[0];
	struct ikc_desc *d = desc_find(c, caller->proc, id, DESC_MAIL_IN);

	if (d != NULL)
		return wait_for_message(caller, d, (int)args->a[1]);
	d = desc_find(c, caller->proc, id, DESC_MAIL_OUT);
	return d != NULL ? mail_out_wait(caller, d) : -E_BADF;
}

/*
 * kc_mailbox_wait: wait until a read or write may succeed.
 *
 * Input: until there is a message of `source` (ANY_SOURCE_CLUSTER: of any cluster). All waiting threads go on; who comes first reads.
 * Output: until the slot is free; `source` means nothing. All waiting threads go on; who comes first writes.
 *
 * Calling core; waits. Returns 0; -E_BADF; -E_HOSTDOWN: the cluster is dead; input: -E_INVAL: no such cluster; output: -E_PIPE, -E_CONNRESET.
 */
long
kc_mailbox_wait(struct thread *caller, int id, int source)
{
	unsigned long values[2] = {(unsigned long)(long)id, (unsigned long)(long)source};

	return ikc_call_home(caller, wait_home, values, 2);
}
