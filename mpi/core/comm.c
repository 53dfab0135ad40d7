/* SPDX-License-Identifier: MIT
 *
 * Communicators.
 */
#include <stdlib.h>
#include <mpi/core/info.h>
#include <mpi/core/rank.h>
#include <mpi/core/session.h>
#include <mpi/core/topology.h>

#define NO_HANDLE UINTPTR_MAX		/* a handle that no object has */

static bool
predefine(struct mpi_rank *self, struct comm *c, struct group *g, int32_t id)
{
	*c = (struct comm){.references = 1, .group = g, .rank = g->rank, .size = g->size,
		.context = id * CONTEXTS_PER_COMM};
	c->errhandler = mpi_errhandler_hold(self->initial);
	c->handle = NO_HANDLE;
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
	if (!predefine(self, &self->world, all, ID_WORLD) ||
		!predefine(self, &self->self, me, ID_SELF))
		return MPI_ERR_NO_MEM;
	return predefine(self, &self->universe, mpi_group_hold(all), ID_UNIVERSE) ? MPI_SUCCESS :
		MPI_ERR_NO_MEM;
}

static void
begin_anew(struct mpi_rank *self, struct comm *c, uintptr_t handle)
{
	mpi_errhandler_set(self, &c->errhandler, self->initial, ERRHANDLER_COMM);
	c->handle = handle;
}

void
mpi_comm_show_world(struct mpi_rank *self, bool shown)
{
	begin_anew(self, &self->world, shown ? (uintptr_t)MPI_COMM_WORLD : NO_HANDLE);
	begin_anew(self, &self->self, shown ? (uintptr_t)MPI_COMM_SELF : NO_HANDLE);
}

static void
drop_parts(struct mpi_rank *self, struct comm *c)
{
	mpi_group_release(self, c->group);
	mpi_group_release(self, c->remote);
	mpi_errhandler_release(self, c->errhandler);
	mpi_session_release(self, c->session);
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
	drop_parts(self, &self->universe);
	mpi_ids_exit(&self->ids);
}

struct comm *
mpi_comm_find(struct mpi_rank *self, MPI_Comm handle)
{
	/* only as long as the program has them */
	if ((uintptr_t)handle == self->world.handle)
		return &self->world;
	if ((uintptr_t)handle == self->self.handle)
		return &self->self;
	return mpi_handle_find(&self->tables[HANDLE_COMM], (uintptr_t)handle);
}

/* The communicator of the local group alone shares its parts. */
static struct comm *
new_local(const struct comm *c)
{
	struct comm *local = malloc(sizeof(*local));

	if (local != NULL)
		*local = (struct comm){.references = 1, .group = c->group, .rank = c->rank,
			.size = c->size, .context = CONTEXT_NONE,
			.errhandler = c->errhandler};
	return local;
}

struct comm *
mpi_comm_new(struct mpi_rank *self, struct group *g, struct group *remote,
	struct errhandler *errhandler)
{
	struct comm *c = malloc(sizeof(*c));

	if (c == NULL) {
		mpi_group_release(self, g);
		mpi_group_release(self, remote);
		return NULL;
	}
	*c = (struct comm){.references = 1, .group = g, .remote = remote, .rank = g->rank,
		.size = g->size, .context = CONTEXT_NONE};
	c->errhandler = mpi_errhandler_hold(errhandler);
	c->session = mpi_session_hold(g->session);
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
	if (--c->references > 0 || c == &self->world || c == &self->self || c == &self->universe)
		return;
	if (c->context != CONTEXT_NONE)
		mpi_ids_give_back(&self->ids, c->context / CONTEXTS_PER_COMM);
	mpi_locality_leave(self, c->locality);
	free(c->plan);
	if (c->local != NULL) {
		mpi_locality_leave(self, c->local->locality);
		free(c->local->plan);
	}
	drop_parts(self, c);
	free(c);
}

void
mpi_comm_come_from(struct comm *c, const struct comm *other)
{
	if (c->session == NULL)
		c->session = mpi_session_hold(other->session);
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
