/* SPDX-License-Identifier: MIT
 *
 * Memory of peers. A reference is an offset into the job segment if the memory lies there (from
 * transport_share), which every rank reaches by itself; otherwise the address in the process of its
 * rank, whose memory the kernel copies for us.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <abi/errors.h>
#include <mpi/transport/process/state.h>
#include <mpi/transport/transport.h>

#define IN_SEGMENT ((uint64_t)1 << 63)

/*
 * a copy in shared memory moves data twice, but neither enters the kernel nor makes the sender wait
 */
#define COPIED_MAX 16384
#define COPIES_BYTES (17 * (COPIED_MAX + CACHE_LINE))

void *
transport_share(struct mpi_rank *self, size_t bytes)
{
	struct transport *t = self->transport;
	void *memory = heap_take(&t->heap, bytes);

	store_release(&t->segment->rank[t->rank].opened, (uint32_t)(t->heap.opened / HEAP_UNIT));
	return memory;
}

bool
transport_unshare(struct mpi_rank *self, void *memory)
{
	/* the heap goes with the segment */
	return self->transport == NULL || heap_give(&self->transport->heap, memory);
}

bool
transport_shares_memory(const struct mpi_rank *self)
{
	(void)self;
	return false;
}

uint64_t
transport_reference(const struct mpi_rank *self, const void *memory)
{
	const struct segment *s = self->transport->segment;
	uintptr_t offset = (uintptr_t)memory - (uintptr_t)s;

	return offset < s->bytes ? offset | IN_SEGMENT : (uintptr_t)memory;
}

/* Open a heap as far as its owner has: whoever refers to memory in it has opened that before. */
static void
open_heap(struct transport *t, uint32_t owner, uint32_t units)
{
	char *end = segment_heap(t->segment, owner) + (uint64_t)t->opened[owner] * HEAP_UNIT;

	/*
	 * refused only where Linux has no memory for a handful of words; then the access ends the
	 * rank
	 */
	if (mprotect(end, (uint64_t)(units - t->opened[owner]) * HEAP_UNIT,
		PROT_READ | PROT_WRITE) == 0)
		t->opened[owner] = units;
}

static void *
at(struct transport *t, uint64_t reference)
{
	uint64_t offset = reference & ~IN_SEGMENT;
	uint32_t owner = (uint32_t)((offset - t->segment->heaps) >> t->segment->heap_shift), units;

	/* what lies before the heaps is open */
	if (owner < t->ranks) {
		units = load_acquire(&t->segment->rank[owner].opened);
		if (units > t->opened[owner])
			open_heap(t, owner, units);
	}
	return (char *)t->segment + offset;
}

void
transport_attend(struct mpi_rank *self, bool attends)
{
	store_relaxed(&self->transport->inbox.box->attends, attends);
}

/*
 * The kernel takes some 0.2 us for each page that it copies from, more than the two copies through
 * shared memory take together, which two processors make at the same time. So the sender is asked
 * to make its half if it waits inside the library. A longer message than the copies hold needs this
 * rank, too: one that goes on to compute would leave the sender waiting.
 */
static bool
peer_is_faster(const struct transport *t, uint32_t peer, size_t bytes)
{
	bool stays = bytes < COPIES_BYTES - COPIED_MAX || load_relaxed(&t->inbox.box->attends) != 0;

	return t->polls > 0 && stays && load_relaxed(&segment_inbox(t->segment, peer)->attends) !=
		0;
}

/*
 * Is the process that has the peer's number here the peer? The launcher wrote down the number that
 * it knows; if this rank lives in a namespace of process numbers of its own, another process may
 * have it.
 */
static bool
is_peer(struct transport *t, uint32_t peer)
{
	const struct segment_rank *r = &t->segment->rank[peer];
	uint64_t token = 0;
	struct iovec to = {&token, sizeof(token)},
		from = {(void *)(uintptr_t)r->token_at, sizeof(token)};

	if (!t->proven[peer])
		t->proven[peer] = r->token_at != 0 &&
			process_vm_readv(r->pid, &to, 1, &from, 1, 0) == sizeof(token) &&
			token == r->token;
	return t->proven[peer];
}

/* Ask the kernel; it may copy less than everything at a time. */
static int
fetch_private(struct transport *t, uint32_t peer, struct iovec to, struct iovec from)
{
	pid_t pid = t->segment->rank[peer].pid;

	if (t->fetch == FETCH_AS_FASTER && peer_is_faster(t, peer, to.iov_len))
		return -E_PERM;
	if (t->fetch != FETCH_NEVER && !is_peer(t, peer))
		t->fetch = FETCH_NEVER;
	while (to.iov_len > 0 && t->fetch != FETCH_NEVER) {
		ssize_t got = process_vm_readv(pid, &to, 1, &from, 1, 0);

		if (got <= 0) {
			t->fetch = FETCH_NEVER;
			break;
		}
		to = (struct iovec){(char *)to.iov_base + got, to.iov_len - (size_t)got};
		from = (struct iovec){(char *)from.iov_base + got, from.iov_len - (size_t)got};
	}
	return to.iov_len > 0 ? -E_PERM : 0;
}

void *
transport_reach(const struct mpi_rank *self, uint64_t reference)
{
	return at(self->transport, reference);
}

int
transport_fetch(struct mpi_rank *self, uint32_t peer, uint64_t reference, void *to, size_t bytes)
{
	struct transport *t = self->transport;

	if (peer == t->rank && !(reference & IN_SEGMENT)) {
		memmove(to, (const void *)(uintptr_t)reference, bytes);
		return 0;
	}
	if (!(reference & IN_SEGMENT))
		return fetch_private(t, peer, (struct iovec){to, bytes},
			(struct iovec){(void *)(uintptr_t)reference, bytes});
	bytes_copy(to, at(t, reference), bytes);
	return 0;
}

bool
transport_signal(struct mpi_rank *self, uint32_t peer, uint64_t reference, bool wakes)
{
	struct transport *t = self->transport;
	uint32_t *word = reference & IN_SEGMENT ? at(t, reference) :
		(uint32_t *)(uintptr_t)reference;

	if (!(reference & IN_SEGMENT) && peer != t->rank)
		return false;
	if (wakes) {
		exchange_total(word, 1);
		transport_wake(self, peer);
	} else {
		store_release(word, 1);
	}
	return true;
}

/* A process of Linux has enough. */
size_t
transport_memory_part(const struct mpi_rank *self, unsigned part, size_t most)
{
	(void)self;
	(void)part;
	return most;
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
	(void)self;
	return COPIES_BYTES;
}
