/* SPDX-License-Identifier: MIT
 *
 * Chapter communicators: those made of parts of one.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi_impl.h>
#include <mpi/api/newcomm.h>
#include <mpi/coll/coll.h>
#include <mpi/core/info.h>
#include <mpi/pt2pt/pt2pt.h>
#include <mpi/transport/transport.h>

/* what each rank brings to a split */
struct choice {
	int32_t color;
	int32_t key;
	int32_t rank;
};

/* the choices of a group */
struct choices {
	struct choice *of;
	const struct group *group;
	int count;
};

static int
order(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* The ranks that chose this color, by key and then by rank. Changes the choices. */
static struct group *
same_color(struct mpi_rank *self, struct choices *c, int32_t color)
{
	int32_t *world;
	int n = 0;

	for (int i = 0; i < c->count; i++)
		if (c->of[i].color == color)
			c->of[n++] = c->of[i];
	qsort(c->of, (size_t)n, sizeof(*c->of), order);
	world = malloc((size_t)(n + 1) * sizeof(*world));
	if (world == NULL)
		return NULL;
	for (int i = 0; i < n; i++)
		world[i] = mpi_group_world(c->group, c->of[i].rank);
	return mpi_group_of(self, world, n);
}

/* The leaders of both groups exchange what their groups chose, and tell their groups. */
static int
exchange_choices(struct mpi_rank *self, struct comm *c, const struct choices *ours,
	struct choices *theirs)
{
	struct request in = {.handle = 0}, out = {.handle = 0};
	size_t size = sizeof(*ours->of);
	int err = MPI_SUCCESS, err_out;

	if (c->rank == 0) {
		mpi_recv_prepare(&in, c, theirs->of, (size_t)theirs->count * size, 0, 0);
		mpi_send_prepare(&out, c, ours->of, (size_t)ours->count * size, 0, 0);
		in.context = out.context = c->context + CONTEXT_GROUP;
		mpi_recv_start(self, &in);
		err_out = mpi_send_bytes(self, &out);
		err = mpi_wait(self, &in);
		err = err == MPI_SUCCESS ? err_out : err;
	}
	return err == MPI_SUCCESS ? mpi_bcast(self, c->local, theirs->of,
		(size_t)theirs->count * size, 0) : err;
}

/* Everybody learns what everybody chose. */
static int
split_collect(struct mpi_rank *self, struct comm *c, struct choice mine, struct choices all[2])
{
	int err;

	all[0] = (struct choices){malloc((size_t)c->size * sizeof(mine)), c->group, c->size};
	all[1] = (struct choices){NULL, c->remote, 0};
	if (c->remote != NULL)
		all[1] = (struct choices){malloc((size_t)c->remote->size * sizeof(mine)), c->remote,
			c->remote->size};
	if (all[0].of == NULL || (c->remote && all[1].of == NULL))
		return MPI_ERR_NO_MEM;
	err = mpi_allgather(self, c->local ? c->local : c, &mine, all[0].of, sizeof(mine));
	return err == MPI_SUCCESS && c->remote ? exchange_choices(self, c, &all[0], &all[1]) : err;
}

/*
 * This rank's part of the split; between two groups, a part that only one of them has is no
 * communicator.
 */
static struct newcomm
part(struct mpi_rank *self, struct comm *c, struct choices all[2], int32_t color)
{
	struct group *g, *remote = NULL;
	struct comm *made;

	if (color == MPI_UNDEFINED)
		return (struct newcomm){NULL, MPI_SUCCESS};
	g = same_color(self, &all[0], color);
	if (c->remote != NULL)
		remote = same_color(self, &all[1], color);
	if (g == NULL || (c->remote && remote == NULL) || (remote && remote->size == 0)) {
		int err = remote && remote->size == 0 ? MPI_SUCCESS : MPI_ERR_NO_MEM;

		mpi_group_release(self, g);
		mpi_group_release(self, remote);
		return (struct newcomm){NULL, err};
	}
	made = mpi_comm_new(self, g, remote, c->errhandler);
	return (struct newcomm){made, made ? MPI_SUCCESS : MPI_ERR_NO_MEM};
}

int
newcomm_split(struct mpi_rank *self, struct comm *c, int color, int key, MPI_Comm *newcomm)
{
	struct choices all[2];
	int err = split_collect(self, c, (struct choice){color, key, c->rank}, all);

	if (err == MPI_SUCCESS)
		err = newcomm_of(self, c, part(self, c, all, color), newcomm);
	free(all[0].of);
	free(all[1].of);
	return err;
}

int
impl_Comm_split(struct call *call, const struct args_Comm_split *a)
{
	if (a->color < 0 && a->color != MPI_UNDEFINED)
		return MPI_ERR_ARG;
	return newcomm_split(call->self, a->comm, a->color, a->key, a->newcomm);
}

static bool
runs_in_cluster(const struct mpi_rank *self, const struct group *g, uint32_t cluster)
{
	for (int i = 0; i < g->size; i++)
		if (transport_cluster_of(self, (uint32_t)mpi_group_world(g, i)) != cluster)
			return false;
	return true;
}

/* Do all ranks of a communicator run in one cluster? */
static bool
is_in_one_cluster(const struct mpi_rank *self, const struct comm *c)
{
	uint32_t mine = transport_cluster_of(self, (uint32_t)self->world_rank);

	return runs_in_cluster(self, c->group, mine) &&
		runs_in_cluster(self, mpi_comm_peer_group(c), mine);
}

/*
 * The color under which ranks come together that share what is named; MPI_UNDEFINED: nothing of
 * that kind is known.
 */
static int
color_of_resource(const struct mpi_rank *self, const char *resource)
{
	int cluster = (int)transport_cluster_of(self, (uint32_t)self->world_rank);

	if (resource == NULL)
		return MPI_UNDEFINED;
	if (strcmp(resource, "mpi_shared_memory") == 0 || strcmp(resource, "atoll://cluster") == 0)
		return cluster;
	if (strcmp(resource, "atoll://machine") == 0 || strcmp(resource, "mpi://WORLD") == 0)
		return 0;
	return strcmp(resource, "mpi://SELF") == 0 ? self->world_rank : MPI_UNDEFINED;
}

/* The color of this rank for a kind of split. MPI_ERR_ARG: there is no such kind. */
static int
color_of_type(struct call *call, const struct args_Comm_split_type *a, int *color)
{
	const char *resource = mpi_info_value(a->info, "mpi_hw_resource_type");

	switch (a->split_type) {
	case MPI_COMM_TYPE_SHARED:
		*color = color_of_resource(call->self, "mpi_shared_memory");
		return MPI_SUCCESS;
	case MPI_COMM_TYPE_HW_UNGUIDED:
		/* the next smaller unit, if the communicator is larger than that */
		*color = is_in_one_cluster(call->self, a->comm) ? MPI_UNDEFINED
			: color_of_resource(call->self, "atoll://cluster");
		if (a->info != NULL && *color != MPI_UNDEFINED)
			return mpi_info_set(a->info, "mpi_hw_resource_type", "atoll://cluster");
		return MPI_SUCCESS;
	case MPI_COMM_TYPE_RESOURCE_GUIDED:
		if (resource == NULL)
			resource = mpi_info_value(a->info, "mpi_pset_name");
		*color = color_of_resource(call->self, resource);
		return MPI_SUCCESS;
	case MPI_COMM_TYPE_HW_GUIDED:
		*color = color_of_resource(call->self, resource);
		return MPI_SUCCESS;
	case MPI_UNDEFINED:
		*color = MPI_UNDEFINED;
		return MPI_SUCCESS;
	default:
		return MPI_ERR_ARG;
	}
}

int
impl_Comm_split_type(struct call *call, const struct args_Comm_split_type *a)
{
	int color, err = color_of_type(call, a, &color);

	return err == MPI_SUCCESS ? newcomm_split(call->self, a->comm, color, a->key, a->newcomm) :
		err;
}
