/* SPDX-License-Identifier: MIT
 *
 * Where ranks of two clusters have no channels: all goes by mailbox (channel/far_channel.c).
 */
#include <mpi/transport/atoll/state.h>

int
transport_channel_send(struct mpi_rank *self, uint32_t peer, const struct packet *p)
{
	(void)self;
	(void)peer;
	(void)p;
	return BY_MAILBOX;
}

/* An offer of who has them: without an answer nothing changes. */
void
transport_channel_heard(struct mpi_rank *self, uint32_t cluster, const struct packet *p)
{
	(void)self;
	(void)cluster;
	(void)p;
}

bool
transport_channels_poll(struct mpi_rank *self)
{
	(void)self;
	return false;
}

void
transport_channels_listen(struct transport *t)
{
	(void)t;
}

bool
transport_channels_are_quiet(const struct transport *t)
{
	(void)t;
	return true;
}

void
transport_channels_wake(const struct transport *t)
{
	(void)t;
}

bool
transport_channels_are_read(struct transport *t)
{
	(void)t;
	return true;
}

void
transport_channels_exit(struct transport *t)
{
	(void)t;
}
