/* SPDX-License-Identifier: MIT
 *
 * Process ranks: all ranks of the job are near. Packets go through inboxes in the job segment,
 * longer data is fetched by memory.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <mpi/transport/process/state.h>
#include <mpi/transport/transport.h>

int
transport_init(struct mpi_rank *self)
{
	struct transport *t = calloc(1, sizeof(*t));
	int err;

	if (t == NULL)
		return MPI_ERR_NO_MEM;
	self->transport = t;
	err = transport_attach(self);
	if (err != MPI_SUCCESS)
		return err;
	t->tid = gettid();
	self->inbox = &t->inbox;
	transport_wait_init(t);
	return MPI_SUCCESS;
}

void
transport_exit(struct mpi_rank *self)
{
	transport_detach(self->transport);
	free(self->transport);
	self->transport = NULL;
}

/* The launcher looks at the rank's state in the segment. */
void
transport_hold(struct mpi_rank *self, bool held)
{
	const struct transport *t = self->transport;

	store_release(&t->segment->rank[t->rank].state, held ? RANK_ATTACHED : RANK_LEFT);
}

bool
transport_is_near(const struct mpi_rank *self, uint32_t peer)
{
	(void)self;
	(void)peer;
	return true;
}

uint32_t
transport_cluster_of(const struct mpi_rank *self, uint32_t peer)
{
	(void)self;
	(void)peer;
	return 0;
}

bool
transport_is_lost(const struct mpi_rank *self, uint32_t cluster)
{
	(void)self;
	(void)cluster;
	return false;
}

struct inbox *
transport_inbox_of(const struct mpi_rank *self, uint32_t peer)
{
	return segment_inbox(self->transport->segment, peer);
}

struct packet *
transport_claim(struct mpi_rank *self, uint32_t peer)
{
	struct transport *t = self->transport;

	return inbox_claim(segment_inbox(t->segment, peer), t->cells, &t->claimed);
}

bool
transport_has_room(struct mpi_rank *self, uint32_t peer)
{
	struct transport *t = self->transport;

	return !inbox_must_wait(segment_inbox(t->segment, peer), t->cells);
}

void
transport_send_claimed(struct mpi_rank *self, uint32_t peer, struct packet *p)
{
	struct transport *t = self->transport;
	struct inbox *box = segment_inbox(t->segment, peer);

	if (inbox_publish(box, p, t->claimed))
		transport_wake_owner(box);
}

void
transport_wake(struct mpi_rank *self, uint32_t peer)
{
	transport_wake_owner(segment_inbox(self->transport->segment, peer));
}

void
transport_wake_all(const struct mpi_rank *self)
{
	const struct transport *t = self->transport;

	for (uint32_t i = 0; i < t->ranks; i++)
		transport_wake_owner(segment_inbox(t->segment, i));
}

bool
transport_poll(struct mpi_rank *self)
{
	struct inbox_reader *in = &self->transport->inbox;
	const struct packet *p = inbox_peek(in);
	bool moved = p != NULL;

	/* at most one round of the ring, so that a flood cannot keep the caller here */
	for (uint32_t n = 0; p != NULL && n <= in->mask; n++, p = inbox_peek(in)) {
		mpi_arrived(self, p);
		if (inbox_pass(in))
			transport_wake_all(self);
	}
	return moved;
}

struct sync *
transport_sync(const struct mpi_rank *self)
{
	struct segment *s = self->transport->segment;

	return (struct sync *)(void *)((char *)s + s->sync);
}

uint32_t *
transport_taken_word(struct mpi_rank *self, uint32_t source, uint32_t sink)
{
	return segment_taken_word(self->transport->segment, source, sink);
}

double
transport_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

double
transport_tick(void)
{
	return 1e-9;
}

void
transport_place_name(const struct mpi_rank *self, char *name, size_t len)
{
	(void)self;
	if (gethostname(name, len) != 0)
		snprintf(name, len, "localhost");
	name[len - 1] = '\0';
}

bool
transport_is_first_thread(const struct mpi_rank *self)
{
	return gettid() == self->transport->tid;
}

void
transport_abort(struct mpi_rank *self, int status)
{
	struct transport *t = self->transport;
	uint32_t nobody = 0;

	transport_flush();
	if (t != NULL && t->segment != NULL &&
		swap_strong(&t->segment->aborted, &nobody, t->rank + 1))
		t->segment->abort_status = status;
	_exit((status & 255) != 0 ? status & 255 : 1);
}
