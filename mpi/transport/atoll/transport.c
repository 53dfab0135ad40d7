/* SPDX-License-Identifier: MIT
 *
 * Who this rank is, and the path inside a cluster.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <atoll/guest.h>
#include <atoll/kcalls.h>
#include <atoll/startup.h>
#include <atoll/yield.h>
#include <mpi/transport/atoll/state.h>
#include <mpi/transport/transport.h>

/* a copy saves the sender a wait; above this the second copy costs more */
#define COPIED_MAX 4096
#define COPIES_BYTES 36864
/*
 * where memory is short: a part of it, and the largest copy at least; the libc's heap makes two
 * pages of that
 */
#define COPIES_PART 32
#define COPIES_LEAST 7936

void
transport_identify(struct mpi_rank *self)
{
	const struct startup *s = atoll_startup();

	self->world_rank = s != NULL && s->ranks > 0 ? (int)s->rank : 0;
	self->world_size = s != NULL && s->ranks > 0 ? (int)s->ranks : 1;
}

static enum path
path_of_user(void)
{
	const char *path = getenv("ATOLL_MPI_PATH");

	if (path == NULL || strcmp(path, "opt") == 0)
		return PATH_OPT;
	return strcmp(path, "unopt") == 0 ? PATH_UNOPT : PATH_IPC;
}

static void
locate(struct transport *t, const struct startup *s)
{
	t->all_far = path_of_user() != PATH_OPT;
	t->startup = s;
	t->local_ranks = 1;
	if (s == NULL)
		return;
	t->cluster = s->cluster;
	if (s->ranks == 0)
		return;
	t->local_rank = s->local_rank;
	t->local_ranks = s->local_ranks;
	t->placement = (const struct placement *)(uintptr_t)s->placement;
}

int
transport_init(struct mpi_rank *self)
{
	struct transport *t = calloc(1, sizeof(*t));
	int err;

	if (t == NULL)
		return MPI_ERR_NO_MEM;
	self->transport = t;
	locate(t, atoll_startup());
	if (t->all_far && t->local_ranks == (uint32_t)self->world_size)
		mpi_die(self, 2, "the paths ipc and unopt are for jobs on several clusters: ranks "
			"of one cluster have no mailboxes");
	err = transport_area_init(t);
	if (err != MPI_SUCCESS)
		return err;
	if (t->startup != NULL && guest_enter() != 0)
		return MPI_ERR_NO_MEM;
	self->inside_far = path_of_user() == PATH_UNOPT ? 0 : PACKET_INLINE + 1;
	t->tid = t->startup ? (int32_t)kthread_self() : 0;
	t->inbox.box->tid = t->tid;
	self->inbox = &t->inbox;
	transport_wait_init(t);
	self->yield_way = thread_yield_way();
	return transport_far_init(self);
}

void
transport_exit(struct mpi_rank *self)
{
	transport_far_exit(self);
	free(self->transport->own_area);
	free(self->transport);
	self->transport = NULL;
}

void
transport_hold(struct mpi_rank *self, bool held)
{
	if (!held) {
		transport_counts_end(self);
		transport_memory_end(self);
	}
	rank_hold(held);
}

bool
transport_is_near(const struct mpi_rank *self, uint32_t peer)
{
	const struct transport *t = self->transport;

	if (t->placement == NULL || peer == (uint32_t)self->world_rank)
		return true;
	return !t->all_far && t->placement[peer].cluster == t->cluster;
}

uint32_t
transport_cluster_of(const struct mpi_rank *self, uint32_t peer)
{
	const struct transport *t = self->transport;

	return t->placement == NULL ? t->cluster : t->placement[peer].cluster;
}

bool
transport_is_lost(const struct mpi_rank *self, uint32_t cluster)
{
	return (self->transport->dead >> cluster & 1) != 0;
}

static struct inbox *
inbox_of(const struct transport *t, uint32_t peer)
{
	return transport_inbox(t, t->placement ? t->placement[peer].local_rank : 0);
}

struct inbox *
transport_inbox_of(const struct mpi_rank *self, uint32_t peer)
{
	return inbox_of(self->transport, peer);
}

struct packet *
transport_claim(struct mpi_rank *self, uint32_t peer)
{
	struct transport *t = self->transport;

	return inbox_claim(inbox_of(t, peer), t->cells, &t->claimed);
}

bool
transport_has_room(struct mpi_rank *self, uint32_t peer)
{
	struct transport *t = self->transport;

	return !inbox_must_wait(inbox_of(t, peer), t->cells);
}

static void
wake(struct transport *t, struct inbox *box)
{
	if (!transport_take_off(t, box))
		return;
	count_if(true, &t->counts.wakes);
	kthread_wakeup((int)load_relaxed((const uint32_t *)&box->tid), WOKEN_BY_PEER);
}

static void
wake_if_asleep(struct transport *t, struct inbox *box)
{
	if (load_total(&box->sleeping) == SLEEPING)
		wake(t, box);
}

void
transport_send_claimed(struct mpi_rank *self, uint32_t peer, struct packet *p)
{
	struct transport *t = self->transport;
	struct inbox *box = inbox_of(t, peer);

	count_if(p->kind > PACKET_NEAR, &t->counts.near);	/* others are counted as sends */
	if (inbox_publish(box, p, t->claimed))
		wake(t, box);
}

/*
 * Ranks of a cluster share their address space: all memory is shared, and a reference is an
 * address.
 */
void *
transport_share(struct mpi_rank *self, size_t bytes)
{
	(void)self;
	return calloc(1, bytes > 0 ? bytes : 1);
}

bool
transport_unshare(struct mpi_rank *self, void *memory)
{
	(void)self;
	free(memory);
	return true;
}

bool
transport_shares_memory(const struct mpi_rank *self)
{
	(void)self;
	return true;
}

uint64_t
transport_reference(const struct mpi_rank *self, const void *memory)
{
	(void)self;
	return (uintptr_t)memory;
}

void *
transport_reach(const struct mpi_rank *self, uint64_t reference)
{
	(void)self;
	return (void *)(uintptr_t)reference;
}

int
transport_fetch(struct mpi_rank *self, uint32_t peer, uint64_t reference, void *to, size_t bytes)
{
	(void)self;
	(void)peer;
	bytes_copy(to, (const void *)(uintptr_t)reference, bytes);
	return 0;
}

bool
transport_signal(struct mpi_rank *self, uint32_t peer, uint64_t reference, bool wakes)
{
	uint32_t *word = (uint32_t *)(uintptr_t)reference;

	if (wakes) {
		exchange_total(word, 1);
		transport_wake(self, peer);
	} else {
		store_release(word, 1);
	}
	return true;
}

void
transport_attend(struct mpi_rank *self, bool attends)
{
	(void)self;
	(void)attends;
}

size_t
transport_copied_max(const struct mpi_rank *self)
{
	(void)self;
	return COPIED_MAX;
}

size_t
transport_copies_bytes(const struct mpi_rank *self)
{
	size_t bytes = transport_memory_part(self, COPIES_PART, COPIES_BYTES);

	return bytes < COPIES_LEAST ? COPIES_LEAST : bytes;
}

void
transport_wake(struct mpi_rank *self, uint32_t peer)
{
	wake_if_asleep(self->transport, inbox_of(self->transport, peer));
}

void
transport_wake_all(const struct mpi_rank *self)
{
	const struct transport *t = self->transport;

	for (uint32_t i = 0; i < t->local_ranks; i++)
		wake_if_asleep(self->transport, transport_inbox(t, i));
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
	if (self->transport->mailbox >= 0)
		moved |= transport_far_poll(self);
	return moved;
}

/* The kernel's, for all threads: the host's counts from another moment. */
double
transport_seconds(void)
{
	uint64_t ns;
	struct timespec ts;

	if (atoll_startup() != NULL) {
		if (kclock(&ns) < 0 && (guest_enter() != 0 || kclock(&ns) < 0))
			mpi_die(mpi_self(), 2, "too many threads of the program use MPI at a time");
		return (double)ns * 1e-9;
	}
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
	const struct transport *t = self->transport;

	snprintf(name, len, "cluster%u", t->cluster);
}

bool
transport_is_first_thread(const struct mpi_rank *self)
{
	const struct transport *t = self->transport;

	return t->startup == NULL || kthread_self() == t->tid;
}

void
transport_abort(struct mpi_rank *self, int status)
{
	(void)self;
	transport_flush();
	if (atoll_startup() != NULL)
		job_abort(status);
	_exit(status);
}
