/* SPDX-License-Identifier: MIT
 *
 * Chapter sessions: communicators made of groups alone. Their members talk through a communicator
 * of all ranks of the job that the program does not see, under a tag that is computed from the text
 * which the program gives.
 */
#include <string.h>
#include <mpi_impl.h>
#include <mpi/api/intercomm.h>
#include <mpi/api/newcomm.h>
#include <mpi/core/info.h>

/* FNV-1a; a tag is positive. */
static int
tag_of(const char *text)
{
	uint32_t hash = 2166136261u;

	for (const char *p = text; *p != '\0'; p++)
		hash = (hash ^ (unsigned char)*p) * 16777619u;
	return (int)(hash & INT_MAX);
}

static int
check(const struct group *g, const char *text)
{
	if (strlen(text) >= MPI_MAX_STRINGTAG_LEN)
		return MPI_ERR_ARG;
	return g->size > 0 && g->rank == MPI_UNDEFINED ? MPI_ERR_GROUP : MPI_SUCCESS;
}

static int
fromgroup_create(struct mpi_rank *self, struct group *g, int tag, MPI_Comm *newcomm)
{
	struct comm *all = &self->universe;
	struct circle circle = {.comm = all, .members = g, .context = all->context + CONTEXT_GROUP,
		.tag = tag};

	return newcomm_agree(self, circle, newcomm_group(self, all, mpi_group_hold(g)), newcomm);
}

/* What the program wants of the new communicator. */
static int
equip(struct mpi_rank *self, MPI_Comm handle, struct errhandler *e, const struct info *hints)
{
	struct comm *c = mpi_comm_find(self, handle);

	c->info = hints ? newcomm_hints(hints) : NULL;
	return mpi_errhandler_set(self, &c->errhandler, e, ERRHANDLER_COMM);
}

int
impl_Comm_create_from_group(struct call *call, const struct args_Comm_create_from_group *a)
{
	int err = check(a->group, a->stringtag);

	if (err != MPI_SUCCESS)
		return err;
	*a->newcomm = MPI_COMM_NULL;
	if (a->group->size == 0)
		return MPI_SUCCESS;
	err = fromgroup_create(call->self, a->group, tag_of(a->stringtag), a->newcomm);
	return err == MPI_SUCCESS ? equip(call->self, *a->newcomm, a->errhandler, a->info) : err;
}

/* The leaders meet where the members did. */
static int
meet(struct call *call, const struct args_Intercomm_create_from_groups *a, struct comm *local)
{
	struct mpi_rank *self = call->self;
	struct meeting m = {self, local, a->local_leader, NULL, 0, tag_of(a->stringtag)};
	struct group *remote;

	if (local->rank == a->local_leader) {
		int err = call_group(call, a->remote_group, &remote);

		if (err != MPI_SUCCESS)
			return err;
		if (a->remote_leader < 0 || a->remote_leader >= remote->size)
			return MPI_ERR_RANK;
		m.peer = &self->universe;
		m.remote_leader = mpi_group_world(remote, a->remote_leader);
	}
	return intercomm_create(&m, a->newintercomm);
}

int
impl_Intercomm_create_from_groups(struct call *call,
	const struct args_Intercomm_create_from_groups *a)
{
	struct mpi_rank *self = call->self;
	MPI_Comm handle;
	int err = check(a->local_group, a->stringtag);

	if (err != MPI_SUCCESS)
		return err;
	*a->newintercomm = MPI_COMM_NULL;
	if (a->local_group->size == 0)
		return MPI_SUCCESS;
	if (a->local_leader < 0 || a->local_leader >= a->local_group->size)
		return MPI_ERR_RANK;
	err = fromgroup_create(self, a->local_group, tag_of(a->stringtag), &handle);
	if (err != MPI_SUCCESS)
		return err;
	err = meet(call, a, mpi_comm_find(self, handle));
	newcomm_abandon(self, mpi_comm_find(self, handle));
	return err == MPI_SUCCESS ? equip(self, *a->newintercomm, a->errhandler, a->info) : err;
}
