/* SPDX-License-Identifier: MIT
 *
 * Chapter topologies: graphs that every rank knows.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi_impl.h>
#include <mpi/api/newcomm.h>
#include <mpi/api/place.h>
#include <mpi/core/topology.h>

static int
check_edges(int nnodes, int first, int last, const int edges[])
{
	for (int k = first; k < last; k++)
		if (edges[k] < 0 || edges[k] >= nnodes)
			return MPI_ERR_ARG;
	return MPI_SUCCESS;
}

static int
check_graph(const struct comm *c, int nnodes, const int index[], const int edges[])
{
	int before = 0, err = MPI_SUCCESS;

	if (mpi_comm_is_inter(c))
		return MPI_ERR_COMM;
	if (nnodes < 0 || nnodes > c->size || (nnodes > 0 && index == NULL))
		return MPI_ERR_ARG;
	for (int i = 0; err == MPI_SUCCESS && i < nnodes; i++) {
		if (index[i] < before || (index[i] > 0 && edges == NULL))
			return MPI_ERR_ARG;
		err = check_edges(nnodes, before, index[i], edges);
		before = index[i];
	}
	return err;
}

/*
 * Which member gets which node: all edges once, though most programs name both directions. NULL: no
 * memory.
 */
static int *
placed(struct mpi_rank *self, const struct comm *c, const struct graph *g)
{
	int count = g->nnodes > 0 ? g->index[g->nnodes - 1] : 0, k = 0;
	struct place_edges edges = {malloc(((size_t)count + 1) * sizeof(*edges.of)), count};
	int *member_of = malloc(((size_t)g->nnodes + 1) * sizeof(*member_of));
	bool room = edges.of != NULL && member_of != NULL;

	for (int i = 0; room && i < g->nnodes; i++)
		for (; k < g->index[i]; k++)
			edges.of[k] = (struct place_edge){i, g->edges[k], 1};
	room = room && place_graph(self, c, g->nnodes, &edges, member_of);
	free(edges.of);
	if (!room)
		free(member_of);
	return room ? member_of : NULL;
}

static struct group *
group_of(struct mpi_rank *self, const struct comm *c, const struct graph *g)
{
	int *member_of = placed(self, c, g);
	struct group *group = member_of ? place_members(self, c, g->nnodes, member_of) : NULL;

	free(member_of);
	return group;
}

int
impl_Graph_create(struct call *call, const struct args_Graph_create *a)
{
	struct comm *c = a->comm_old;
	struct newcomm n = {NULL, MPI_SUCCESS};
	struct graph g = {.nnodes = a->nnodes, .index = (int *)(uintptr_t)a->indx,
		.edges = (int *)(uintptr_t)a->edges};
	int err = check_graph(c, a->nnodes, a->indx, a->edges);

	if (err != MPI_SUCCESS)
		return err;
	if (c->rank < a->nnodes)
		n = newcomm_group(call->self, c, a->reorder ? group_of(call->self, c, &g)
			: place_grid(call->self, c, 0, NULL, a->nnodes));
	if (n.made != NULL) {
		n.made->topology = mpi_topology_graph(a->nnodes, a->indx, a->edges, n.made->rank);
		if (n.made->topology == NULL) {
			newcomm_abandon(call->self, n.made);
			n = (struct newcomm){NULL, MPI_ERR_NO_MEM};
		}
	}
	return newcomm_of(call->self, c, n, a->comm_graph);
}

int
impl_Graph_map(struct call *call, const struct args_Graph_map *a)
{
	struct graph g = {.nnodes = a->nnodes, .index = (int *)(uintptr_t)a->indx,
		.edges = (int *)(uintptr_t)a->edges};
	int err = check_graph(a->comm, a->nnodes, a->indx, a->edges), *member_of;

	if (err != MPI_SUCCESS)
		return err;
	member_of = placed(call->self, a->comm, &g);
	if (member_of == NULL)
		return MPI_ERR_NO_MEM;
	*a->newrank = MPI_UNDEFINED;
	for (int i = 0; i < a->nnodes; i++)
		if (member_of[i] == a->comm->rank)
			*a->newrank = i;
	free(member_of);
	return MPI_SUCCESS;
}

static int
graph_of(const struct comm *c, const struct graph **g)
{
	if (c->topology == NULL || c->topology->kind != MPI_GRAPH)
		return MPI_ERR_TOPOLOGY;
	*g = &c->topology->graph;
	return MPI_SUCCESS;
}

static int
edges_of(const struct graph *g)
{
	return g->nnodes > 0 ? g->index[g->nnodes - 1] : 0;
}

int
impl_Graphdims_get(struct call *call, const struct args_Graphdims_get *a)
{
	const struct graph *g;
	int err = graph_of(a->comm, &g);

	(void)call;
	if (err != MPI_SUCCESS)
		return err;
	*a->nnodes = g->nnodes;
	*a->nedges = edges_of(g);
	return MPI_SUCCESS;
}

int
impl_Graph_get(struct call *call, const struct args_Graph_get *a)
{
	const struct graph *g;
	int err = graph_of(a->comm, &g);

	(void)call;
	if (err != MPI_SUCCESS)
		return err;
	if (a->maxindex < g->nnodes || a->maxedges < edges_of(g) || a->indx == NULL ||
			(edges_of(g) > 0 && a->edges == NULL))
		return MPI_ERR_ARG;
	memcpy(a->indx, g->index, (size_t)g->nnodes * sizeof(int));
	if (edges_of(g) > 0)
		memcpy(a->edges, g->edges, (size_t)edges_of(g) * sizeof(int));
	return MPI_SUCCESS;
}

int
impl_Graph_neighbors_count(struct call *call, const struct args_Graph_neighbors_count *a)
{
	const struct graph *g;
	const int *list;
	int err = graph_of(a->comm, &g);

	(void)call;
	if (err == MPI_SUCCESS)
		*a->nneighbors = mpi_graph_degree(g, a->rank, &list);
	return err;
}

int
impl_Graph_neighbors(struct call *call, const struct args_Graph_neighbors *a)
{
	const struct graph *g;
	const int *list;
	int err = graph_of(a->comm, &g), n;

	(void)call;
	if (err != MPI_SUCCESS)
		return err;
	n = mpi_graph_degree(g, a->rank, &list);
	if (a->maxneighbors < n || (n > 0 && a->neighbors == NULL))
		return MPI_ERR_ARG;
	if (n > 0)
		memcpy(a->neighbors, list, (size_t)n * sizeof(int));
	return MPI_SUCCESS;
}
