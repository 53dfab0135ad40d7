/* SPDX-License-Identifier: MIT
 *
 * Where the places of a grid, or the nodes of a graph, go if they may be reordered: neighbours into
 * one cluster, so that few talk from cluster to cluster.
 */
#ifndef MPI_API_PLACE_H
#define MPI_API_PLACE_H

#include <mpi/core/rank.h>

/*
 * The group of the first `ranks` members of c in the order of the grid's places; ndims 0: in their
 * own order. All ranks get the same. NULL: no memory.
 */
struct group *place_grid(struct mpi_rank *self, const struct comm *c, int ndims, const int dims[],
	int ranks);

/* An edge of a graph; the direction does not matter. Without a weight it counts 1. */
struct place_edge {
	int32_t from;
	int32_t to;
	int32_t weight;
};

struct place_edges {
	struct place_edge *of;
	int count;
};

/*
 * Which of the first `nodes` members of c is to have each node. What edges between clusters weigh
 * is never more than in the own order. All ranks that give the same edges get the same. False: no
 * memory.
 */
bool place_graph(struct mpi_rank *self, const struct comm *c, int nodes,
	const struct place_edges *edges, int *member_of);

/* The group of these members of c in this order. NULL: no memory. */
struct group *place_members(struct mpi_rank *self, const struct comm *c, int nodes,
	const int *member_of);

#endif
