/* SPDX-License-Identifier: MIT
 *
 * What a rank's messages cost: messages of all kinds and kernel calls, per send of the program
 * (seed 002 5.7.4). With ATOLL_MPI_COUNTS in the environment each rank that has sent says so, for
 * what lies between MPI_Pcontrol(1) and MPI_Pcontrol(0), or for the whole run.
 *
 * A message is a packet to a rank of the cluster, a mailbox message, a packet through a channel to
 * another cluster, the permission to use a
 * portal, or a transfer through one: 002 counts like this. Kernel calls that wake a sleeping rank,
 * or wait, depend on who is faster; they are told apart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <mpi/core/peer.h>
#include <mpi/transport/atoll/state.h>
#include <mpi/transport/transport.h>

/* Sends are counted by flow control. */
static struct counts
counts_now(struct mpi_rank *self)
{
	struct counts c = self->transport->counts;

	c.waits += self->yields;
	for (int i = 0; i < self->world_size; i++) {
		c.sends += self->peers[i].sent;
		if (transport_is_near(self, (uint32_t)i))
			c.near += self->peers[i].sent;
	}
	return c;
}

static double
per_send(uint64_t now, uint64_t before, uint64_t sends)
{
	return (double)(now - before) / (double)sends;
}

static void
counts_say(struct mpi_rank *self)
{
	struct counts now = counts_now(self), b = self->transport->counts_before;
	uint64_t sends = now.sends - b.sends;

	if (sends == 0)
		return;
	printf("mpi counts: rank %d: %llu sends; per send: %.2f messages (%.2f in the cluster, "
		"%.2f by mailbox, %.2f by channel, %.2f allowed, %.2f by portal), "
		"%.2f kernel calls, also %.2f to wake, %.2f to wait\n", self->world_rank,
			(unsigned long long)sends,
		per_send(now.near + now.mails + now.channels + now.allows + now.transfers,
			b.near + b.mails + b.channels + b.allows + b.transfers, sends),
		per_send(now.near, b.near, sends), per_send(now.mails, b.mails, sends),
			per_send(now.channels, b.channels, sends),
			per_send(now.allows, b.allows, sends),
		per_send(now.transfers, b.transfers, sends), per_send(now.calls, b.calls, sends),
			per_send(now.wakes, b.wakes, sends),
		per_send(now.waits, b.waits, sends));
}

void
transport_count(struct mpi_rank *self, int level)
{
	struct transport *t = self->transport;

	if (t == NULL || getenv("ATOLL_MPI_COUNTS") == NULL)
		return;
	if (level == 0)
		counts_say(self);
	t->counts_said |= level == 0;
	t->counts_before = counts_now(self);
}

void
transport_counts_end(struct mpi_rank *self)
{
	struct transport *t = self->transport;

	if (!t->counts_said && getenv("ATOLL_MPI_COUNTS") != NULL)
		counts_say(self);
	t->counts_said = true;
}
