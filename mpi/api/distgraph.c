/* SPDX-License-Identifier: MIT
 *
 * Chapter topologies: distributed graphs, of which each rank knows its own neighbours.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi_impl.h>
#include <mpi/api/newcomm.h>
#include <mpi/coll/coll.h>
#include <mpi/core/topology.h>

/* The communicator of all ranks of c with these neighbours. */
static struct newcomm
with_neighbours(struct mpi_rank *self, struct comm *c, const struct adjacency *near)
{
	struct newcomm n = newcomm_group(self, c, mpi_group_hold(c->group));

	if (n.made == NULL)
		return n;
	n.made->topology = mpi_topology_adjacent(near);
	if (n.made->topology != NULL)
		return n;
	newcomm_abandon(self, n.made);
	return (struct newcomm){NULL, MPI_ERR_NO_MEM};
}

static int
check_neighbours(const struct comm *c, int n, const int ranks[], const int *weights)
{
	if (n < 0 || (n > 0 && ranks == NULL))
		return MPI_ERR_ARG;
	if (n > 0 && (weights == NULL || weights == MPI_WEIGHTS_EMPTY))
		return MPI_ERR_ARG;
	for (int i = 0; i < n; i++) {
		if (ranks[i] < 0 || ranks[i] >= c->size)
			return MPI_ERR_RANK;
		if (weights != MPI_UNWEIGHTED && weights[i] < 0)
			return MPI_ERR_ARG;
	}
	return MPI_SUCCESS;
}

/* Weights as they are kept: NULL for none. */
static int *
kept(const int *weights)
{
	return weights == MPI_UNWEIGHTED ? NULL : (int *)(uintptr_t)weights;
}

int
impl_Dist_graph_create_adjacent(struct call *call, const struct args_Dist_graph_create_adjacent *a)
{
	struct comm *c = a->comm_old;
	struct adjacency near = {a->indegree, a->outdegree, (int *)(uintptr_t)a->sources, (int *)(uintptr_t)a->destinations,
		kept(a->sourceweights), kept(a->destweights)};
	int err = mpi_comm_is_inter(c) ? MPI_ERR_COMM : check_neighbours(c, a->indegree, a->sources, a->sourceweights);

	if (err == MPI_SUCCESS)
		err = check_neighbours(c, a->outdegree, a->destinations, a->destweights);
	/* a side without neighbours may have no weights */
	if (err == MPI_SUCCESS && (near.source_weights == NULL) != (near.destination_weights == NULL) && a->indegree && a->outdegree)
		err = MPI_ERR_ARG;
	return err == MPI_SUCCESS ? newcomm_of(call->self, c, with_neighbours(call->self, c, &near), a->comm_dist_graph) : err;
}

/* An edge that some rank has told of. */
struct edge {
	int32_t from;
	int32_t to;
	int32_t weight;
};

struct edges {
	struct edge *of;
	int count;
	bool weighted;
};

static int
check_edges(const struct args_Dist_graph_create *a, int *count)
{
	const struct comm *c = a->comm_old;
	int64_t n = 0;

	if (mpi_comm_is_inter(c))
		return MPI_ERR_COMM;
	if (a->n < 0 || (a->n > 0 && (a->sources == NULL || a->degrees == NULL)))
		return MPI_ERR_ARG;
	for (int i = 0; i < a->n; i++) {
		if (a->sources[i] < 0 || a->sources[i] >= c->size)
			return MPI_ERR_RANK;
		if (a->degrees[i] < 0)
			return MPI_ERR_ARG;
		n += a->degrees[i];
	}
	*count = (int)n;
	return n <= INT_MAX ? check_neighbours(c, (int)n, a->destinations, a->weights) : MPI_ERR_ARG;
}

/* The edges that this rank tells of. False: no memory. */
static bool
told(const struct args_Dist_graph_create *a, struct edges *e)
{
	int at = 0;

	e->of = malloc((size_t)(e->count + 1) * sizeof(*e->of));
	if (e->of == NULL)
		return false;
	e->weighted = a->weights != MPI_UNWEIGHTED;
	for (int i = 0; i < a->n; i++)
		for (int k = 0; k < a->degrees[i]; k++, at++)
			e->of[at] = (struct edge){a->sources[i], a->destinations[at],
				a->weights != MPI_UNWEIGHTED && a->weights != MPI_WEIGHTS_EMPTY ? a->weights[at] : 0};
	return true;
}

/* What each rank says before the edges themselves go around. */
struct told_count {
	int32_t edges;			/* -1: it has no memory */
	int32_t weighted;
};

/* Everybody hears of all edges, rank by rank, and keeps its own. `mine` starts empty with room for none. */
static int
hear(struct mpi_rank *self, struct comm *c, const struct edges *ours, const struct told_count *counts, struct edges *mine)
{
	int room = 0, err = MPI_SUCCESS;

	for (int r = 0; err == MPI_SUCCESS && r < c->size; r++) {
		size_t n = (size_t)counts[r].edges;
		struct edge *heard = n == 0 ? NULL : r == c->rank ? ours->of : malloc(n * sizeof(*heard));

		if (n == 0)
			continue;
		if (heard == NULL)
			return MPI_ERR_NO_MEM;
		err = mpi_bcast(self, c, heard, n * sizeof(*heard), r);
		for (size_t i = 0; err == MPI_SUCCESS && i < n; i++) {
			if (heard[i].from != c->rank && heard[i].to != c->rank)
				continue;
			if (mine->count == room) {
				struct edge *more = realloc(mine->of, (size_t)(room = 2 * room + 8) * sizeof(*more));

				if (more == NULL)
					err = MPI_ERR_NO_MEM;
				else
					mine->of = more;
			}
			if (err == MPI_SUCCESS)
				mine->of[mine->count++] = heard[i];
		}
		if (r != c->rank)
			free(heard);
	}
	return err;
}

/* The neighbours of a rank from the edges at it. False: no memory. */
static bool
neighbours_of(const struct edges *e, int rank, struct adjacency *near)
{
	size_t n = (size_t)e->count + 1;
	int *room = malloc(4 * n * sizeof(*room));

	*near = (struct adjacency){.sources = room};
	if (room == NULL)
		return false;
	near->destinations = room + n;
	near->source_weights = e->weighted ? room + 2 * n : NULL;
	near->destination_weights = e->weighted ? room + 3 * n : NULL;
	for (int i = 0; i < e->count; i++) {
		if (e->of[i].to == rank) {
			if (e->weighted)
				near->source_weights[near->in] = e->of[i].weight;
			near->sources[near->in++] = e->of[i].from;
		}
		if (e->of[i].from == rank) {
			if (e->weighted)
				near->destination_weights[near->out] = e->of[i].weight;
			near->destinations[near->out++] = e->of[i].to;
		}
	}
	return true;
}

/* The edges at this rank, told by whomever. */
static int
gather_edges(struct mpi_rank *self, struct comm *c, const struct edges *ours, struct edges *mine)
{
	struct told_count *counts = malloc((size_t)c->size * sizeof(*counts)), own = {ours->of ? ours->count : -1, ours->weighted};
	int err = counts ? mpi_allgather(self, c, &own, counts, sizeof(own)) : MPI_ERR_NO_MEM;

	for (int r = 0; err == MPI_SUCCESS && r < c->size; r++) {
		mine->weighted |= counts[r].weighted != 0 && counts[r].edges > 0;
		if (counts[r].edges < 0)
			err = MPI_ERR_NO_MEM;
	}
	if (err == MPI_SUCCESS && ours->weighted)
		mine->weighted = true;
	if (err == MPI_SUCCESS)
		err = hear(self, c, ours, counts, mine);
	free(counts);
	return err;
}

int
impl_Dist_graph_create(struct call *call, const struct args_Dist_graph_create *a)
{
	struct edges ours = {0}, mine = {0};
	struct newcomm n = {NULL, MPI_ERR_NO_MEM};
	struct adjacency near = {0};
	int err = check_edges(a, &ours.count);

	if (err != MPI_SUCCESS)
		return err;
	told(a, &ours);
	err = gather_edges(call->self, a->comm_old, &ours, &mine);
	if (err == MPI_SUCCESS && neighbours_of(&mine, a->comm_old->rank, &near))
		n = with_neighbours(call->self, a->comm_old, &near);
	else if (err != MPI_SUCCESS)
		n.err = err;
	free(near.sources);
	free(ours.of);
	free(mine.of);
	return newcomm_of(call->self, a->comm_old, n, a->comm_dist_graph);
}

static int
near_of(const struct comm *c, const struct adjacency **near)
{
	if (c->topology == NULL || c->topology->kind != MPI_DIST_GRAPH)
		return MPI_ERR_TOPOLOGY;
	*near = &c->topology->near;
	return MPI_SUCCESS;
}

int
impl_Dist_graph_neighbors_count(struct call *call, const struct args_Dist_graph_neighbors_count *a)
{
	const struct adjacency *near;
	int err = near_of(a->comm, &near);

	(void)call;
	if (err != MPI_SUCCESS)
		return err;
	*a->indegree = near->in;
	*a->outdegree = near->out;
	*a->weighted = near->source_weights != NULL || near->destination_weights != NULL;
	return MPI_SUCCESS;
}

/* Up to `max` of n neighbours and of their weights, if the program wants them. */
static int
give(int max, int n, const int ranks[], const int *weights, int out[], int *out_weights)
{
	int count = max < n ? max : n;

	if (max < 0 || (count > 0 && out == NULL))
		return MPI_ERR_ARG;
	if (count > 0)
		memcpy(out, ranks, (size_t)count * sizeof(int));
	if (count > 0 && weights != NULL && out_weights != NULL && out_weights != MPI_UNWEIGHTED)
		memcpy(out_weights, weights, (size_t)count * sizeof(int));
	return MPI_SUCCESS;
}

int
impl_Dist_graph_neighbors(struct call *call, const struct args_Dist_graph_neighbors *a)
{
	const struct adjacency *near;
	int err = near_of(a->comm, &near);

	(void)call;
	if (err == MPI_SUCCESS)
		err = give(a->maxindegree, near->in, near->sources, near->source_weights, a->sources, a->sourceweights);
	if (err == MPI_SUCCESS)
		err = give(a->maxoutdegree, near->out, near->destinations, near->destination_weights, a->destinations, a->destweights);
	return err;
}
