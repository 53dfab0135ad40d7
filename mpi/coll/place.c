/* SPDX-License-Identifier: MIT
 *
 * Places where ranks meet: made once per communicator, by messages.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi/coll/place.h>
#include <mpi/transport/transport.h>

#define SEATS_BYTES 131072		/* of all seats of a turn, as long as they are not too small or too large */
#define SEAT_MIN 64
#define SEAT_MAX 4096
#define SEAT_PART 256			/* of a rank's memory */

static size_t
seat_bytes(const struct mpi_rank *self, int ranks)
{
	size_t bytes = transport_memory_part(self, SEAT_PART, SEAT_MAX);

	while (bytes > SEAT_MIN && bytes * (size_t)ranks > SEATS_BYTES)
		bytes /= 2;
	return bytes;
}

static uint32_t
cluster_of(struct mpi_rank *self, const struct comm *c, int rank)
{
	return transport_cluster_of(self, (uint32_t)mpi_group_world(c->group, rank));
}

bool
mpi_venue_together(struct mpi_rank *self, const struct comm *c, int one, int other)
{
	return cluster_of(self, c, one) == cluster_of(self, c, other);
}

int
mpi_venue_cluster(struct mpi_rank *self, const struct comm *c, int rank)
{
	const struct venue *v = c->venue;
	uint32_t cluster = cluster_of(self, c, rank);
	int i = 0;

	while (i < v->clusters && cluster_of(self, c, v->leaders[i]) != cluster)
		i++;
	return i;
}

int
mpi_venue_position(const struct venue *v, int rank)
{
	for (int i = 0; i < v->ranks; i++)
		if (v->members[i] == rank)
			return i;
	return -1;
}

static uint32_t
lane_of(struct mpi_rank *self, const struct comm *c, int rank)
{
	return transport_lane(self, (uint32_t)mpi_group_world(c->group, rank));
}

/* Cache lines that the seats of brief meetings take. */
static uint32_t
brief_lines(uint32_t ranks)
{
	return (ranks * BRIEF_BYTES + CACHE_LINE - 1) / CACHE_LINE;
}

/* Which members share a core with this rank, and how many such sets there are. */
static void
survey_lanes(struct mpi_rank *self, const struct comm *c, struct venue *v)
{
	uint32_t ranks[LANES_MAX] = {0};

	v->lane = lane_of(self, c, c->rank);
	for (int i = 0; i < v->ranks; i++) {
		uint32_t lane = lane_of(self, c, v->members[i]);

		if (i == v->rank)
			v->brief_seat = ranks[lane];
		v->lanes += ranks[lane]++ == 0;
	}
	v->lane_ranks = ranks[v->lane];
	for (uint32_t i = 0; i < v->lane; i++)
		v->brief_seat += brief_lines(ranks[i]) << BRIEF_LINE_SHIFT;
}

/* What survey_lanes finds out of the own seat, of all. */
static void
number_seats(struct mpi_rank *self, const struct comm *c, const struct venue *v)
{
	uint32_t next[LANES_MAX] = {0}, line = 0;

	for (int i = 0; i < v->ranks; i++)
		next[lane_of(self, c, v->members[i])]++;
	for (int i = 0; i < LANES_MAX; i++) {
		uint32_t lines = brief_lines(next[i]);

		next[i] = line << BRIEF_LINE_SHIFT;
		line += lines;
	}
	for (int i = 0; i < v->ranks; i++)
		v->brief_order[i] = next[lane_of(self, c, v->members[i])]++;
}

/*
 * The number of each rank's cluster, in the order in which they appear; how many ranks each has,
 * one further on in `first`.
 */
static void
number_clusters(struct mpi_rank *self, const struct comm *c, struct venue *v, int *number)
{
	v->consecutive = true;
	for (int i = 0; i < c->size; i++) {
		bool again = i > 0 && mpi_venue_together(self, c, i - 1, i);

		number[i] = again ? number[i - 1] : mpi_venue_cluster(self, c, i);
		if (number[i] == v->clusters)
			v->leaders[v->clusters++] = i;
		else if (!again)
			v->consecutive = false;
		if (++v->first[number[i] + 1] > v->largest)
			v->largest = v->first[number[i] + 1];
	}
}

/* Who is where: ranks sorted by the number of their cluster. */
static void
survey(const struct comm *c, struct venue *v, const int *number)
{
	for (int i = 0; i < v->clusters; i++)
		v->first[i + 1] += v->first[i];
	for (int i = 0; i < c->size; i++)
		v->order[v->first[number[i]]++] = i;
	memmove(v->first + 1, v->first, (size_t)v->clusters * sizeof(int));
	v->first[0] = 0;
	v->cluster = number[c->rank];
	v->members = v->order + v->first[v->cluster];
	v->ranks = v->first[v->cluster + 1] - v->first[v->cluster];
	v->rank = mpi_venue_position(v, c->rank);
}

static void *
aligned(void *memory)
{
	return (void *)(((uintptr_t)memory + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
}

/* The first of the cluster gives memory and tells the others where it is. NULL: there is none. */
static void *
share(struct mpi_rank *self, struct comm *c, const struct venue *v, size_t bytes)
{
	struct sched *s = mpi_sched_new(self, c);
	uint64_t reference = 0;
	void *memory = NULL;

	if (s == NULL)
		return NULL;
	if (v->owner) {
		memory = transport_share(self, bytes + CACHE_LINE);
		reference = memory ? transport_reference(self, memory) : 0;
	}
	mpi_sched_among(s, v->members, v->ranks, v->rank);
	mpi_bcast_binomial(s, span_bytes(&reference, sizeof(reference)), 0);
	return mpi_sched_run(s) == MPI_SUCCESS && reference != 0 ? transport_reach(self, reference) : NULL;
}

static void
make_place(struct mpi_rank *self, struct comm *c, struct venue *v)
{
	size_t seats = 2 * ((size_t)v->ranks * v->seat_bytes + v->table_bytes);
	size_t brief = ((size_t)v->ranks * BRIEF_BYTES / CACHE_LINE + LANES_MAX) * CACHE_LINE;

	v->owner = v->rank == 0;
	v->memory = share(self, c, v, sizeof(struct place) + seats + brief + (size_t)v->ranks *
		sizeof(*v->brief_order));
	if (v->memory == NULL)
		return;
	v->place = aligned(v->memory);
	v->brief_seats = v->place->seats + seats;
	v->brief_order = (uint32_t *)(void *)(v->brief_seats + brief);
	if (v->owner)
		number_seats(self, c, v);
}

/* Places are used if all clusters have one. */
static void
agree(struct mpi_rank *self, struct comm *c, struct venue *v)
{
	struct sched *s = mpi_sched_new(self, c);
	int all = v->place != NULL;
	struct span word = {&all, 1, mpi_type_find(MPI_INT)};

	if (s == NULL)
		return;
	s->op = mpi_op_bind(self, MPI_MIN, MPI_INT);
	mpi_allreduce_doubling(s, word, word);
	if (mpi_sched_run(s) == MPI_SUCCESS && all)
		return;
	/* nobody was in it */
	if (v->owner && v->memory != NULL)
		transport_unshare(self, v->memory);
	v->place = NULL;
}

struct venue *
mpi_venue_survey(struct mpi_rank *self, struct comm *c)
{
	struct venue *v = c->venue;
	int *number;

	if (v != NULL)
		return v;
	v = calloc(1, sizeof(*v) + (3 * (size_t)c->size + 1) * sizeof(int));
	number = malloc((size_t)c->size * sizeof(*number));
	if (v != NULL && number != NULL) {
		v->order = (int *)(v + 1);
		v->leaders = v->order + c->size;
		v->first = v->leaders + c->size;
		list_init(&v->open);
		c->venue = v;
		number_clusters(self, c, v, number);
		survey(c, v, number);
		survey_lanes(self, c, v);
	} else {
		free(v);
	}
	free(number);
	return c->venue;
}

struct venue *
mpi_venue_of(struct mpi_rank *self, struct comm *c)
{
	struct venue *v = mpi_venue_survey(self, c);

	if (v == NULL || v->asked)
		return v;
	v->asked = true;
	v->seat_bytes = seat_bytes(self, v->largest);
	v->table_bytes = v->seat_bytes * (size_t)v->ranks;
	make_place(self, c, v);
	if (v->clusters > 1)
		agree(self, c, v);
	return v;
}

struct venue *
mpi_venue_with_signs(struct mpi_rank *self, struct comm *c, size_t bytes)
{
	struct venue *v = mpi_venue_of(self, c);

	if (v == NULL || v->place == NULL || v->clusters > 1 || v->signs_asked)
		return v;
	v->signs_asked = true;
	v->signs_memory = share(self, c, v, bytes);
	v->waits.signs = v->signs_memory ? aligned(v->signs_memory) : NULL;
	return v;
}

void
mpi_venue_with_rooms(struct mpi_rank *self, struct comm *c, size_t bytes)
{
	struct venue *v = c->venue;

	if (v->rooms_asked)
		return;
	v->rooms_asked = true;
	v->rooms_memory = share(self, c, v, 2 * bytes);
	if (v->rooms_memory == NULL)
		return;
	v->waits.rooms = aligned(v->rooms_memory);
	v->started.rooms = v->waits.rooms + bytes;
}

static void
place_drop(struct mpi_rank *self, struct venue *v)
{
	transport_unshare(self, v->memory);
	if (v->signs_memory != NULL)
		transport_unshare(self, v->signs_memory);
	if (v->rooms_memory != NULL)
		transport_unshare(self, v->rooms_memory);
	free(v);
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
			place_drop(self, v);
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
	free(v->spare);
	v->spare = NULL;
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
		place_drop(self, v);
	}
}
