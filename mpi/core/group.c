/* SPDX-License-Identifier: MIT
 *
 * Groups.
 */
#include <stdlib.h>
#include <mpi/core/group.h>
#include <mpi/core/rank.h>

struct group *
mpi_group_range(struct mpi_rank *self, int first, int size)
{
	struct group *g = malloc(sizeof(*g));

	if (g != NULL) {
		*g = (struct group){.references = 1, .size = size, .first = first};
		g->rank = mpi_group_find(g, self->world_rank);
	}
	return g;
}

struct group *
mpi_group_of(struct mpi_rank *self, int32_t *world, int size)
{
	struct group *g = malloc(sizeof(*g));

	if (g == NULL) {
		free(world);
		return NULL;
	}
	*g = (struct group){.references = 1, .size = size, .world = world};
	g->rank = mpi_group_find(g, self->world_rank);
	return g;
}

int
mpi_group_find(const struct group *g, int world)
{
	if (g->world == NULL)
		return world >= g->first && world < g->first + g->size ? world - g->first : MPI_UNDEFINED;
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
	if (--g->references > 0 || g == &self->empty_group)
		return;
	free(g->world);
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
	return handle ? (MPI_Group)handle : MPI_GROUP_NULL;
}

int
mpi_group_compare(const struct group *a, const struct group *b)
{
	bool same_order = true;

	if (a->size != b->size)
		return MPI_UNEQUAL;
	for (int i = 0; i < a->size; i++) {
		int at = mpi_group_find(b, mpi_group_world(a, i));

		if (at == MPI_UNDEFINED)
			return MPI_UNEQUAL;
		same_order &= at == i;
	}
	return same_order ? MPI_IDENT : MPI_SIMILAR;
}
