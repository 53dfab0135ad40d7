/* SPDX-License-Identifier: MIT
 *
 * Topologies: grids, graphs, distributed graphs, balanced dimensions.
 */
#include "check.h"

static void
dimensions(struct check *c)
{
	static const struct {
		int nodes;
		int n;
		int dims[4];
		int want[4];
	} cases[] = {
		{6, 2, {0, 0}, {3, 2}}, {7, 2, {0, 0}, {7, 1}}, {6, 3, {0, 3, 0}, {2, 3, 1}},
		{12, 3, {0, 0, 0}, {3, 2, 2}},
		{1, 4, {0, 0, 0, 0}, {1, 1, 1, 1}}, {1000000, 3, {0, 0, 0}, {100, 100, 100}},
		{64, 4, {0, 0, 0, 0}, {4, 4, 2, 2}},
		{2147483647, 3, {0, 0, 0}, {2147483647, 1, 1}}, {144, 2, {0, 0}, {12, 12}},
		{24, 2, {0, 0}, {6, 4}}, {5, 1, {5}, {5}},
	};
	int dims[4];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memcpy(dims, cases[i].dims, sizeof(dims));
		CHECK(c, MPI_Dims_create(cases[i].nodes, cases[i].n, dims) == MPI_SUCCESS);
		CHECK(c, memcmp(dims, cases[i].want, (size_t)cases[i].n * sizeof(int)) == 0);
	}
	memcpy(dims, cases[2].dims, sizeof(dims));
	CHECK(c, MPI_Dims_create(7, 3, dims) == MPI_ERR_DIMS);
	CHECK(c, MPI_Dims_create(0, 3, dims) == MPI_ERR_ARG);
	dims[0] = -1;
	CHECK(c, MPI_Dims_create(6, 2, dims) == MPI_ERR_DIMS);
}

/* A grid: everybody finds everybody, and neighbours talk. */
static void
grid(struct check *c, int reorder)
{
	int dims[3] = {0, 0, 0}, periods[3] = {1, 0, 1}, coords[3], got[3], rank, me, kind, n, from,
		to, x, y = -2, sub_dims[3];
	int remain[3] = {0, 1, 1}, edge[3];
	MPI_Comm cart, sub, dup;

	MPI_Dims_create(c->size, 3, dims);
	CHECK(c, MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, reorder, &cart) == MPI_SUCCESS);
	MPI_Comm_rank(cart, &me);
	CHECK(c, reorder || me == c->rank);
	MPI_Topo_test(cart, &kind);
	MPI_Cartdim_get(cart, &n);
	CHECK(c, kind == MPI_CART && n == 3);
	MPI_Cart_get(cart, 3, got, periods, coords);
	CHECK(c, memcmp(got, dims, sizeof(dims)) == 0 && periods[0] == 1 && periods[1] == 0);
	for (int r = 0; r < c->size; r++) {
		MPI_Cart_coords(cart, r, 3, got);
		CHECK(c, r == (got[0] * dims[1] + got[1]) * dims[2] + got[2]);
		got[0] -= dims[0];
		got[2] += 2 * dims[2];
		MPI_Cart_rank(cart, got, &rank);
		CHECK(c, rank == r);
	}
	for (int d = 0; d < 3; d++) {
		MPI_Cart_shift(cart, d, 1, &from, &to);
		CHECK(c, (to == MPI_PROC_NULL) == (!periods[d] && coords[d] == dims[d] - 1));
		x = me;
		y = -2;
		MPI_Sendrecv(&x, 1, MPI_INT, to, d, &y, 1, MPI_INT, from, d, cart,
			MPI_STATUS_IGNORE);
		CHECK(c, y == (from == MPI_PROC_NULL ? -2 : from));
	}
	edge[0] = 0;
	edge[1] = dims[1];
	edge[2] = 0;
	CHECK(c, MPI_Cart_rank(cart, edge, &rank) == MPI_ERR_RANK);
	CHECK(c, MPI_Cart_shift(cart, 3, 1, &from, &to) == MPI_ERR_ARG);
	MPI_Cart_sub(cart, remain, &sub);
	MPI_Cart_get(sub, 2, sub_dims, periods, got);
	CHECK(c, sub_dims[0] == dims[1] && sub_dims[1] == dims[2] && got[0] == coords[1] &&
		got[1] == coords[2]);
	MPI_Allreduce(&coords[0], &x, 1, MPI_INT, MPI_MAX, sub);
	MPI_Allreduce(&coords[0], &y, 1, MPI_INT, MPI_MIN, sub);
	CHECK(c, x == y);
	memset(remain, 0, sizeof(remain));
	MPI_Comm_free(&sub);
	MPI_Cart_sub(cart, remain, &sub);
	MPI_Cartdim_get(sub, &n);
	MPI_Comm_size(sub, &x);
	CHECK(c, n == 0 && x == 1);
	MPI_Comm_free(&sub);
	MPI_Comm_dup(cart, &dup);
	MPI_Topo_test(dup, &kind);
	CHECK(c, kind == MPI_CART);
	MPI_Comm_free(&dup);
	MPI_Comm_free(&cart);
}

static void
grids(struct check *c)
{
	int one = 1, zero = 0, big = c->size + 1, n = -1, coords[1] = {0};
	MPI_Comm cart;

	MPI_Cart_create(MPI_COMM_WORLD, 1, &one, &zero, 0, &cart);
	CHECK(c, (cart == MPI_COMM_NULL) == (c->rank != 0));
	if (cart != MPI_COMM_NULL)
		MPI_Comm_free(&cart);
	MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &cart);
	CHECK(c, (cart == MPI_COMM_NULL) == (c->rank != 0));
	if (cart != MPI_COMM_NULL) {
		MPI_Cartdim_get(cart, &n);
		CHECK(c, n == 0);
		MPI_Comm_free(&cart);
	}
	CHECK(c, MPI_Cart_create(MPI_COMM_WORLD, 1, &big, &zero, 0, &cart) == MPI_ERR_DIMS);
	CHECK(c, MPI_Cart_create(MPI_COMM_WORLD, -1, &one, &zero, 0, &cart) == MPI_ERR_ARG);
	CHECK(c, MPI_Cart_rank(MPI_COMM_WORLD, coords, &n) == MPI_ERR_TOPOLOGY);
	MPI_Topo_test(MPI_COMM_WORLD, &n);
	CHECK(c, n == MPI_UNDEFINED);
	MPI_Cart_map(MPI_COMM_WORLD, 1, &one, &zero, &n);
	CHECK(c, n == (c->rank == 0 ? 0 : MPI_UNDEFINED));
}

/* A ring that everybody knows. */
static void
graph(struct check *c)
{
	int *index = malloc((size_t)c->size * sizeof(int)),
		*edges = malloc((size_t)c->size * 2 * sizeof(int)), n, m, near[2], wrong = -1;
	MPI_Comm g;

	for (int i = 0; i < c->size; i++) {
		index[i] = 2 * i + 2;
		edges[2 * i] = (i + c->size - 1) % c->size;
		edges[2 * i + 1] = (i + 1) % c->size;
	}
	MPI_Graph_create(MPI_COMM_WORLD, c->size, index, edges, 1, &g);
	MPI_Graphdims_get(g, &n, &m);
	CHECK(c, n == c->size && m == 2 * c->size);
	MPI_Graph_neighbors_count(g, c->rank, &n);
	MPI_Graph_neighbors(g, c->rank, 2, near);
	CHECK(c, n == 2 && near[0] == edges[2 * c->rank] && near[1] == edges[2 * c->rank + 1]);
	memset(index, 0, (size_t)c->size * sizeof(int));
	MPI_Graph_get(g, c->size, 2 * c->size, index, edges);
	CHECK(c, index[c->size - 1] == 2 * c->size);
	CHECK(c, MPI_Graph_neighbors_count(g, c->size, &n) == MPI_ERR_RANK);
	MPI_Comm_free(&g);
	CHECK(c, MPI_Graph_create(MPI_COMM_WORLD, 1, index, &wrong, 0, &g) == MPI_ERR_ARG);
	free(index);
	free(edges);
}

/* Rank i tells of the edges of rank i + 1: to the two after it, with weights. */
static void
distributed(struct check *c)
{
	int of = (c->rank + 1) % c->size, two = 2, in, out, weighted, sources[4], destinations[4],
		sw[4], dw[4], sum = 0, kind, me;
	int to[2] = {(of + 1) % c->size, (of + 2) % c->size},
		weights[2] = {of * 10 + 1, of * 10 + 2};
	MPI_Comm g, adjacent;

	CHECK(c, MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &of, &two, to, weights, MPI_INFO_NULL, 1,
		&g) == MPI_SUCCESS);
	MPI_Comm_rank(g, &me);
	MPI_Dist_graph_neighbors_count(g, &in, &out, &weighted);
	CHECK(c, in == 2 && out == 2 && weighted);
	MPI_Dist_graph_neighbors(g, 4, sources, sw, 4, destinations, dw);
	for (int i = 0; i < 2; i++) {
		CHECK(c, destinations[i] == (me + dw[i] % 10) % c->size && dw[i] / 10 == me);
		CHECK(c, (sources[i] + sw[i] % 10) % c->size == me && sw[i] / 10 == sources[i]);
		sum += sw[i] % 10;
	}
	CHECK(c, sum == 3);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, destinations,
		MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &adjacent);
	MPI_Dist_graph_neighbors_count(adjacent, &in, &out, &weighted);
	MPI_Topo_test(adjacent, &kind);
	CHECK(c, in == 2 && out == 2 && !weighted && kind == MPI_DIST_GRAPH);
	MPI_Comm_free(&adjacent);
	MPI_Comm_free(&g);
	/* nobody has neighbours */
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL,
		MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &g);
	MPI_Dist_graph_neighbors_count(g, &in, &out, &weighted);
	CHECK(c, in == 0 && out == 0 && weighted);
	MPI_Comm_free(&g);
	to[0] = c->size;
	CHECK(c, MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, to, MPI_UNWEIGHTED, 0, to,
		MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &g) ==
		MPI_ERR_RANK);
	CHECK(c, MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &in, &out, &weighted) ==
		MPI_ERR_TOPOLOGY);
}

/*
 * Graphs whose nodes may be placed. Edges are those of a rule that everybody knows; of each pair,
 * the weight of the edge, or 0.
 */
enum { SCRAMBLED_RING, CLIQUES_IN_TURN, SCRAMBLED_GRID, RANDOM, STAR, NOTHING, RULES };
static const char *const rule_names[] = {"ring", "cliques", "grid", "random", "star", "nothing"};

/* Another number for a node: all numbers once. */
static int
scramble(const struct check *c, int i)
{
	int step = c->size / 2 + 1;

	while (step < c->size && (c->size % step == 0 || (c->size % 2 == 0 && step % 2 == 0) ||
		(c->size % 3 == 0 && step % 3 == 0)))
		step++;
	return i * step % c->size;
}

static int
weight(const struct check *c, int rule, int clusters, int i, int k)
{
	int a = scramble(c, i), b = scramble(c, k), wide = (c->size + 3) / 4,
		distance = a > b ? a - b : b - a;

	if (i == k)
		return 0;
	switch (rule) {
	case SCRAMBLED_RING: return distance == 1 || distance == c->size - 1;
	case CLIQUES_IN_TURN: return i % clusters == k % clusters;
	case SCRAMBLED_GRID: return distance == wide || (distance == 1 && a / wide == b / wide) ?
		2 : 0;
	case RANDOM: return (i * 7919 + k * 7919 + i * k * 31) % 13 < 4 ? 1 + (i + k) % 5 : 0;
	case STAR: return i == 0 || k == 0;
	default: return 0;
	}
}

struct placed {
	struct check *c;
	int rule;
	int clusters;
	int *cluster;			/* of each rank of MPI_COMM_WORLD */
	int even;			/* all clusters have as many ranks */
};

/* Weight of the edges between clusters, if node i is where rank at[i] of MPI_COMM_WORLD is. */
static int
cut(const struct placed *p, const int *at)
{
	int sum = 0;

	for (int i = 0; i < p->c->size; i++)
		for (int k = i + 1; k < p->c->size; k++)
			if (p->cluster[at ? at[i] : i] != p->cluster[at ? at[k] : k])
				sum += weight(p->c, p->rule, p->clusters, i, k);
	return sum;
}

/* The new ranks are the old ones in another order, which is no worse. */
static void
check_order(const struct placed *p, MPI_Comm comm, int say)
{
	int *at = malloc((size_t)p->c->size * sizeof(int)),
		*seen = calloc((size_t)p->c->size, sizeof(int)), before = cut(p, NULL), after;

	MPI_Allgather(&p->c->rank, 1, MPI_INT, at, 1, MPI_INT, comm);
	for (int i = 0; i < p->c->size; i++)
		CHECK(p->c, at[i] >= 0 && at[i] < p->c->size && !seen[at[i]]++);
	after = cut(p, at);
	CHECK(p->c, after <= before);
	if (p->rule == CLIQUES_IN_TURN && p->even)
		CHECK(p->c, after == 0);
	if (say && p->c->rank == 0)
		printf("%s: between clusters %d, was %d\n", rule_names[p->rule], after, before);
	free(at);
	free(seen);
}

/* This rank's neighbours are those of the node that it has, in the order of their numbers. */
static void
check_neighbours(const struct placed *p, MPI_Comm comm, const int *with_weights)
{
	int n = p->c->size, in, out, weighted, me, *room = malloc(4 * (size_t)n * sizeof(int)),
		at = 0;

	MPI_Comm_rank(comm, &me);
	MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
	CHECK(p->c, in == out && weighted == (with_weights != NULL));
	MPI_Dist_graph_neighbors(comm, n, room, room + n, n, room + 2 * n, room + 3 * n);
	for (int k = 0; k < n; k++) {
		int w = weight(p->c, p->rule, p->clusters, me, k);

		if (w == 0)
			continue;
		CHECK(p->c, at < in && room[at] == k && room[2 * n + at] == k);
		CHECK(p->c, with_weights == NULL || (room[n + at] == w && room[3 * n + at] == w));
		at++;
	}
	CHECK(p->c, at == in);
	free(room);
}

/* All three ways to make it. */
static void
make_graphs(const struct placed *p, int say)
{
	struct check *c = p->c;
	int n = c->size, *index = malloc((size_t)n * sizeof(int)),
		*edges = malloc((size_t)n * (size_t)n * sizeof(int));
	int *weights = malloc((size_t)n * sizeof(int)), total = 0, mine, first, newrank, me;
	MPI_Comm comm;

	for (int i = 0; i < n; i++) {
		for (int k = 0; k < n; k++)
			if (weight(c, p->rule, p->clusters, i, k))
				edges[total++] = k;
		index[i] = total;
	}
	first = c->rank > 0 ? index[c->rank - 1] : 0;
	mine = index[c->rank] - first;
	for (int i = 0; i < mine; i++)
		weights[i] = weight(c, p->rule, p->clusters, c->rank, edges[first + i]);
	MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, 1, &comm);
	MPI_Graph_map(MPI_COMM_WORLD, n, index, edges, &newrank);
	MPI_Comm_rank(comm, &me);
	CHECK(c, newrank == me);
	if (p->rule != SCRAMBLED_GRID && p->rule != RANDOM)
		check_order(p, comm, 0);	/* it knows no weights */
	MPI_Comm_free(&comm);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, mine, edges + first, weights, mine,
		edges + first, weights, MPI_INFO_NULL, 1, &comm);
	check_order(p, comm, say);
	check_neighbours(p, comm, weights);
	MPI_Comm_free(&comm);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, mine, edges + first, MPI_UNWEIGHTED, mine,
		edges + first, MPI_UNWEIGHTED, MPI_INFO_NULL, 1,
		&comm);
	check_neighbours(p, comm, NULL);
	MPI_Comm_free(&comm);
	MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &c->rank, &mine, edges + first, weights,
		MPI_INFO_NULL, 1, &comm);
	check_order(p, comm, 0);
	MPI_Comm_free(&comm);
	free(index);
	free(edges);
	free(weights);
}

static void
reordered(struct check *c, int say)
{
	struct placed p = {.c = c, .cluster = malloc((size_t)c->size * sizeof(int)), .even = 1};
	int here, ranks, most, least;
	MPI_Comm together;

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &together);
	MPI_Allreduce(&c->rank, &here, 1, MPI_INT, MPI_MIN, together);
	MPI_Comm_size(together, &ranks);
	MPI_Comm_free(&together);
	MPI_Allgather(&here, 1, MPI_INT, p.cluster, 1, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < c->size; i++)
		p.clusters += p.cluster[i] == i;
	MPI_Allreduce(&ranks, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	MPI_Allreduce(&ranks, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	p.even = most == least;
	for (p.rule = 0; p.rule < RULES; p.rule++)
		make_graphs(&p, say);
	free(p.cluster);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	dimensions(&c);
	grid(&c, 0);
	grid(&c, 1);
	grids(&c);
	graph(&c);
	distributed(&c);
	reordered(&c, argc > 1);
	return check_end(&c);
}
