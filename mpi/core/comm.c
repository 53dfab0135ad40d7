/* SPDX-License-Identifier: MIT
 *
 * Communicators.
 */
#include <stdlib.h>
#include <mpi/core/rank.h>

static void
predefine(struct comm *c, struct group *g, int32_t context, MPI_Comm handle)
{
	c->references = 1;
	c->group = g;
	c->rank = g->rank;
	c->size = g->size;
	c->context = context;
	c->handle = (uintptr_t)handle;
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
	predefine(&self->world, all, CONTEXT_WORLD, MPI_COMM_WORLD);
	predefine(&self->self, me, CONTEXT_SELF, MPI_COMM_SELF);
	/* a handler set before MPI_Init cannot be: the communicators do not exist then */
	self->world.errhandler = mpi_errhandler_hold(&self->errhandlers[ERRORS_ARE_FATAL]);
	self->self.errhandler = mpi_errhandler_hold(&self->errhandlers[ERRORS_ARE_FATAL]);
	return MPI_SUCCESS;
}

void
mpi_comm_exit(struct mpi_rank *self)
{
	mpi_group_release(self, self->world.group);
	mpi_group_release(self, self->self.group);
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

struct comm *
mpi_comm_new(struct mpi_rank *self, struct group *g, int32_t context, struct errhandler *errhandler)
{
	struct comm *c = malloc(sizeof(*c));

	if (c == NULL)
		return NULL;
	*c = (struct comm){.references = 1, .group = g, .rank = g->rank, .size = g->size, .context = context};
	c->handle = mpi_handle_new(&self->tables[HANDLE_COMM], c);
	if (c->handle == 0) {
		free(c);
		return NULL;
	}
	c->errhandler = mpi_errhandler_hold(errhandler);
	return c;
}

void
mpi_comm_release(struct mpi_rank *self, struct comm *c)
{
	if (--c->references > 0 || c == &self->world || c == &self->self)
		return;
	mpi_group_release(self, c->group);
	mpi_errhandler_release(self, c->errhandler);
	free(c);
}

MPI_Comm
mpi_comm_handle(const struct comm *c)
{
	return (MPI_Comm)c->handle;
}
