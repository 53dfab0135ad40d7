/* SPDX-License-Identifier: MIT
 *
 * Chapter topologies: distributed graphs, of which each rank knows its own neighbours.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi_impl.h>
#include <mpi/api/newcomm.h>
#include <mpi/api/place.h>
#include <mpi/coll/coll.h>
#include <mpi/core/topology.h>

/*
 * The communicator of all ranks of c, in the order of member_of unless that is NULL, with these
 * neighbours.
 */
static struct newcomm
with_neighbours(struct mpi_rank *self, struct comm *c, const int *member_of,
	const struct adjacency *near)
{
	struct newcomm n = newcomm_group(self, c, member_of
		? place_members(self, c, c->size, member_of) : mpi_group_hold(c->group));

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

/* Edges that some rank has told of. */
struct edges {
	struct place_edge *of;
	int count;
	bool weighted;
	bool all;			/* also those that are not at this rank */
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
	return n <= INT_MAX ? check_neighbours(c, (int)n, a->destinations, a->weights) :
		MPI_ERR_ARG;
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
			e->of[at] = (struct place_edge){a->sources[i], a->destinations[at],
				a->weights != MPI_UNWEIGHTED && a->weights != MPI_WEIGHTS_EMPTY ?
				a->weights[at] : 0};
	return true;
}

/* What each rank says before the edges themselves go around. */
struct told_count {
	int32_t edges;			/* -1: it has no memory */
	int32_t weighted;
};

/*
 * Everybody hears of all edges, rank by rank, and keeps its own. `mine` starts empty with room for
 * none.
 */
static int
hear(struct mpi_rank *self, struct comm *c, const struct edges *ours,
	const struct told_count *counts, struct edges *mine)
{
	int room = 0, err = MPI_SUCCESS;

	for (int r = 0; err == MPI_SUCCESS && r < c->size; r++) {
		size_t n = (size_t)counts[r].edges;
		struct place_edge *heard = n == 0 ? NULL : r == c->rank ? ours->of :
			malloc(n * sizeof(*heard));

		if (n == 0)
			continue;
		if (heard == NULL)
			return MPI_ERR_NO_MEM;
		err = mpi_bcast(self, c, heard, n * sizeof(*heard), r);
		for (size_t i = 0; err == MPI_SUCCESS && i < n; i++) {
			if (!mine->all && heard[i].from != c->rank && heard[i].to != c->rank)
				continue;
			if (mine->count == room) {
				struct place_edge *more = realloc(mine->of,
					(size_t)(room = 2 * room + 8) * sizeof(*more));

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
	struct told_count *counts = malloc((size_t)c->size * sizeof(*counts)), own = {ours->of
		? ours->count : -1, ours->weighted};
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

/*
 * Which member gets which node; the same on all ranks, or an error on all. NULL in *member_of:
 * nothing changes.
 */
static int
place(struct mpi_rank *self, struct comm *c, const struct edges *all, int **member_of)
{
	int *of = malloc((size_t)c->size * sizeof(*of)), ok, err;
	bool same = true, weighted = false;

	/* as the edges say, which all ranks have heard alike */
	for (int i = 0; i < all->count; i++)
		weighted |= all->of[i].weight != 0;
	for (int i = 0; !weighted && i < all->count; i++)
		all->of[i].weight = 1;
	ok = of != NULL && place_graph(self, c, c->size, &(struct place_edges){all->of, all->count},
		of);
	err = mpi_allreduce(self, c, &(struct reduction){&ok, &ok, 1, MPI_INT, MPI_MIN});
	if (err == MPI_SUCCESS && !ok)
		err = MPI_ERR_NO_MEM;
	for (int i = 0; err == MPI_SUCCESS && i < c->size; i++)
		same &= of[i] == i;
	if (err != MPI_SUCCESS || same) {
		free(of);
		of = NULL;
	}
	*member_of = of;
	return err;
}

static int
node_of(const int *member_of, int member)
{
	int node = 0;

	while (member_of != NULL && member_of[node] != member)
		node++;
	return member_of ? node : member;
}

/* How many neighbours a rank hands over, and with what. */
struct handed {
	int32_t in;
	int32_t out;
	int32_t source_weights;
	int32_t destination_weights;
};

/* What this rank has goes to the one that gets its node, and that of its new node comes. */
static int
pass(struct mpi_rank *self, struct comm *c, const int *member_of, const struct span spans[2])
{
	struct sched *s = mpi_sched_new(self, c);

	if (s == NULL)
		return MPI_ERR_NO_MEM;
	mpi_sched_send(s, spans[0], member_of[c->rank]);
	mpi_sched_recv(s, spans[1], node_of(member_of, c->rank));
	return mpi_sched_run(s);
}

static int *
append(int *to, const int *from, int n)
{
	if (from != NULL && n > 0)
		memcpy(to, from, (size_t)n * sizeof(*to));
	return from != NULL ? to + n : to;
}

static struct adjacency
unpacked(const struct handed *h, int *ints)
{
	struct adjacency near = {.in = h->in, .out = h->out, .sources = ints,
		.destinations = ints + h->in};

	ints += h->in + h->out;
	near.source_weights = h->source_weights ? ints : NULL;
	near.destination_weights = h->destination_weights ? ints + (h->source_weights ? h->in : 0) :
		NULL;
	return near;
}

static size_t
ints_of(const struct handed *h)
{
	return (size_t)h->in * (size_t)(1 + h->source_weights) +
		(size_t)h->out * (size_t)(1 + h->destination_weights);
}

/*
 * The neighbours of the new node, in the order in which they were given there; *memory holds them.
 */
static int
hand_over(struct mpi_rank *self, struct comm *c, const int *member_of, struct adjacency *near,
	int **memory)
{
	struct handed ours = {near->in, near->out, near->source_weights != NULL,
		near->destination_weights != NULL}, theirs;
	size_t out = ints_of(&ours) * sizeof(int), in;
	int err = pass(self, c, member_of, (struct span[]){span_bytes(&ours, sizeof(ours)),
		span_bytes(&theirs, sizeof(theirs))}), *packed, *at;

	if (err != MPI_SUCCESS)
		return err;
	packed = malloc(out + sizeof(int));
	in = ints_of(&theirs) * sizeof(int);
	*memory = malloc(in + sizeof(int));
	if (packed != NULL) {
		at = append(append(packed, near->sources, near->in), near->destinations, near->out);
		append(append(at, near->source_weights, near->in), near->destination_weights,
			near->out);
	}
	/* without memory the message is short, and too long, so that both ends see an error */
	err = pass(self, c, member_of, (struct span[]){span_bytes(packed, packed ? out : 0),
		span_bytes(*memory, *memory ? in : 0)});
	free(packed);
	if (err == MPI_SUCCESS && *memory == NULL)
		err = MPI_ERR_NO_MEM;
	if (err == MPI_SUCCESS)
		*near = unpacked(&theirs, *memory);
	return err;
}

/* The edges that leave this rank. False: no memory. */
static bool
leaving(const struct comm *c, const struct adjacency *near, struct edges *e)
{
	e->count = near->out;
	e->weighted = near->destination_weights != NULL;
	e->of = malloc((size_t)(e->count + 1) * sizeof(*e->of));
	for (int i = 0; e->of != NULL && i < e->count; i++)
		e->of[i] = (struct place_edge){c->rank, near->destinations[i], e->weighted
			? near->destination_weights[i] : 0};
	return e->of != NULL;
}

static struct newcomm
reordered(struct mpi_rank *self, struct comm *c, struct adjacency *near)
{
	struct edges ours = {0}, all = {.all = true};
	struct newcomm n = {NULL, MPI_SUCCESS};
	int *member_of = NULL, *memory = NULL;

	leaving(c, near, &ours);
	n.err = gather_edges(self, c, &ours, &all);
	if (n.err == MPI_SUCCESS)
		n.err = place(self, c, &all, &member_of);
	if (n.err == MPI_SUCCESS && member_of != NULL)
		n.err = hand_over(self, c, member_of, near, &memory);
	if (n.err == MPI_SUCCESS)
		n = with_neighbours(self, c, member_of, near);
	free(memory);
	free(member_of);
	free(ours.of);
	free(all.of);
	return n;
}

int
impl_Dist_graph_create_adjacent(struct call *call, const struct args_Dist_graph_create_adjacent *a)
{
	struct comm *c = a->comm_old;
	struct adjacency near = {a->indegree, a->outdegree, (int *)(uintptr_t)a->sources,
		(int *)(uintptr_t)a->destinations,
		kept(a->sourceweights), kept(a->destweights)};
	int err = mpi_comm_is_inter(c) ? MPI_ERR_COMM :
		check_neighbours(c, a->indegree, a->sources, a->sourceweights);
	struct newcomm n;

	if (err == MPI_SUCCESS)
		err = check_neighbours(c, a->outdegree, a->destinations, a->destweights);
	/* a side without neighbours may have no weights */
	if (err == MPI_SUCCESS && (near.source_weights == NULL) != (near.destination_weights ==
			NULL) && a->indegree && a->outdegree)
		err = MPI_ERR_ARG;
	if (err != MPI_SUCCESS)
		return err;
	n = a->reorder ? reordered(call->self, c, &near) :
		with_neighbours(call->self, c, NULL, &near);
	return newcomm_of(call->self, c, n, a->comm_dist_graph);
}

int
impl_Dist_graph_create(struct call *call, const struct args_Dist_graph_create *a)
{
	struct edges ours = {0}, mine = {.all = a->reorder != 0};
	struct comm *c = a->comm_old;
	struct newcomm n = {NULL, MPI_ERR_NO_MEM};
	struct adjacency near = {0};
	int err = check_edges(a, &ours.count), *member_of = NULL;

	if (err != MPI_SUCCESS)
		return err;
	told(a, &ours);
	err = gather_edges(call->self, c, &ours, &mine);
	if (err == MPI_SUCCESS && a->reorder)
		err = place(call->self, c, &mine, &member_of);
	if (err == MPI_SUCCESS && neighbours_of(&mine, node_of(member_of, c->rank), &near))
		n = with_neighbours(call->self, c, member_of, &near);
	else if (err != MPI_SUCCESS)
		n.err = err;
	free(near.sources);
	free(member_of);
	free(ours.of);
	free(mine.of);
	return newcomm_of(call->self, c, n, a->comm_dist_graph);
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
distgraph_give(int max, int n, const int ranks[], const int *weights, int out[], int *out_weights)
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
		err = distgraph_give(a->maxindegree, near->in, near->sources, near->source_weights,
			a->sources, a->sourceweights);
	if (err == MPI_SUCCESS)
		err = distgraph_give(a->maxoutdegree, near->out, near->destinations,
			near->destination_weights, a->destinations, a->destweights);
	return err;
}
