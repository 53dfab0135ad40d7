/* SPDX-License-Identifier: MIT
 *
 * Where the ranks of a communicator are; its segment is made once, by messages.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi/coll/algorithm.h>
#include <mpi/coll/locality.h>
#include <mpi/coll/rounds.h>
#include <mpi/transport/transport.h>

/* of all slots of a turn, as long as they are not too small or too large */
#define SLOTS_BYTES 131072
#define SLOT_MIN 64
#define SLOT_MAX 4096
#define SLOT_PART 256			/* of a rank's memory */

static size_t
slot_bytes(const struct mpi_rank *self, int ranks)
{
	size_t bytes = transport_memory_part(self, SLOT_PART, SLOT_MAX);

	while (bytes > SLOT_MIN && bytes * (size_t)ranks > SLOTS_BYTES)
		bytes /= 2;
	return bytes;
}

static uint32_t
cluster_of(struct mpi_rank *self, const struct comm *c, int rank)
{
	return transport_cluster_of(self, (uint32_t)mpi_group_world(c->group, rank));
}

bool
mpi_locality_together(struct mpi_rank *self, const struct comm *c, int one, int other)
{
	return cluster_of(self, c, one) == cluster_of(self, c, other);
}

static int
number_of(struct mpi_rank *self, const struct comm *c, const struct locality *v, int rank)
{
	uint32_t cluster = cluster_of(self, c, rank);
	int i = 0;

	while (i < v->clusters && cluster_of(self, c, v->leaders[i]) != cluster)
		i++;
	return i;
}

int
mpi_locality_cluster(struct mpi_rank *self, const struct comm *c, int rank)
{
	return number_of(self, c, c->locality, rank);
}

int
mpi_locality_position(const struct locality *v, int rank)
{
	for (int i = 0; i < v->ranks; i++)
		if (mpi_locality_member(v, v->cluster, i) == rank)
			return i;
	return -1;
}

int
mpi_locality_ordered(const struct locality *v, int i)
{
	int cluster = 0;

	if (v->consecutive)
		return i;
	while (v->first[cluster + 1] <= i)
		cluster++;
	return mpi_locality_member(v, cluster, i - v->first[cluster]);
}

void
mpi_locality_among(const struct locality *v, struct sched *s)
{
	if (v->order != NULL)
		mpi_sched_among(s, v->order + v->first[v->cluster], v->ranks, v->rank);
	else
		mpi_sched_among_every(s, v->leaders[v->cluster], v->stride, v->ranks, v->rank);
}

/* Of member i of the own cluster. */
static uint32_t
core_of(struct mpi_rank *self, const struct comm *c, const struct locality *v, int i)
{
	int rank = mpi_locality_member(v, v->cluster, i);

	return transport_core(self, (uint32_t)mpi_group_world(c->group, rank));
}

static uint32_t
lane_of(struct mpi_rank *self, const struct comm *c, const struct locality *v, int i)
{
	return mpi_central_lane(&v->lanes, (uint32_t)i, core_of(self, c, v, i));
}

/* On how many cores the members run; of more cores than lanes that is not counted. */
static uint32_t
count_cores(struct mpi_rank *self, const struct comm *c, const struct locality *v)
{
	uint32_t all = transport_cores(self), count = 0, used = 0;

	if (all > LANES_MAX)
		return all;
	for (int i = 0; i < v->ranks; i++)
		used |= 1u << core_of(self, c, v, i);
	for (; used != 0; used &= used - 1)
		count++;
	return count;
}

/* Cache lines that the slots of the fast path take. */
static uint32_t
fast_lines(uint32_t ranks)
{
	return (ranks * FAST_BYTES + CACHE_LINE - 1) / CACHE_LINE;
}

/* Which members are counted with this rank. */
static void
survey_lanes(struct mpi_rank *self, const struct comm *c, struct locality *v)
{
	v->cores = count_cores(self, c, v);
	v->lanes = mpi_central_lanes((uint32_t)v->ranks, v->cores);
	v->lanes.own = lane_of(self, c, v, v->rank);
	v->lanes.ranks = 0;
	for (int i = 0; i < v->ranks; i++)
		v->lanes.ranks += lane_of(self, c, v, i) == v->lanes.own;
}

/* The slots for few bytes of all members: those of each lane lie side by side. */
static void
number_slots(struct mpi_rank *self, const struct comm *c, const struct locality *v)
{
	uint32_t next[LANES_MAX] = {0}, line = 0;

	for (int i = 0; i < v->ranks; i++)
		next[lane_of(self, c, v, i)]++;
	for (int i = 0; i < LANES_MAX; i++) {
		uint32_t lines = fast_lines(next[i]);

		next[i] = line << FAST_LINE_SHIFT;
		line += lines;
	}
	for (int i = 0; i < v->ranks; i++)
		v->fast_order[i] = next[lane_of(self, c, v, i)]++;
}

static void
locality_free(struct locality *v)
{
	free(v->leaders);
	free(v->first);
	free(v->own_order);
	free(v);
}

static int *
shrink(int *list, size_t n)
{
	int *shorter = realloc(list, n * sizeof(*list));

	return shorter ? shorter : list;
}

/* A rank that is the next one of a cluster: does it stand where the stride says? */
static bool
keeps_stride(struct locality *v, int cluster, int rank)
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
number_clusters(struct mpi_rank *self, const struct comm *c, struct locality *v, bool *regular)
{
	size_t n = (size_t)c->size;
	int number = -1;

	v->leaders = malloc(n * sizeof(int));
	v->first = malloc((n + 1) * sizeof(int));
	if (v->leaders == NULL || v->first == NULL)
		return false;
	v->consecutive = *regular = true;
	for (int i = 0; i < c->size; i++) {
		bool again = i > 0 && mpi_locality_together(self, c, i - 1, i);

		number = again ? number : number_of(self, c, v, i);
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
	v->leaders = shrink(v->leaders, (size_t)v->clusters);
	v->first = shrink(v->first, (size_t)v->clusters + 1);
	return true;
}

/* Ranks sorted by the number of their cluster. False: no memory. */
static bool
sort_ranks(struct mpi_rank *self, const struct comm *c, struct locality *v)
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
survey(struct mpi_rank *self, const struct comm *c, struct locality *v)
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
	v->rank = mpi_locality_position(v, c->rank);
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
tell(struct mpi_rank *self, struct comm *c, const struct locality *v, void *memory)
{
	struct sched *s = mpi_sched_new(self, c);
	uint64_t reference = memory ? transport_reference(self, memory) : 0;

	if (s == NULL)
		return NULL;
	mpi_locality_among(v, s);
	mpi_algorithm_bcast_binomial.write(s,
		&(struct work){.out = span_bytes(&reference, sizeof(reference))});
	return mpi_sched_run(s) == MPI_SUCCESS &&
		reference != 0 ? transport_reach(self, reference) : NULL;
}

/* Bytes of a segment up to the slots of the fast path, and of these. */
static size_t
slots_end(const struct locality *v)
{
	return sizeof(struct coll_segment) + 2 * ((size_t)v->ranks * v->slot_bytes +
		v->result_bytes);
}

static size_t
fast_bytes(const struct locality *v)
{
	return ((size_t)v->ranks * FAST_BYTES / CACHE_LINE + LANES_MAX) * CACHE_LINE;
}

/*
 * What lies in a segment behind it: the numbers of these slots, the order of all ranks if it needs
 * a table, and the tables of the group.
 */
static uint32_t *
numbers_in(const struct locality *v, void *memory)
{
	return (uint32_t *)(void *)((char *)aligned(memory) + slots_end(v) + fast_bytes(v));
}

static size_t
order_bytes(const struct comm *c, const struct locality *v)
{
	return v->order ? (size_t)c->size * sizeof(int) : 0;
}

/* Of a group that has some in the segment of another communicator already: none. */
static size_t
group_bytes(const struct comm *c)
{
	return c->group->tables_in == NULL ? mpi_group_tables_bytes(c->group) : 0;
}

static void *
group_tables(const struct comm *c, const struct locality *v)
{
	return (char *)(v->fast_order + v->ranks) + order_bytes(c, v);
}

/* The own segment. NULL: no memory. */
static void *
first_makes(struct mpi_rank *self, struct comm *c, struct locality *v)
{
	size_t numbers = (size_t)v->ranks * sizeof(uint32_t);
	size_t group = group_bytes(c);
	void *mine = transport_share(self, slots_end(v) + fast_bytes(v) + numbers +
		order_bytes(c, v) + group + CACHE_LINE);

	if (mine == NULL)
		return NULL;
	v->fast_order = numbers_in(v, mine);
	number_slots(self, c, v);
	if (v->order != NULL)
		memcpy(v->fast_order + v->ranks, v->order, order_bytes(c, v));
	if (group > 0)
		mpi_group_tables_write(c->group, group_tables(c, v));
	((struct coll_segment *)aligned(mine))->has_group = group > 0;
	return mine;
}

static void
make_segment(struct mpi_rank *self, struct comm *c, struct locality *v)
{
	v->owner = v->rank == 0;
	v->memory = tell(self, c, v, v->owner ? first_makes(self, c, v) : NULL);
	if (v->memory == NULL)
		return;
	v->segment = aligned(v->memory);
	v->fast_slots = (char *)v->segment + slots_end(v);
	v->fast_order = numbers_in(v, v->memory);
	v->fast_slot = v->fast_order[v->rank];
}

/* The tables of the segment from now on. */
static void
share_tables(const struct comm *c, struct locality *v)
{
	if (v->segment == NULL)
		return;
	if (v->segment->has_group && group_bytes(c) > 0) {
		v->users++;
		mpi_group_tables_use(c->group, group_tables(c, v), v);
	}
	if (v->order == NULL)
		return;
	v->order = (const int *)(const void *)(v->fast_order + v->ranks);
	free(v->own_order);
	v->own_order = NULL;
}

/* Places are used if all clusters have one. */
static void
agree(struct mpi_rank *self, struct comm *c, struct locality *v)
{
	struct sched *s = mpi_sched_new(self, c);
	int all = v->segment != NULL;
	struct span word = {&all, 1, mpi_type_find(MPI_INT)};

	if (s == NULL)
		return;
	s->op = mpi_op_bind(self, MPI_MIN, MPI_INT);
	mpi_algorithm_allreduce_doubling.write(s, &(struct work){.out = word, .in = word});
	if (mpi_sched_run(s) == MPI_SUCCESS && all)
		return;
	/* nobody was in it */
	if (v->owner && v->memory != NULL)
		transport_unshare(self, v->memory);
	v->segment = NULL;
}

struct locality *
mpi_locality_survey(struct mpi_rank *self, struct comm *c)
{
	struct locality *v = c->locality;

	if (v != NULL)
		return v;
	v = calloc(1, sizeof(*v));
	if (v == NULL)
		return NULL;
	v->users = 1;
	list_init(&v->open);
	v->over_most = OVER_SMALL;
	if (survey(self, c, v))
		c->locality = v;
	else
		locality_free(v);
	return c->locality;
}

struct locality *
mpi_locality_of(struct mpi_rank *self, struct comm *c)
{
	struct locality *v = mpi_locality_survey(self, c);

	if (v == NULL || v->asked)
		return v;
	v->asked = true;
	v->slot_bytes = slot_bytes(self, v->largest);
	v->result_bytes = v->slot_bytes * (size_t)v->ranks;
	make_segment(self, c, v);
	if (v->clusters > 1)
		agree(self, c, v);
	share_tables(c, v);
	return v;
}

char *
mpi_locality_share(struct mpi_rank *self, struct comm *c, struct shared *m, size_t bytes)
{
	const struct locality *v = c->locality;

	if (!m->asked)
		m->memory = tell(self, c, v, v->owner ? transport_share(self, bytes + CACHE_LINE)
			: NULL);
	m->asked = true;
	return m->memory ? aligned(m->memory) : NULL;
}

static void
segment_drop(struct mpi_rank *self, struct locality *v)
{
	transport_unshare(self, v->memory);
	if (v->flags.memory != NULL)
		transport_unshare(self, v->flags.memory);
	if (v->buffers.memory != NULL)
		transport_unshare(self, v->buffers.memory);
	locality_free(v);
}

/* The owner frees what all have left. */
static void
reap(struct mpi_rank *self)
{
	struct locality **at = &self->localities;

	while (*at != NULL) {
		struct locality *v = *at;

		if (load_acquire(&v->segment->left) == (uint32_t)v->ranks) {
			*at = v->next;
			segment_drop(self, v);
		} else {
			at = &v->next;
		}
	}
}

void
mpi_locality_leave(struct mpi_rank *self, struct locality *v)
{
	if (v == NULL)
		return;
	free(v->spare);
	v->spare = NULL;
	if (--v->users > 0)
		return;
	if (v->segment != NULL)
		add_total(&v->segment->left, 1);
	if (v->segment != NULL && v->owner) {
		v->next = self->localities;
		self->localities = v;
	} else {
		locality_free(v);
	}
	reap(self);
}

void
mpi_locality_exit(struct mpi_rank *self)
{
	struct locality *v;

	while ((v = self->localities) != NULL) {
		self->localities = v->next;
		segment_drop(self, v);
	}
}
