/* SPDX-License-Identifier: MIT
 *
 * Channels between ranks of two clusters (atoll/channel.h): packets go through memory that both
 * have mapped, without the kernel unless the receiver sleeps. A rank makes one to a peer to which
 * it sends often, as long as it has a share of the window's pages; all others, and the first
 * packets, go by mailbox, in which the two agree on the channel with packets that nobody else looks
 * at:
 *
 *	maker	"here is one"; what it sends still goes by mailbox
 *	taker	"I have it", its last one by mailbox; the maker looks into the channel from then on
 *	maker	"so have I", its last one by mailbox; the taker looks into it from then on
 *
 * So nobody looks into a channel before all that its peer has sent by mailbox is read. Each of the
 * three is sent before the next packet to the peer, and needs no other attempt.
 *
 * What the taker has not read when the maker's process ends is lost. So a rank that leaves the
 * library waits until the takers of its channels have read all. The cluster with the lower number
 * makes channels: no two processes wait for the end of each other.
 */
#include <stdlib.h>
#include <abi/errors.h>
#include <atoll/channel.h>
#include <mpi/core/peer.h>
#include <mpi/transport/atoll/state.h>
#include <mpi/transport/shared.h>
#include <mpi/transport/transport.h>

#define CHANNEL_PAGES 1
/* that the ranks of a cluster make together: the pages of a small window, less those of servers */
#define CHANNELS_OF_CLUSTER 12
#define OFTEN 8				/* messages to a peer before a channel to it is made */

struct far_channel {
	struct far_channel *next;
	uint32_t peer;
	uint32_t number;
	bool is_taken;			/* the peer has made it */
	bool says;			/* by mailbox, before anything is sent */
	bool writes, reads;		/* packets to the peer, from the peer, go through it */
	/* words that threads look at which are not in the library */
	uint32_t refused;		/* a packet has found no room */
	uint32_t gone;			/* the peer has given it up, or its cluster has died */
	uint32_t taken;			/* packets from it */
	struct channel ch;
};

static struct far_channel *
channel_of(const struct transport *t, uint32_t peer)
{
	struct far_channel *c = t->channels;

	while (c != NULL && c->peer != peer)
		c = c->next;
	return c;
}

/* Threads that wait look at the list, too. */
static void
channel_add(struct transport *t, struct far_channel *c, uint32_t peer)
{
	c->peer = peer;
	c->says = true;
	c->next = t->channels;
	__atomic_store_n(&t->channels, c, __ATOMIC_RELEASE);
}

/* Channels that this rank may make: its part of the cluster's. */
static uint32_t
share(const struct transport *t)
{
	return (CHANNELS_OF_CLUSTER + t->local_ranks - 1 - t->local_rank) / t->local_ranks;
}

static struct far_channel *
channel_offer(struct mpi_rank *self, uint32_t peer)
{
	struct transport *t = self->transport;
	struct far_channel *c;

	if (self->peers[peer].sent < OFTEN || t->cluster >= t->placement[peer].cluster ||
		t->channels_made >= share(t))
		return NULL;
	c = calloc(1, sizeof(*c));
	if (c == NULL || channel_make(&c->ch, transport_mailbox_to(self, peer), CHANNEL_PAGES,
		sizeof(struct packet), BIT_CHANNEL, &c->number) != 0) {
		/* no memory, or no pages: later it will be no better */
		t->channels_made = UINT32_MAX;
		free(c);
		return NULL;
	}
	t->channels_made++;
	channel_add(t, c, peer);
	return c;
}

static int
channel_say(struct mpi_rank *self, struct far_channel *c)
{
	struct packet p = {.kind = PACKET_CHANNEL, .origin = (uint32_t)self->world_rank,
		.bulk = {.request = c->number}};
	int err = transport_mail(self, c->peer, &p);

	if (err != 0)
		return err;
	c->says = false;
	c->writes = c->is_taken || c->reads;
	return 0;
}

void
transport_channel_heard(struct mpi_rank *self, uint32_t cluster, const struct packet *p)
{
	struct transport *t = self->transport;
	struct far_channel *c = channel_of(t, p->origin);
	struct channel_offer offer = {.cluster = (int)cluster, .number = p->bulk.request,
		.pages = CHANNEL_PAGES, .message = sizeof(struct packet)};

	if (c != NULL) {
		c->reads = true;
		c->says = !c->is_taken;
		return;
	}
	c = calloc(1, sizeof(*c));
	if (c == NULL || channel_take(&c->ch, t->mailbox, &offer, BIT_CHANNEL) != 0) {
		/* it is not answered, so that all goes by mailbox */
		free(c);
		return;
	}
	c->is_taken = true;
	channel_add(t, c, p->origin);
}

static bool
channel_is_over(const struct transport *t, const struct far_channel *c)
{
	return load_relaxed(&c->gone) != 0 || (t->dead >> t->placement[c->peer].cluster & 1) != 0;
}

int
transport_channel_send(struct mpi_rank *self, uint32_t peer, const struct packet *p)
{
	struct transport *t = self->transport;
	struct far_channel *c = channel_of(t, peer);
	struct packet *place;
	int err;

	if (c == NULL)
		c = channel_offer(self, peer);
	if (c == NULL || channel_is_over(t, c))
		return BY_MAILBOX;
	err = c->says ? channel_say(self, c) : 0;
	if (err != 0 || !c->writes)
		return err != 0 ? err : BY_MAILBOX;
	place = channel_place(&c->ch);
	store_relaxed(&c->refused, place == NULL);
	if (place == NULL)
		return -E_AGAIN;
	place->word = p->word;
	packet_copy(place, p);
	channel_put(&c->ch, sizeof(*p));
	count_if(true, &t->counts.channels);
	return 0;
}

/* At most a round of the ring. Whoever waits for room, or for the end, is told at once. */
static bool
channel_read(struct mpi_rank *self, struct far_channel *c)
{
	uint32_t bytes, first = c->taken;
	const struct packet *p;

	while (c->taken - first < c->ch.slots && (p = channel_look(&c->ch, &bytes)) != NULL) {
		mpi_arrived(self, p);
		channel_took(&c->ch);
		store_relaxed(&c->taken, c->taken + 1);
	}
	if (load_acquire(c->ch.in.waits) != 0)
		channel_tell(&c->ch);
	return c->taken != first;
}

bool
transport_channels_poll(struct mpi_rank *self)
{
	bool moved = false;

	for (struct far_channel *c = self->transport->channels; c != NULL; c = c->next)
		if (c->reads)
			moved |= channel_read(self, c);
	return moved;
}

void
transport_channels_listen(struct transport *t)
{
	for (struct far_channel *c = t->channels; c != NULL; c = c->next) {
		/* the thread that sleeps is the one that is woken */
		if ((t->threads || t->leaves || load_relaxed(&c->refused) != 0) &&
			channel_check(&c->ch) != 0)
			store_relaxed(&c->gone, 1);
		channel_listen(&c->ch, true);
	}
}

void
transport_channels_wake(const struct transport *t)
{
	for (struct far_channel *c = t->channels; c != NULL; c = c->next)
		store_relaxed(c->ch.in.sleeps, 0);
}

/* What is shared is looked at, not what the thread that is in the library changes. */
static bool
channel_is_quiet(const struct far_channel *c)
{
	uint32_t n = load_relaxed(&c->taken);
	const uint32_t *next = (const uint32_t *)(const void *)
		(c->ch.in.first + (size_t)(n % c->ch.slots) * c->ch.stride);
	bool wants = load_relaxed(&c->refused) != 0;

	if (c->reads && load_total(next) == n + 1)
		return false;
	return !wants || (load_relaxed(&c->gone) == 0 &&
		c->ch.out.count - load_total(c->ch.out.taken) >= c->ch.slots);
}

bool
transport_channels_are_quiet(const struct transport *t)
{
	for (const struct far_channel *c = t->channels; c != NULL; c = c->next)
		if (!channel_is_quiet(c))
			return false;
	return true;
}

/* If not, the taker says when it is. */
static bool
channel_is_read(struct far_channel *c)
{
	if (load_total(c->ch.out.taken) == c->ch.out.count)
		return true;
	exchange_total(c->ch.out.waits, 1);
	return load_total(c->ch.out.taken) == c->ch.out.count;
}

bool
transport_channels_are_read(struct transport *t)
{
	bool are_read = true;

	t->leaves = true;
	for (struct far_channel *c = t->channels; c != NULL; c = c->next) {
		if (c->is_taken)
			channel_tell(&c->ch);
		else if (!channel_is_over(t, c))
			are_read &= channel_is_read(c);
	}
	return are_read;
}

void
transport_channels_exit(struct transport *t)
{
	while (t->channels != NULL) {
		struct far_channel *c = t->channels;

		t->channels = c->next;
		channel_end(&c->ch);
		free(c);
	}
}
