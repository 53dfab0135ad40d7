/* SPDX-License-Identifier: MIT
 *
 * Layout of the area that the ranks of a cluster share: an inbox per rank, then the matrix of words
 * [source][sink] in which receivers tell senders how much they have matched, the place where all
 * meet, the count of those that sleep, the mailboxes to the ranks of other clusters, and what finds
 * these by names. Every rank computes the same layout from the size of the area and the numbers of
 * ranks; the area is zero when the job starts, and zero is a valid start of everything in it:
 * nobody has to set it up.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi/transport/atoll/state.h>

static size_t
round_up(size_t n)
{
	return (n + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static size_t
matrix_row(uint32_t ranks)
{
	return round_up(ranks * sizeof(uint32_t));
}

static size_t
area_bytes(uint32_t ranks, uint32_t cells)
{
	return ranks * (round_up(inbox_bytes(cells)) + matrix_row(ranks)) + sizeof(struct sync) +
		sizeof(struct sleepers);
}

/* What comes behind that: nothing in a job that lives in one cluster. */
static size_t
far_bytes(const struct startup *s)
{
	uint32_t flags;

	return s->ranks <= s->local_ranks ? 0 : round_up(s->ranks * sizeof(uint32_t)) +
		(transport_names_are_used != NULL && transport_names_are_used(&flags) ?
		sizeof(struct finder) : 0);
}

/* A single rank without a system below it brings its own area. */
static int
own_area(struct transport *t)
{
	size_t bytes = area_bytes(1, INBOX_CELLS_MAX) + CACHE_LINE;

	t->own_area = calloc(1, bytes);
	if (t->own_area == NULL)
		return MPI_ERR_NO_MEM;
	t->area = (char *)round_up((size_t)t->own_area);
	t->cells = INBOX_CELLS_MAX;
	return MPI_SUCCESS;
}

static int
given_area(struct transport *t)
{
	uint64_t room = t->startup->shared_bytes, far = far_bytes(t->startup);

	for (t->cells = INBOX_CELLS_MAX; area_bytes(t->local_ranks, t->cells) + far > room;
		t->cells /= 2)
		if (t->cells == INBOX_CELLS_MIN)
			return MPI_ERR_NO_MEM;
	t->area = (char *)(uintptr_t)t->startup->shared;
	return MPI_SUCCESS;
}

int
transport_area_init(struct transport *t)
{
	int err = t->startup != NULL && t->startup->shared != 0 ? given_area(t) : own_area(t);

	if (err != MPI_SUCCESS)
		return err;
	t->inbox_stride = round_up(inbox_bytes(t->cells));
	t->taken = (uint32_t *)(void *)(t->area + t->local_ranks * t->inbox_stride);
	t->sync = (struct sync *)(void *)((char *)t->taken +
		t->local_ranks * matrix_row(t->local_ranks));
	t->sleepers = (struct sleepers *)(void *)(t->sync + 1);
	t->mailboxes = (uint32_t *)(void *)(t->sleepers + 1);
	if (t->startup != NULL && t->startup->ranks > t->local_ranks &&
		transport_names_are_used != NULL && transport_names_are_used(&t->finder_flags))
		t->finder = (struct finder *)(void *)((char *)t->mailboxes +
			round_up(t->startup->ranks * sizeof(uint32_t)));
	t->inbox = (struct inbox_reader){.box = transport_inbox(t, t->local_rank),
		.mask = t->cells - 1};
	return MPI_SUCCESS;
}

struct inbox *
transport_inbox(const struct transport *t, uint32_t local_rank)
{
	return (struct inbox *)(void *)(t->area + local_rank * t->inbox_stride);
}

struct sync *
transport_sync(const struct mpi_rank *self)
{
	const struct transport *t = self->transport;

	return t->local_ranks == (uint32_t)self->world_size && !t->all_far ? t->sync : NULL;
}

size_t
transport_memory_part(const struct mpi_rank *self, unsigned part, size_t most)
{
	const struct startup *s = self->transport->startup;
	uint64_t memory = s != NULL ? (uint64_t)s->rank_kb * 1024 / part : 0;
	size_t bytes = 64;

	if (memory == 0 || memory >= most)
		return most;
	while (bytes <= memory / 2)
		bytes *= 2;
	return bytes;
}

uint32_t *
transport_taken_word(struct mpi_rank *self, uint32_t source, uint32_t sink)
{
	const struct transport *t = self->transport;
	uint32_t from = t->placement ? t->placement[source].local_rank : 0;
	uint32_t to = t->placement ? t->placement[sink].local_rank : 0;

	return t->taken + from * (matrix_row(t->local_ranks) / sizeof(uint32_t)) + to;
}
