/* SPDX-License-Identifier: MIT
 *
 * Placing graphs: regions of as many nodes as a cluster has ranks are grown one after the other,
 * each time by the node that is tied to the region most, and then nodes change places as long as
 * that makes the edges between clusters lighter (as Kernighan and Lin do it, one pair at a time).
 * The own order is refined likewise; the best of all stays, the own order itself unless another is
 * better. O(n^2), for what begins a program.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi/api/place.h>
#include <mpi/transport/transport.h>

#define PASSES 8
/* nodes up to which places are changed: that takes O(n^2) each pass */
#define REFINED_MAX 1024

struct graph_placing {
	int n;
	int clusters;
	int *own;			/* cluster of each member */
	int *first;			/* of a node's edges in `edges`, and the end */
	struct tie *ties;
	/* scratch: of a node with each cluster; of each node with the region */
	int64_t *link;
	int64_t *loose;			/* scratch: of each node with nodes that are not placed */
};

/* An edge, seen from one of its ends. */
struct tie {
	int node;
	int64_t weight;
};

/* Clusters are numbered in the order in which they first appear. */
static void
find_clusters(struct graph_placing *p, struct mpi_rank *self, const struct comm *c)
{
	for (int i = 0; i < p->n; i++) {
		uint32_t cluster = transport_cluster_of(self,
			(uint32_t)mpi_group_world(c->group, i));
		int k = 0;

		while (k < i && transport_cluster_of(self,
			(uint32_t)mpi_group_world(c->group, k)) != cluster)
			k++;
		p->own[i] = k < i ? p->own[k] : p->clusters++;
	}
}

static bool
is_between(const struct place_edge *e)
{
	return e->from != e->to && e->weight > 0;
}

/* Each edge at both its ends. */
static void
tie(struct graph_placing *p, const struct place_edges *edges)
{
	for (int i = 0; i < edges->count; i++) {
		if (is_between(&edges->of[i])) {
			p->first[edges->of[i].from + 1]++;
			p->first[edges->of[i].to + 1]++;
		}
	}
	for (int i = 0; i < p->n; i++)
		p->first[i + 1] += p->first[i];
	for (int i = 0; i < edges->count; i++) {
		const struct place_edge *e = &edges->of[i];

		if (!is_between(e))
			continue;
		p->ties[p->first[e->from]++] = (struct tie){e->to, e->weight};
		p->ties[p->first[e->to]++] = (struct tie){e->from, e->weight};
	}
	memmove(p->first + 1, p->first, (size_t)p->n * sizeof(int));
	p->first[0] = 0;
}

/* Weight of the edges between clusters, twice. */
static int64_t
cut_of(const struct graph_placing *p, const int *at)
{
	int64_t cut = 0;

	for (int i = 0; i < p->n; i++)
		for (int k = p->first[i]; k < p->first[i + 1]; k++)
			cut += at[i] != at[p->ties[k].node] ? p->ties[k].weight : 0;
	return cut;
}

/* The node that the region wants next: tied to it most, then to others least. */
static int
next_node(const struct graph_placing *p, const int *at)
{
	int best = -1;

	for (int i = 0; i < p->n; i++) {
		if (at[i] >= 0)
			continue;
		if (best < 0 || p->link[i] > p->link[best] || (p->link[i] == p->link[best] &&
				p->loose[i] < p->loose[best]))
			best = i;
	}
	return best;
}

static void
grow(struct graph_placing *p, int *at)
{
	for (int i = 0; i < p->n; i++) {
		at[i] = -1;
		p->loose[i] = 0;
		for (int k = p->first[i]; k < p->first[i + 1]; k++)
			p->loose[i] += p->ties[k].weight;
	}
	for (int cluster = 0; cluster < p->clusters; cluster++) {
		memset(p->link, 0, (size_t)p->n * sizeof(*p->link));
		for (int member = 0; member < p->n; member++) {
			int node = p->own[member] == cluster ? next_node(p, at) : -1;

			if (node < 0)
				continue;
			at[node] = cluster;
			for (int k = p->first[node]; k < p->first[node + 1]; k++) {
				p->link[p->ties[k].node] += p->ties[k].weight;
				p->loose[p->ties[k].node] -= p->ties[k].weight;
			}
		}
	}
}

/*
 * What a node is tied to another cluster more than to its own, not counting the node `but`; which
 * is in that cluster.
 */
static int64_t
pull(const struct graph_placing *p, const int *at, int node, int but)
{
	int64_t sum = 0;

	for (int k = p->first[node]; k < p->first[node + 1]; k++) {
		int other = p->ties[k].node;

		if (other != but)
			sum += at[other] == at[but] ? p->ties[k].weight : at[other] == at[node]
				? -p->ties[k].weight : 0;
	}
	return sum;
}

static bool
is_at_border(const struct graph_placing *p, const int *at, int node)
{
	for (int k = p->first[node]; k < p->first[node + 1]; k++)
		if (at[p->ties[k].node] != at[node])
			return true;
	return false;
}

/* Nodes change places where that is better. */
static void
refine(const struct graph_placing *p, int *at)
{
	bool better = p->n <= REFINED_MAX;

	for (int pass = 0; better && pass < PASSES; pass++) {
		better = false;
		for (int u = 0; u < p->n; u++) {
			if (!is_at_border(p, at, u))
				continue;
			for (int v = 0; v < p->n; v++) {
				int was = at[u];

				if (was == at[v] || pull(p, at, u, v) + pull(p, at, v, u) <= 0)
					continue;
				at[u] = at[v];
				at[v] = was;
				better = true;
			}
		}
	}
}

/* Which member gets which node: its own, if that is to be in its cluster. */
static void
hand_out(const struct graph_placing *p, const int *at, int *member_of)
{
	for (int i = 0; i < p->n; i++)
		member_of[i] = at[i] == p->own[i] ? i : -1;
	for (int cluster = 0; cluster < p->clusters; cluster++) {
		int member = 0;

		for (int i = 0; i < p->n; i++) {
			if (at[i] != cluster || member_of[i] >= 0)
				continue;
			while (p->own[member] != cluster || at[member] == cluster)
				member++;
			member_of[i] = member++;
		}
	}
}

/* The best of the own order and of two others, in `at`. */
static void
choose(struct graph_placing *p, int *at, int *other)
{
	memcpy(at, p->own, (size_t)p->n * sizeof(int));
	memcpy(other, p->own, (size_t)p->n * sizeof(int));
	refine(p, other);
	if (cut_of(p, other) < cut_of(p, at))
		memcpy(at, other, (size_t)p->n * sizeof(int));
	grow(p, other);
	refine(p, other);
	if (cut_of(p, other) < cut_of(p, at))
		memcpy(at, other, (size_t)p->n * sizeof(int));
}

bool
place_graph(struct mpi_rank *self, const struct comm *c, int nodes, const struct place_edges *edges,
	int *member_of)
{
	size_t n = (size_t)nodes + 1;
	struct graph_placing p = {.n = nodes, .own = calloc(4 * n, sizeof(int)),
		.link = malloc(2 * n * sizeof(int64_t)),
		.ties = malloc((2 * (size_t)edges->count + 1) * sizeof(struct tie))};
	bool room = p.own != NULL && p.link != NULL && p.ties != NULL;

	if (room) {
		p.first = p.own + n;
		p.loose = p.link + n;
		find_clusters(&p, self, c);
		memcpy(p.first + n, p.own, (size_t)nodes * sizeof(int));
		if (p.clusters > 1 && p.clusters < nodes) {
			tie(&p, edges);
			choose(&p, p.first + n, p.first + 2 * n);
		}
		hand_out(&p, p.first + n, member_of);
	}
	free(p.own);
	free(p.link);
	free(p.ties);
	return room;
}

struct group *
place_members(struct mpi_rank *self, const struct comm *c, int nodes, const int *member_of)
{
	int32_t *world = malloc(((size_t)nodes + 1) * sizeof(*world));

	if (world == NULL)
		return NULL;
	for (int i = 0; i < nodes; i++)
		world[i] = mpi_group_world(c->group, member_of[i]);
	return mpi_group_of(self, world, nodes);
}
