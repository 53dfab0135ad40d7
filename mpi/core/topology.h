/* SPDX-License-Identifier: MIT
 *
 * Virtual topologies of communicators. Never changed after they are made; shared by reference
 * counting.
 */
#ifndef MPI_CORE_TOPOLOGY_H
#define MPI_CORE_TOPOLOGY_H

#include <stdbool.h>
#include <mpi.h>

struct comm;

/* Cartesian: row-major, the last dimension runs fastest. */
struct cart {
	int ndims;
	int *dims;
	int *periods;			/* 0 or 1 */
	int *coords;			/* of the caller */
};

/*
 * A graph that every rank knows: the neighbours of rank i are edges[i ? index[i-1] : 0] to
 * edges[index[i]-1].
 */
struct graph {
	int nnodes;
	int *index;
	int *edges;
};

/* The neighbours of the caller. `weights` are NULL if the graph has none. */
struct adjacency {
	int in;
	int out;
	int *sources;
	int *destinations;
	int *source_weights;
	int *destination_weights;
};

struct topology {
	int references;
	int kind;			/* MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH */
	struct cart cart;
	struct graph graph;
	struct adjacency near;		/* of all kinds; what neighbourhood collectives work with */
};

/*
 * The ranks that neighbourhood collectives of the caller receive from and send to, in the order of
 * their blocks; MPI_PROC_NULL where a Cartesian dimension ends. MPI_ERR_TOPOLOGY if the
 * communicator has no topology. Valid as long as the communicator.
 *
 * In a Cartesian topology block 2d comes from and goes to the neighbour below in dimension d, 2d+1
 * above: what a rank sends below arrives there as from above.
 */
int mpi_topo_neighbors(const struct comm *c, const struct adjacency **near);

/*
 * Neighbours that are the same rank several times: messages between two ranks stay in order, which
 * pairs the edges of graphs. In a grid they are told apart by these: a block is sent with tag_out
 * of its place and received in the place whose tag_in is that.
 */
static inline int
mpi_topo_tag_out(const struct topology *t, int block)
{
	return t->kind == MPI_CART ? block : 0;
}

static inline int
mpi_topo_tag_in(const struct topology *t, int block)
{
	return t->kind == MPI_CART ? block ^ 1 : 0;
}

/* Constructors. The arrays are copied; arguments were checked. NULL: no memory. */
struct topology *mpi_topology_cart(int ndims, const int dims[], const int periods[], int rank);
struct topology *mpi_topology_graph(int nnodes, const int index[], const int edges[], int rank);
struct topology *mpi_topology_adjacent(const struct adjacency *near);

struct topology *mpi_topology_hold(struct topology *t);	/* may be NULL */
void mpi_topology_release(struct topology *t);			/* may be NULL */

/*
 * Ranks and coordinates. `rank` of coordinates outside of a dimension that does not wrap:
 * MPI_PROC_NULL.
 */
int mpi_cart_rank(const struct cart *c, const int coords[]);
void mpi_cart_coords(const struct cart *c, int rank, int coords[]);

/* The rank `disp` further in a dimension, from `rank`. */
int mpi_cart_shifted(const struct cart *c, int rank, int dim, int disp);

/* The neighbours of a rank of a graph: their number, and where they begin in edges. */
int mpi_graph_degree(const struct graph *g, int rank, const int **neighbours);

/*
 * Fill in the dims that are 0, such that their product is nnodes: as close to each other as can be,
 * in descending order. MPI_ERR_DIMS if nnodes is no multiple of the others.
 */
int mpi_dims_create(int nnodes, int ndims, int dims[]);

#endif
