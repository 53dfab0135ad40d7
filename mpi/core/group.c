/* SPDX-License-Identifier: MIT
 *
 * Groups.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi/core/comm.h>
#include <mpi/core/group.h>
#include <mpi/core/rank.h>
#include <mpi/core/session.h>

#define SEARCHED_MAX 16		/* members up to which a search needs no index */

static struct group *
group_make(struct mpi_rank *self, struct group like)
{
	struct group *g = malloc(sizeof(*g));

	if (g == NULL) {
		free(like.world);
		return NULL;
	}
	*g = like;
	g->references = 1;
	g->rank = mpi_group_find(g, self->world_rank);
	return g;
}

struct group *
mpi_group_range(struct mpi_rank *self, int first, int size)
{
	return group_make(self, (struct group){.size = size, .first = first, .stride = 1});
}

/* Are the members at equal distances? */
static bool
is_regular(const int32_t *world, int size)
{
	for (int i = 2; i < size; i++)
		if (world[i] - world[i - 1] != world[1] - world[0])
			return false;
	return true;
}

struct group *
mpi_group_of(struct mpi_rank *self, int32_t *world, int size)
{
	struct group like = {.size = size, .stride = 1, .world = world};

	if (size == 0 || is_regular(world, size)) {
		like.first = size ? world[0] : 0;
		like.stride = size > 1 ? world[1] - world[0] : 1;
		like.world = NULL;
		free(world);
	}
	return group_make(self, like);
}

static uint32_t
hash(int world)
{
	uint32_t h = (uint32_t)world * 2654435761u;

	return h ^ h >> 15;
}

static uint32_t
index_slots(const struct group *g)
{
	uint32_t slots = 1;

	while (slots < 2 * (uint32_t)g->size)
		slots *= 2;
	return slots;
}

static void
fill_index(const struct group *g, int32_t *index)
{
	uint32_t mask = index_slots(g) - 1;

	for (int i = 0; i < g->size; i++) {
		uint32_t at = hash(g->world[i]) & mask;

		while (index[at] != 0)
			at = (at + 1) & mask;
		index[at] = i + 1;
	}
}

/* Without memory for an index, a search is linear. */
static void
make_index(struct group *g)
{
	g->indexed = true;
	g->index_mask = index_slots(g) - 1;
	g->index = calloc(index_slots(g), sizeof(*g->index));
	if (g->index != NULL)
		fill_index(g, g->index);
}

size_t
mpi_group_tables_bytes(const struct group *g)
{
	if (g->world == NULL || g->size <= SEARCHED_MAX)
		return 0;
	return ((size_t)g->size + index_slots(g)) * sizeof(int32_t);
}

void
mpi_group_tables_write(const struct group *g, void *tables)
{
	int32_t *world = tables;

	memcpy(world, g->world, (size_t)g->size * sizeof(*world));
	memset(world + g->size, 0, index_slots(g) * sizeof(*world));
	fill_index(g, world + g->size);
}

static void
drop_tables(struct mpi_rank *self, struct group *g)
{
	if (g->tables_in != NULL) {
		mpi_locality_leave(self, g->tables_in);
		return;
	}
	free(g->index);
	free(g->world);
}

void
mpi_group_tables_use(struct group *g, void *tables, struct locality *holder)
{
	free(g->index);
	free(g->world);
	g->world = tables;
	g->index = g->world + g->size;
	g->index_mask = index_slots(g) - 1;
	g->indexed = true;
	g->tables_in = holder;
}

static int
find_indexed(const struct group *g, int world)
{
	for (uint32_t at = hash(world) & g->index_mask; g->index[at] != 0;
		at = (at + 1) & g->index_mask)
		if (g->world[g->index[at] - 1] == world)
			return g->index[at] - 1;
	return MPI_UNDEFINED;
}

static int
find_regular(const struct group *g, int world)
{
	int distance = world - g->first;

	if (distance % g->stride != 0 || distance / g->stride < 0 ||
		distance / g->stride >= g->size)
		return MPI_UNDEFINED;
	return distance / g->stride;
}

int
mpi_group_find(const struct group *g, int world)
{
	if (g->world == NULL)
		return g->size > 0 ? find_regular(g, world) : MPI_UNDEFINED;
	if (g->size > SEARCHED_MAX && !g->indexed)
		/* what it stands for stays the same */
		make_index((struct group *)(uintptr_t)g);
	if (g->index != NULL)
		return find_indexed(g, world);
	for (int i = 0; i < g->size; i++)
		if (g->world[i] == world)
			return i;
	return MPI_UNDEFINED;
}

struct group *
mpi_group_hold(struct group *g)
{
	g->references++;
	return g;
}

void
mpi_group_release(struct mpi_rank *self, struct group *g)
{
	if (g == NULL || --g->references > 0 || g == &self->empty_group)
		return;
	mpi_session_release(self, g->session);
	drop_tables(self, g);
	free(g);
}

int
mpi_group_get(struct mpi_rank *self, MPI_Group handle, struct group **g)
{
	*g = handle == MPI_GROUP_EMPTY ? &self->empty_group :
		mpi_handle_find(&self->tables[HANDLE_GROUP], (uintptr_t)handle);
	return *g ? MPI_SUCCESS : MPI_ERR_GROUP;
}

MPI_Group
mpi_group_handle(struct mpi_rank *self, struct group *g)
{
	uintptr_t handle;

	if (g->size == 0) {
		mpi_group_release(self, g);
		return MPI_GROUP_EMPTY;
	}
	handle = mpi_handle_new(&self->tables[HANDLE_GROUP], g);
	if (handle == 0)
		mpi_group_release(self, g);
	return handle ? (MPI_Group)handle : MPI_GROUP_NULL;
}

int
mpi_group_compare(const struct group *a, const struct group *b)
{
	bool same_order = true;

	if (a->size != b->size)
		return MPI_UNEQUAL;
	for (int i = 0; a != b && i < a->size; i++) {
		int world = mpi_group_world(a, i);

		if (same_order && mpi_group_world(b, i) == world)
			continue;
		same_order = false;
		if (mpi_group_find(b, world) == MPI_UNDEFINED)
			return MPI_UNEQUAL;
	}
	return same_order ? MPI_IDENT : MPI_SIMILAR;
}

bool
mpi_group_is_subset(const struct group *a, const struct group *b)
{
	for (int i = 0; i < a->size; i++)
		if (mpi_group_find(b, mpi_group_world(a, i)) == MPI_UNDEFINED)
			return false;
	return true;
}

bool
mpi_group_overlaps(const struct group *a, const struct group *b)
{
	for (int i = 0; i < a->size; i++)
		if (mpi_group_find(b, mpi_group_world(a, i)) != MPI_UNDEFINED)
			return true;
	return false;
}
