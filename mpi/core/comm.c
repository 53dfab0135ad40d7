/* SPDX-License-Identifier: MIT
 *
 * Communicators.
 */
#include <stdlib.h>
#include <mpi/coll/place.h>
#include <mpi/core/info.h>
#include <mpi/core/rank.h>
#include <mpi/core/topology.h>

static bool
predefine(struct mpi_rank *self, struct comm *c, struct group *g, int32_t id)
{
	*c = (struct comm){.references = 1, .group = g, .rank = g->rank, .size = g->size, .context = id * CONTEXTS_PER_COMM};
	/* a handler set before MPI_Init cannot be: the communicators do not exist then */
	c->errhandler = mpi_errhandler_hold(&self->errhandlers[ERRORS_ARE_FATAL]);
	return mpi_ids_take(&self->ids, id);
}

int
mpi_comm_init(struct mpi_rank *self)
{
	struct group *all = mpi_group_range(self, 0, self->world_size);
	struct group *me = mpi_group_range(self, self->world_rank, 1);

	if (all == NULL || me == NULL) {
		free(all);
		free(me);
		return MPI_ERR_NO_MEM;
	}
	if (!predefine(self, &self->world, all, ID_WORLD) || !predefine(self, &self->self, me, ID_SELF))
		return MPI_ERR_NO_MEM;
	self->world.handle = (uintptr_t)MPI_COMM_WORLD;
	self->self.handle = (uintptr_t)MPI_COMM_SELF;
	return mpi_ids_take(&self->ids, ID_UNIVERSE) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static void
drop_parts(struct mpi_rank *self, struct comm *c)
{
	mpi_group_release(self, c->group);
	mpi_group_release(self, c->remote);
	mpi_errhandler_release(self, c->errhandler);
	mpi_topology_release(c->topology);
	mpi_info_drop(c->info);
	free(c->name);
	free(c->local);
}

void
mpi_comm_exit(struct mpi_rank *self)
{
	drop_parts(self, &self->world);
	drop_parts(self, &self->self);
	mpi_ids_exit(&self->ids);
}

struct comm *
mpi_comm_find(struct mpi_rank *self, MPI_Comm handle)
{
	if (handle == MPI_COMM_WORLD)
		return &self->world;
	if (handle == MPI_COMM_SELF)
		return &self->self;
	return mpi_handle_find(&self->tables[HANDLE_COMM], (uintptr_t)handle);
}

/* The communicator of the local group alone shares its parts. */
static struct comm *
new_local(const struct comm *c)
{
	struct comm *local = malloc(sizeof(*local));

	if (local != NULL)
		*local = (struct comm){.references = 1, .group = c->group, .rank = c->rank, .size = c->size, .context = CONTEXT_NONE,
			.errhandler = c->errhandler};
	return local;
}

struct comm *
mpi_comm_new(struct mpi_rank *self, struct group *g, struct group *remote, struct errhandler *errhandler)
{
	struct comm *c = malloc(sizeof(*c));

	if (c == NULL) {
		mpi_group_release(self, g);
		mpi_group_release(self, remote);
		return NULL;
	}
	*c = (struct comm){.references = 1, .group = g, .remote = remote, .rank = g->rank, .size = g->size, .context = CONTEXT_NONE};
	c->errhandler = mpi_errhandler_hold(errhandler);
	c->handle = mpi_handle_new(&self->tables[HANDLE_COMM], c);
	c->local = remote ? new_local(c) : NULL;
	if (c->handle == 0 || (remote && c->local == NULL)) {
		mpi_handle_drop(&self->tables[HANDLE_COMM], c->handle);
		mpi_comm_release(self, c);
		return NULL;
	}
	return c;
}

void
mpi_comm_number(struct comm *c, int32_t id)
{
	c->context = id * CONTEXTS_PER_COMM;
	if (c->local != NULL)
		c->local->context = c->context + CONTEXT_LOCAL;
}

void
mpi_comm_release(struct mpi_rank *self, struct comm *c)
{
	if (--c->references > 0 || c == &self->world || c == &self->self)
		return;
	if (c->context != CONTEXT_NONE)
		mpi_ids_give_back(&self->ids, c->context / CONTEXTS_PER_COMM);
	mpi_venue_leave(self, c->venue);
	free(c->plan);
	if (c->local != NULL) {
		mpi_venue_leave(self, c->local->venue);
		free(c->local->plan);
	}
	drop_parts(self, c);
	free(c);
}

int
mpi_comm_free(struct mpi_rank *self, struct comm *c)
{
	int err = mpi_attr_delete_all(self, &c->attributes, c->handle);

	if (err != MPI_SUCCESS)
		return err;
	mpi_handle_drop(&self->tables[HANDLE_COMM], c->handle);
	mpi_comm_release(self, c);
	return MPI_SUCCESS;
}

MPI_Comm
mpi_comm_handle(const struct comm *c)
{
	return (MPI_Comm)c->handle;
}
