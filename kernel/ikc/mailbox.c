/* SPDX-License-Identifier: MIT
 *
 * The mailbox calls: N senders to one receiver port, messages of MAILBOX_MSG_SIZE bytes. Of each
 * cluster one message for a port can be on its way, so a sender finds its slot free or gets
 * -E_AGAIN; messages of one cluster to one port are read in the order in which they were written.
 * How many of them lie at the receiver at once is up to the machine (mail_credit.c).
 *
 * Mailboxes are named by handles. Writing needs RIGHT_WRITE, reading RIGHT_READ, waiting and
 * binding RIGHT_WAIT. handle_close closes: a wait through a handle that is closed or revoked ends
 * with -E_BADF; what an output mailbox has written still arrives.
 *
 * Source: seed 000 III-B; seed 002 4.1.1 (Mailbox), 4.3.
 */
#include <base/str.h>
#include <kernel/ikc/state.h>

/*
 * A message to a port that nobody has created yet waits. An output mailbox belongs to
 * the life of the port that it first reached: when that port is closed (its last handle is, also by
 * the end of its process), its messages are dropped and it says -E_PIPE from then on, until it is
 * closed and opened again. A mailbox that never reached the port waits for the next life. In the
 * same way it belongs to one incarnation of the peer: -E_HOSTDOWN while that is dead, -E_CONNRESET
 * once it has restarted.
 *
 * Besides waiting there are notifications (event_bind): EVENT_MAILBOX of an input mailbox is a
 * message or the death of a cluster, EVENT_ROOM is for who got -E_AGAIN from a write, when the slot
 * may be free, and for who wrote a message, when it is refused.
 */

/*
 * kc_mailbox_create: open the input mailbox of a port of this cluster.
 *
 * Returns its handle; -E_INVAL: no such port; -E_BUSY: it is open; -E_MFILE: the table of handles
 * is full; -E_NOMEM.
 */
long
kc_mailbox_create(struct thread *caller, int port)
{
	struct cluster *c = caller->cluster;
	struct mail_in *in;
	long handle;

	if ((uint32_t)port >= c->ikc.mailbox_ports)
		return -E_INVAL;
	in = &c->ikc.in[port];
	if (in->endpoint != NULL)
		return -E_BUSY;
	handle = endpoint_new(caller, (struct endpoint){.kind = MAIL_IN, .port = (uint8_t)port},
		&in->endpoint);
	if (handle > 0) {
		in->generation = in->generation < 255 ? in->generation + 1 : 1;
		mail_in_count(c, (uint32_t)port);
	}
	return handle;
}

/*
 * kc_mailbox_open: an output mailbox to a port of some cluster (also the own one). Nothing is sent:
 * neither the port nor the cluster needs to be up yet.
 *
 * Returns a handle; -E_INVAL: no such cluster or port; -E_MFILE: the table of handles is full;
 * -E_NOMEM.
 */
long
kc_mailbox_open(struct thread *caller, int cluster, int port)
{
	struct cluster *c = caller->cluster;
	struct endpoint what =
		{.kind = MAIL_OUT, .cluster = (uint8_t)cluster, .port = (uint8_t)port};
	long handle;

	if ((uint32_t)cluster >= c->ikc.clusters ||
		(uint32_t)port >= c->ikc.mailbox_ports)
		return -E_INVAL;
	what.slot = mail_out_get(caller, (uint32_t)cluster, (uint32_t)port);
	if (what.slot == NULL)
		return -E_NOMEM;
	handle = endpoint_new(caller, what, NULL);
	if (handle < 0)
		mail_out_put(c, what.slot);
	return handle;
}

/*
 * kc_mailbox_write: post one message, whole or not at all.
 *
 *   msg   MAILBOX_MSG_SIZE bytes, already copied from user memory by the calling core
 *
 * Returns 0; -E_BADF; -E_ACCES; -E_AGAIN: our slot at the peer is full, or the peer is not up yet;
 * -E_PIPE, -E_HOSTDOWN, -E_CONNRESET: see above; -E_NOMEM: no connector is free, and the account of
 * the process cannot pay for the message while it waits.
 */
long
kc_mailbox_write(struct thread *caller, int mailbox, const void *msg)
{
	struct endpoint *ep;
	long wrong = endpoint_find(caller, mailbox, MAIL_OUT, RIGHT_WRITE, &ep);
	struct mail_sender me = {caller->cluster->id, caller->proc->badge};

	return wrong != 0 ? wrong : mail_out_write(caller, ep, msg, &me);
}

/*
 * kc_mailbox_forward: post a message for whoever the message is from that the caller has read last:
 * mailbox_read gives the caller as its sender, mailbox_origin the one that it is forwarded for. A
 * process can speak for those that have sent it a message, and for nobody else. Whether an origin
 * is believed is the reader's affair, who knows by whom the message was forwarded; a kernel can
 * lie.
 *
 * Returns what mailbox_write does; -E_INVAL: the caller has read no message.
 */
long
kc_mailbox_forward(struct thread *caller, int mailbox, const void *msg)
{
	struct endpoint *ep;
	long wrong = endpoint_find(caller, mailbox, MAIL_OUT, RIGHT_WRITE, &ep);
	struct mail_sender origin = {caller->origin_cluster, caller->origin_badge};

	if (wrong == 0 && !caller->has_origin)
		wrong = -E_INVAL;
	return wrong != 0 ? wrong : mail_out_write(caller, ep, msg, &origin);
}

/*
 * kc_mailbox_origin: who sent the message first that the caller has read last: its sender, or the
 * one for whom that has forwarded it.
 *
 *   origin   struct mail_sender
 *
 * Returns 0; -E_INVAL: the caller has read no message.
 */
long
kc_mailbox_origin(struct thread *caller, void *origin)
{
	struct mail_sender from = {caller->origin_cluster, caller->origin_badge};

	if (!caller->has_origin)
		return -E_INVAL;
	memcpy(origin, &from, sizeof(from));
	return 0;
}

static bool
is_source(const struct cluster *c, int source)
{
	return source == ANY_SOURCE_CLUSTER || (source >= 0 && (uint32_t)source < c->ikc.clusters);
}

/*
 * kc_mailbox_read: take one message.
 *
 *   source   cluster whose message is wanted, or ANY_SOURCE_CLUSTER: sources with messages are then
 *            served in turn
 *   sender   struct mail_sender: the cluster, which the receiver's kernel knows, and the badge that
 *            the sender's kernel stamped
 *
 * Returns the cluster that sent it (>= 0); -E_BADF; -E_ACCES; -E_INVAL: no such cluster; -E_AGAIN:
 * there is no such message.
 */
long
kc_mailbox_read(struct thread *caller, int mailbox, int source, void *msg, void *sender)
{
	struct cluster *c = caller->cluster;
	struct endpoint *ep;
	struct mail_senders from;
	long got = endpoint_find(caller, mailbox, MAIL_IN, RIGHT_READ, &ep);

	if (got != 0)
		return got;
	got = is_source(c, source) ? mail_in_take(c, ep->port, source, msg, &from) : -E_INVAL;
	if (got >= 0) {
		memcpy(sender, &from.sender, sizeof(from.sender));
		caller->origin_badge = from.origin.badge;
		caller->origin_cluster = (uint8_t)from.origin.cluster;
		caller->has_origin = true;
		count_read(c, ep, CLASS_MAILBOX);
	}
	return got;
}

/* Home half of mailbox_wait. The source counts for input only. */
static long
wait_home(struct kcall_args *args)
{
	struct thread *caller = args->caller;
	struct cluster *c = caller->cluster;
	int source = (int)args->a[1];
	struct endpoint *ep;
	long result;

	caller->wait.handle = (int)args->a[0];
	caller->wait.on = is_source(c, source) ? mail_wait_for(c, source) : 0;
	result = mail_wait_result(caller, &ep);
	if (result != -E_BADF && result != -E_ACCES && ep->kind == MAIL_IN && !is_source(c, source))
		return -E_INVAL;
	if (result != -E_PARK)
		return result;
	return thread_park(caller, ep->kind == MAIL_IN ? &c->ikc.in[ep->port].waiters :
		&ep->slot->waiters);
}

/*
 * kc_mailbox_wait: wait until a read or write may succeed.
 *
 * Input: until there is a message of `source` (ANY_SOURCE_CLUSTER: of any cluster). Output: until
 * the slot is free; `source` means nothing. Those who wait go on in the order in which they came,
 * as long as the message is there, or the slot is free: who comes first reads, or writes.
 *
 * Calling core; waits. Returns 0; -E_BADF; -E_ACCES; -E_HOSTDOWN: the cluster is dead; input:
 * -E_INVAL: no such cluster; output: -E_PIPE, -E_CONNRESET.
 */
long
kc_mailbox_wait(struct thread *caller, int mailbox, int source)
{
	unsigned long values[2] = {(unsigned long)(long)mailbox, (unsigned long)(long)source};

	return ikc_call_home(caller, wait_home, values, 2);
}
