/* SPDX-License-Identifier: MIT
 *
 * Virtual topologies.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <mpi/core/comm.h>
#include <mpi/core/topology.h>

int
mpi_topo_neighbors(const struct comm *c, const struct adjacency **near)
{
	if (c->topology == NULL)
		return MPI_ERR_TOPOLOGY;
	*near = &c->topology->near;
	return MPI_SUCCESS;
}

struct topology *
mpi_topology_hold(struct topology *t)
{
	if (t != NULL)
		t->references++;
	return t;
}

void
mpi_topology_release(struct topology *t)
{
	if (t == NULL || --t->references > 0)
		return;
	free(t->cart.dims);
	free(t->cart.periods);
	free(t->cart.coords);
	free(t->graph.index);
	free(t->graph.edges);
	free(t->near.sources);
	free(t->near.destinations);
	free(t->near.source_weights);
	free(t->near.destination_weights);
	free(t);
}

static struct topology *
topology_make(int kind)
{
	struct topology *t = calloc(1, sizeof(*t));

	if (t != NULL) {
		t->references = 1;
		t->kind = kind;
	}
	return t;
}

/* A copy of n numbers; false: no memory. */
static bool
topology_copy(int **to, const int *from, int n)
{
	*to = malloc((size_t)(n > 0 ? n : 1) * sizeof(**to));
	if (*to != NULL && n > 0)
		memcpy(*to, from, (size_t)n * sizeof(**to));
	return *to != NULL;
}

/* All or nothing. */
static struct topology *
finished(struct topology *t, bool complete)
{
	if (complete)
		return t;
	mpi_topology_release(t);
	return NULL;
}

int
mpi_cart_rank(const struct cart *c, const int coords[])
{
	int rank = 0;

	for (int i = 0; i < c->ndims; i++) {
		int at = coords[i];

		if ((at < 0 || at >= c->dims[i]) && !c->periods[i])
			return MPI_PROC_NULL;
		at %= c->dims[i];
		rank = rank * c->dims[i] + (at < 0 ? at + c->dims[i] : at);
	}
	return rank;
}

void
mpi_cart_coords(const struct cart *c, int rank, int coords[])
{
	for (int i = c->ndims - 1; i >= 0; i--) {
		coords[i] = rank % c->dims[i];
		rank /= c->dims[i];
	}
}

int
mpi_cart_shifted(const struct cart *c, int rank, int dim, int disp)
{
	int below = 1, size = c->dims[dim], at;
	int64_t to;

	for (int i = dim + 1; i < c->ndims; i++)
		below *= c->dims[i];
	at = rank / below % size;
	to = (int64_t)at + disp;
	if (!c->periods[dim] && (to < 0 || to >= size))
		return MPI_PROC_NULL;
	to %= size;
	return rank + ((int)(to < 0 ? to + size : to) - at) * below;
}

struct topology *
mpi_topology_cart(int ndims, const int dims[], const int periods[], int rank)
{
	struct topology *t = topology_make(MPI_CART);
	int *near = malloc((size_t)(2 * ndims + 1) * sizeof(*near));
	bool complete = t != NULL && near != NULL;

	if (complete) {
		t->cart.ndims = ndims;
		complete = topology_copy(&t->cart.dims, dims, ndims) &&
			topology_copy(&t->cart.periods, periods, ndims) &&
			topology_copy(&t->cart.coords, dims, ndims);
	}
	for (int i = 0; complete && i < ndims; i++)
		t->cart.periods[i] = t->cart.periods[i] != 0;
	if (complete)
		mpi_cart_coords(&t->cart, rank, t->cart.coords);
	for (int i = 0; complete && i < ndims; i++) {
		near[2 * i] = mpi_cart_shifted(&t->cart, rank, i, -1);
		near[2 * i + 1] = mpi_cart_shifted(&t->cart, rank, i, 1);
	}
	if (complete) {
		t->near.in = t->near.out = 2 * ndims;
		complete = topology_copy(&t->near.sources, near, 2 * ndims) &&
			topology_copy(&t->near.destinations, near, 2 * ndims);
	}
	free(near);
	return finished(t, complete);
}

int
mpi_graph_degree(const struct graph *g, int rank, const int **neighbours)
{
	int first = rank > 0 ? g->index[rank - 1] : 0;

	*neighbours = g->edges + first;
	return g->index[rank] - first;
}

struct topology *
mpi_topology_graph(int nnodes, const int index[], const int edges[], int rank)
{
	struct topology *t = topology_make(MPI_GRAPH);
	const int *mine;
	bool complete = t != NULL;

	if (complete) {
		t->graph.nnodes = nnodes;
		complete = topology_copy(&t->graph.index, index, nnodes) &&
			topology_copy(&t->graph.edges, edges, nnodes > 0 ? index[nnodes - 1] : 0);
	}
	if (complete) {
		t->near.in = t->near.out = mpi_graph_degree(&t->graph, rank, &mine);
		complete = topology_copy(&t->near.sources, mine, t->near.in) &&
			topology_copy(&t->near.destinations, mine, t->near.out);
	}
	return finished(t, complete);
}

struct topology *
mpi_topology_adjacent(const struct adjacency *near)
{
	struct topology *t = topology_make(MPI_DIST_GRAPH);
	bool complete = t != NULL;

	if (complete) {
		t->near.in = near->in;
		t->near.out = near->out;
		complete = topology_copy(&t->near.sources, near->sources, near->in) &&
			topology_copy(&t->near.destinations, near->destinations, near->out);
	}
	if (complete && near->source_weights != NULL)
		complete = topology_copy(&t->near.source_weights, near->source_weights, near->in);
	if (complete && near->destination_weights != NULL)
		complete = topology_copy(&t->near.destination_weights, near->destination_weights,
			near->out);
	return finished(t, complete);
}
