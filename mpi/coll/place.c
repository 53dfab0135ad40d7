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

static int
number_of(struct mpi_rank *self, const struct comm *c, const struct venue *v, int rank)
{
	uint32_t cluster = cluster_of(self, c, rank);
	int i = 0;

	while (i < v->clusters && cluster_of(self, c, v->leaders[i]) != cluster)
		i++;
	return i;
}

int
mpi_venue_cluster(struct mpi_rank *self, const struct comm *c, int rank)
{
	return number_of(self, c, c->venue, rank);
}

int
mpi_venue_position(const struct venue *v, int rank)
{
	for (int i = 0; i < v->ranks; i++)
		if (mpi_venue_member(v, v->cluster, i) == rank)
			return i;
	return -1;
}

int
mpi_venue_ordered(const struct venue *v, int i)
{
	int cluster = 0;

	if (v->consecutive)
		return i;
	while (v->first[cluster + 1] <= i)
		cluster++;
	return mpi_venue_member(v, cluster, i - v->first[cluster]);
}

void
mpi_venue_among(const struct venue *v, struct sched *s)
{
	if (v->order != NULL)
		mpi_sched_among(s, v->order + v->first[v->cluster], v->ranks, v->rank);
	else
		mpi_sched_among_every(s, v->leaders[v->cluster], v->stride, v->ranks, v->rank);
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
		uint32_t lane = lane_of(self, c, mpi_venue_member(v, v->cluster, i));

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
		next[lane_of(self, c, mpi_venue_member(v, v->cluster, i))]++;
	for (int i = 0; i < LANES_MAX; i++) {
		uint32_t lines = brief_lines(next[i]);

		next[i] = line << BRIEF_LINE_SHIFT;
		line += lines;
	}
	for (int i = 0; i < v->ranks; i++)
		v->brief_order[i] = next[lane_of(self, c, mpi_venue_member(v, v->cluster, i))]++;
}

static void
venue_free(struct venue *v)
{
	free(v->leaders);
	free(v->first);
	free(v->own_order);
	free(v);
}

/* Room for twice as many clusters. */
static bool
venue_grow(struct venue *v)
{
	int room = v->room > 0 ? 2 * v->room : 1;
	int *leaders = realloc(v->leaders, (size_t)room * sizeof(int)), *first;

	if (leaders == NULL)
		return false;
	v->leaders = leaders;
	first = realloc(v->first, ((size_t)room + 1) * sizeof(int));
	if (first == NULL)
		return false;
	v->first = first;
	v->room = room;
	return true;
}

/* A rank that is the next one of a cluster: does it stand where the stride says? */
static bool
keeps_stride(struct venue *v, int cluster, int rank)
{
	int before = v->first[cluster + 1], leader = v->leaders[cluster];

	if (before > 0 && v->stride == 0)
		v->stride = rank - leader;
	return rank == leader + before * v->stride;
}

/*
 * The clusters, in the order in which they appear, and how many ranks each has, one further on in
 * `first`. False: no memory.
 */
static bool
number_clusters(struct mpi_rank *self, const struct comm *c, struct venue *v, bool *regular)
{
	int number = -1;

	v->consecutive = *regular = true;
	for (int i = 0; i < c->size; i++) {
		bool again = i > 0 && mpi_venue_together(self, c, i - 1, i);

		number = again ? number : number_of(self, c, v, i);
		if (number == v->room && !venue_grow(v))
			return false;
		if (number == v->clusters) {
			v->leaders[v->clusters++] = i;
			v->first[number + 1] = 0;
		} else if (!again) {
			v->consecutive = false;
		}
		*regular &= keeps_stride(v, number, i);
		if (++v->first[number + 1] > v->largest)
			v->largest = v->first[number + 1];
		if (i == c->rank)
			v->cluster = number;
	}
	v->stride = v->stride == 0 ? 1 : v->stride;
	return true;
}

/* Ranks sorted by the number of their cluster. False: no memory. */
static bool
sort_ranks(struct mpi_rank *self, const struct comm *c, struct venue *v)
{
	int *next = malloc((size_t)v->clusters * sizeof(int));

	v->own_order = malloc((size_t)c->size * sizeof(int));
	v->order = v->own_order;
	if (next != NULL && v->own_order != NULL) {
		memcpy(next, v->first, (size_t)v->clusters * sizeof(int));
		for (int i = 0; i < c->size; i++)
			v->own_order[next[number_of(self, c, v, i)]++] = i;
	}
	free(next);
	return next != NULL && v->own_order != NULL;
}

/* Who is where. False: no memory. */
static bool
survey(struct mpi_rank *self, const struct comm *c, struct venue *v)
{
	bool regular;

	if (!number_clusters(self, c, v, &regular))
		return false;
	v->first[0] = 0;
	for (int i = 0; i < v->clusters; i++)
		v->first[i + 1] += v->first[i];
	if (!regular && !sort_ranks(self, c, v))
		return false;
	v->ranks = v->first[v->cluster + 1] - v->first[v->cluster];
	v->rank = mpi_venue_position(v, c->rank);
	survey_lanes(self, c, v);
	return true;
}

static void *
aligned(void *memory)
{
	return (void *)(((uintptr_t)memory + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
}

/* The first of the cluster tells the others where memory of its own is. NULL: there is none. */
static void *
tell(struct mpi_rank *self, struct comm *c, const struct venue *v, void *memory)
{
	struct sched *s = mpi_sched_new(self, c);
	uint64_t reference = memory ? transport_reference(self, memory) : 0;

	if (s == NULL)
		return NULL;
	mpi_venue_among(v, s);
	mpi_bcast_binomial(s, span_bytes(&reference, sizeof(reference)), 0);
	return mpi_sched_run(s) == MPI_SUCCESS && reference != 0 ? transport_reach(self, reference) : NULL;
}

/* Memory for all of the cluster: the first one makes it and tells where it is. */
static void *
share(struct mpi_rank *self, struct comm *c, const struct venue *v, size_t bytes)
{
	return tell(self, c, v, v->owner ? transport_share(self, bytes + CACHE_LINE) : NULL);
}

/* Bytes of a place up to the seats of brief meetings, and of these. */
static size_t
seats_end(const struct venue *v)
{
	return sizeof(struct place) + 2 * ((size_t)v->ranks * v->seat_bytes + v->table_bytes);
}

static size_t
brief_bytes(const struct venue *v)
{
	return ((size_t)v->ranks * BRIEF_BYTES / CACHE_LINE + LANES_MAX) * CACHE_LINE;
}

/* What lies in a place behind it: the numbers of brief seats, and the order of all ranks if it needs a table. */
static uint32_t *
numbers_in(const struct venue *v, void *memory)
{
	return (uint32_t *)(void *)((char *)aligned(memory) + seats_end(v) + brief_bytes(v));
}

static void
make_place(struct mpi_rank *self, struct comm *c, struct venue *v)
{
	size_t numbers = (size_t)v->ranks * sizeof(uint32_t);
	size_t order = v->order ? (size_t)c->size * sizeof(int) : 0;
	void *mine = NULL;

	v->owner = v->rank == 0;
	if (v->owner)
		mine = transport_share(self, seats_end(v) + brief_bytes(v) + numbers + order + CACHE_LINE);
	if (mine != NULL && order > 0)
		memcpy(numbers_in(v, mine) + v->ranks, v->order, order);
	v->memory = tell(self, c, v, mine);
	if (v->memory == NULL)
		return;
	v->place = aligned(v->memory);
	v->brief_seats = (char *)v->place + seats_end(v);
	v->brief_order = numbers_in(v, v->memory);
	if (v->owner)
		number_seats(self, c, v);
}

/* The table of the place from now on. */
static void
share_order(struct venue *v)
{
	if (v->order == NULL || v->place == NULL)
		return;
	v->order = (const int *)(const void *)(v->brief_order + v->ranks);
	free(v->own_order);
	v->own_order = NULL;
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

	if (v != NULL)
		return v;
	v = calloc(1, sizeof(*v));
	if (v == NULL)
		return NULL;
	list_init(&v->open);
	if (survey(self, c, v))
		c->venue = v;
	else
		venue_free(v);
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
	share_order(v);
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
	venue_free(v);
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
		venue_free(v);
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
