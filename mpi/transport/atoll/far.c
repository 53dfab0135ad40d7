/* SPDX-License-Identifier: MIT
 *
 * The path between clusters: each rank owns one mailbox port and one portal port of its cluster.
 * Outputs are opened when they are first used. The ranks of a cluster are one process and share its
 * output mailboxes, one per rank of another cluster, which stay open until the process ends. An
 * output portal belongs to one rank, which keeps the last few open. Kernel calls are made only when
 * the event page says that there is something to read.
 */
#include <stdlib.h>
#include <abi/errors.h>
#include <abi/limits.abi.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <mpi/core/peer.h>
#include <mpi/transport/atoll/state.h>
#include <mpi/transport/shared.h>
#include <mpi/transport/transport.h>

_Static_assert(sizeof(struct packet) == MAILBOX_MSG_SIZE, "a packet is one mailbox message");

static bool
is_alone(const struct mpi_rank *self)
{
	return self->transport->local_ranks == (uint32_t)self->world_size;
}

static const struct job_part *
parts_of(const struct transport *t)
{
	return (const struct job_part *)(uintptr_t)t->startup->parts;
}

int
transport_far_init(struct mpi_rank *self)
{
	struct transport *t = self->transport;
	const struct event_page *events;
	int port;

	t->mailbox = t->portal = -1;
	if (is_alone(self))
		return MPI_SUCCESS;
	t->inbox.others = true;
	port = parts_of(t)[t->cluster].base_port + (int)t->local_rank;
	events = (const struct event_page *)(uintptr_t)t->startup->events;
	t->arrivals = &events->mailbox_arrivals[port];
	t->deaths = &events->clusters_dead;
	t->port = (uint32_t)port;
	t->mailbox = (int)kmailbox_create(port);
	t->portal = (int)kportal_create(port);
	if (t->mailbox < 0 || t->portal < 0)
		return MPI_ERR_INTERN;
	transport_far_listen(t);
	if (transport_names_begin != NULL)
		transport_names_begin(self, (uint32_t)port);
	else if (getenv("ATOLL_MPI_NAMES") != NULL)
		mpi_die(self, 1, "--mpi-names: link the program with -u transport_names_begin");
	return MPI_SUCCESS;
}

void
transport_far_listen(struct transport *t)
{
	kevent_bind(EVENT_MAILBOX, t->mailbox, BIT_MAIL);
	kevent_bind(EVENT_ROOM, 0, BIT_ROOM);
}

void
transport_far_exit(struct mpi_rank *self)
{
	struct transport *t = self->transport;

	if (t->mailbox < 0)
		return;
	transport_writer_exit(t);
	transport_channels_exit(t);
	for (unsigned i = 0; i < PORTALS_KEPT; i++)
		if (t->kept[i].peer != 0)
			khandle_close(t->kept[i].handle);
	khandle_close(t->mailbox);
	khandle_close(t->portal);
	if (transport_names_end != NULL)
		transport_names_end(t);
}

struct name_place
transport_place(struct mpi_rank *self, uint32_t peer)
{
	struct transport *t = self->transport;
	const struct placement *at = &t->placement[peer];
	const struct job_part *parts = (const struct job_part *)(uintptr_t)t->startup->parts;

	return t->finder != NULL ? transport_names_place(self, peer) :
		(struct name_place){at->cluster, parts[at->cluster].base_port + at->local_rank};
}

bool
transport_far_is_empty(const struct transport *t)
{
	return t->mailbox < 0 || (load_total(t->arrivals) == load_relaxed(&t->arrivals_seen) &&
		load_total(t->deaths) == load_relaxed(&t->deaths_seen) &&
		transport_channels_are_quiet(t));
}

/*
 * The mailbox of the ranks of this cluster to a peer: who opens it at the same time as another rank
 * takes the other's.
 */
int
transport_mailbox_to(struct mpi_rank *self, uint32_t peer)
{
	struct transport *t = self->transport;
	uint32_t known = load_relaxed(&t->mailboxes[peer]);
	struct name_place at;
	long handle;

	if (known != 0)
		return (int)known;
	at = transport_place(self, peer);
	handle = kmailbox_open((int)at.cluster, (int)at.port);
	if (handle < 0)
		mpi_die(self, 1, "the kernel has no room for a mailbox to one more rank");
	if (swap_strong(&t->mailboxes[peer], &known, (uint32_t)handle))
		return (int)handle;
	khandle_close((int)handle);
	return (int)known;
}

int
transport_mail(struct mpi_rank *self, uint32_t peer, const struct packet *p)
{
	struct transport *t = self->transport;
	int err = (int)kmailbox_write(transport_mailbox_to(self, peer), p);

	/* a refused message is written again once its slot is free: that is waiting */
	count_if(err == -E_AGAIN, &t->counts.waits);
	count_if(err != -E_AGAIN, &t->counts.calls);
	count_if(err == 0, &t->counts.mails);
	return err;
}

int
transport_send_far(struct mpi_rank *self, uint32_t peer, struct packet *p)
{
	int err = self->transport->all_far ? BY_MAILBOX :
		transport_channel_send(self, peer, p);

	return err != BY_MAILBOX ? err : transport_mail(self, peer, p);
}

/* A packet that says nothing: it is refused if the rank's cluster is dead. */
static bool
is_dead(struct mpi_rank *self, uint32_t peer)
{
	struct packet nothing = {.kind = PACKET_NOTHING};
	int err = transport_mail(self, peer, &nothing);

	return err == -E_HOSTDOWN || err == -E_CONNRESET;
}

/* Some cluster died: is it one of the job's? */
static void
look_for_deaths(struct mpi_rank *self)
{
	struct transport *t = self->transport;

	uint64_t looked = t->dead | (uint64_t)1 << t->cluster;

	store_relaxed(&t->deaths_seen, load_acquire(t->deaths));
	for (int peer = 0; peer < self->world_size; peer++) {
		uint32_t cluster = t->placement[peer].cluster;

		if (looked >> cluster & 1)
			continue;
		looked |= (uint64_t)1 << cluster;
		if (!is_dead(self, (uint32_t)peer))
			continue;
		t->dead |= (uint64_t)1 << cluster;
		mpi_cluster_died(self, cluster);
	}
}

bool
transport_all_is_read(struct mpi_rank *self)
{
	return transport_channels_are_read(self->transport);
}

bool
transport_far_poll(struct mpi_rank *self)
{
	struct transport *t = self->transport;
	uint32_t arrived = load_acquire(t->arrivals);
	struct mail_sender sender;
	bool moved = false;
	struct packet p;

	if (load_acquire(t->deaths) != t->deaths_seen) {
		look_for_deaths(self);
		moved = true;
	}
	while (t->arrivals_seen != arrived) {
		long err = kmailbox_read(t->mailbox, ANY_SOURCE_CLUSTER, &p, &sender);

		/* a look that finds nothing depends on who is faster, too */
		count_if(err == -E_AGAIN, &t->counts.waits);
		count_if(err != -E_AGAIN, &t->counts.calls);
		if (err == -E_AGAIN) {
			/* counted, but read before */
			store_relaxed(&t->arrivals_seen, arrived);
			break;
		}
		if (err < 0)
			mpi_die(self, 1, "the kernel refuses to read the rank's mailbox");
		store_relaxed(&t->arrivals_seen, t->arrivals_seen + 1);
		/* a port may have belonged to another job, of which a rank is still there */
		if (sender.badge != parts_of(t)[sender.cluster].badge)
			continue;
		moved = true;
		if (p.kind == PACKET_CHANNEL)
			transport_channel_heard(self, sender.cluster, &p);
		else if (p.kind != PACKET_NOTHING)
			mpi_arrived(self, &p);
	}
	return transport_channels_poll(self) || moved;
}

int
transport_bulk_allow(struct mpi_rank *self, uint32_t peer)
{
	struct transport *t = self->transport;
	struct name_place at = transport_place(self, peer);

	count_if(true, &t->counts.calls);
	count_if(true, &t->counts.allows);
	return (int)kportal_allow(t->portal, (int)at.cluster, (int)at.port);
}

/*
 * The portal to a peer. If it is not open, the oldest one of those that are kept makes room for it:
 * no write is under way, for a rank has one at a time, and what the oldest one's peer allows stays
 * with the kernel.
 */
static int
portal_to(struct mpi_rank *self, uint32_t peer)
{
	struct transport *t = self->transport;
	struct portal_out *oldest = &t->kept[t->keep_next % PORTALS_KEPT];
	struct name_place at;
	long handle;

	for (unsigned i = 0; i < PORTALS_KEPT; i++)
		if (t->kept[i].peer == peer + 1)
			return t->kept[i].handle;
	if (oldest->peer != 0)
		khandle_close(oldest->handle);
	oldest->peer = 0;
	at = transport_place(self, peer);
	handle = kportal_open((int)at.cluster, (int)at.port, (int)t->port);
	if (handle < 0)
		return (int)handle;
	*oldest = (struct portal_out){peer + 1, (int32_t)handle};
	t->keep_next++;
	return (int)handle;
}

int
transport_bulk_write(struct mpi_rank *self, uint32_t peer, const void *data, size_t len)
{
	int id = portal_to(self, peer);

	count_if(true, &self->transport->counts.calls);
	count_if(true, &self->transport->counts.transfers);
	return id < 0 ? id : transport_writer_start(self->transport, id, data, len);
}

bool
transport_bulk_written(struct mpi_rank *self, int *result)
{
	return transport_writer_done(self->transport, result);
}

int
transport_bulk_read(struct mpi_rank *self, void *data, size_t len)
{
	struct transport *t = self->transport;
	long got = kportal_read(t->portal, (unsigned long)data, len, FOREVER);

	count_if(true, &t->counts.calls);
	if (got < 0)
		return (int)got;
	return (size_t)got == len ? 0 : -E_IO;
}
