/* SPDX-License-Identifier: MIT
 *
 * Places where ranks meet: made once per communicator, by messages.
 */
#include <stdlib.h>
#include <mpi/coll/place.h>
#include <mpi/transport/transport.h>

#define SEATS_BYTES 131072		/* of all seats of a turn, as long as they are not too small or too large */
#define SEAT_MIN 64
#define SEAT_MAX 4096

static size_t
seat_bytes(int ranks)
{
	size_t bytes = SEAT_MAX;

	while (bytes > SEAT_MIN && bytes * (size_t)ranks > SEATS_BYTES)
		bytes /= 2;
	return bytes;
}

static uint32_t
cluster_of(struct mpi_rank *self, const struct comm *c, int rank)
{
	return transport_cluster_of(self, (uint32_t)mpi_group_world(c->group, rank));
}

/* Who is in this cluster, and who is the first in each. */
static void
survey(struct mpi_rank *self, const struct comm *c, struct venue *v)
{
	uint32_t own = cluster_of(self, c, c->rank), last = ~own;

	v->consecutive = true;
	for (int i = 0; i < c->size; i++) {
		uint32_t cluster = cluster_of(self, c, i);
		bool known = false;

		if (cluster == own) {
			v->rank = i == c->rank ? v->ranks : v->rank;
			v->members[v->ranks++] = i;
		}
		if (i > 0 && cluster == last)
			continue;
		last = cluster;
		for (int j = 0; j < v->clusters && !known; j++)
			known = cluster_of(self, c, v->leaders[j]) == cluster;
		if (known) {
			v->consecutive = false;
			continue;
		}
		if (cluster == own)
			v->cluster = v->clusters;
		v->leaders[v->clusters++] = i;
	}
}

/* The first of the cluster makes the place and tells the others where it is. */
static int
make_place(struct mpi_rank *self, struct comm *c, struct venue *v)
{
	size_t bytes = sizeof(struct place) + 2 * ((size_t)v->ranks * v->seat_bytes + v->table_bytes) + CACHE_LINE;
	struct sched *s = mpi_sched_new(self, c);
	uint64_t reference = 0;
	void *memory = NULL;
	int err;

	if (s == NULL)
		return MPI_ERR_NO_MEM;
	v->owner = v->rank == 0;
	if (v->owner) {
		memory = transport_share(self, bytes);
		reference = memory ? transport_reference(self, memory) : 0;
	}
	mpi_sched_among(s, v->members, v->ranks, v->rank);
	mpi_bcast_binomial(s, span_bytes(&reference, sizeof(reference)), 0);
	err = mpi_sched_run(s);
	if (err != MPI_SUCCESS || reference == 0)
		return err;
	memory = transport_reach(self, reference);
	v->place = (struct place *)(((uintptr_t)memory + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
	v->memory = memory;
	return MPI_SUCCESS;
}

struct venue *
mpi_venue_of(struct mpi_rank *self, struct comm *c)
{
	struct venue *v = c->venue;

	if (v != NULL)
		return v;
	v = calloc(1, sizeof(*v) + 2 * (size_t)c->size * sizeof(int));
	if (v == NULL)
		return NULL;
	v->members = (int *)(v + 1);
	v->leaders = v->members + c->size;
	survey(self, c, v);
	v->seat_bytes = v->table_bytes = seat_bytes(v->ranks);
	v->table_bytes *= (size_t)v->ranks;
	c->venue = v;
	if (v->ranks > 1)
		make_place(self, c, v);
	else
		c->collectives++;	/* as on the others */
	return v;
}

/* The owner frees what all have left. */
static void
reap(struct mpi_rank *self)
{
	struct venue **at = &self->venues;

	while (*at != NULL) {
		struct venue *v = *at;

		if (load_acquire(&v->place->left) == (uint32_t)v->ranks) {
			*at = v->next;
			transport_unshare(self, v->memory);
			free(v);
		} else {
			at = &v->next;
		}
	}
}

void
mpi_venue_leave(struct mpi_rank *self, struct venue *v)
{
	if (v == NULL)
		return;
	if (v->place != NULL)
		add_total(&v->place->left, 1);
	if (v->place != NULL && v->owner) {
		v->next = self->venues;
		self->venues = v;
	} else {
		free(v);
	}
	reap(self);
}

void
mpi_venue_exit(struct mpi_rank *self)
{
	struct venue *v;

	while ((v = self->venues) != NULL) {
		self->venues = v->next;
		transport_unshare(self, v->memory);
		free(v);
	}
}
