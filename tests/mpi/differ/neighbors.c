/* SPDX-License-Identifier: MIT
 *
 * Neighbourhood collectives on Cartesian, general and distributed graphs, in all forms.
 */
#include "flight.h"

enum kind { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, KINDS };

#define DEGREE 12

struct neighbors {
	MPI_Comm comm;
	int rank;
	int sources[DEGREE];
	int targets[DEGREE];
	int ins;
	int outs;
};

static void
on_grid(struct neighbors *n, struct differ *d, struct dice *dice)
{
	int dims[3] = {0}, periods[3], count = 1 + below(dice, 3);

	MPI_Dims_create(d->size, count, dims);
	for (int i = 0; i < count; i++)
		/*
		 * where both neighbours are one process, libraries disagree about which of two
		 * messages is which
		 */
		periods[i] = dims[i] > 2 && below(dice, 2);
	MPI_Cart_create(MPI_COMM_WORLD, count, dims, periods, 0, &n->comm);
	for (int i = 0; i < count; i++) {
		int before, after;

		MPI_Cart_shift(n->comm, i, 1, &before, &after);
		n->sources[n->ins++] = before;
		n->sources[n->ins++] = after;
	}
	n->outs = n->ins;
	memcpy(n->targets, n->sources, sizeof(n->targets));
}

/* Edges i -> j, as often as this says; the same for both. */
static int
edges(uint64_t seed, int i, int j, int most)
{
	return (int)(mix(mix(seed, (uint64_t)i), (uint64_t)j) % 3) % (most + 1);
}

static void
on_edges(struct neighbors *n, struct differ *d, struct dice *dice)
{
	uint64_t seed = dice->state;
	int most = 1 + below(dice, 2), weighted;

	for (int j = 0; j < d->size; j++) {
		for (int e = 0; e < edges(seed, d->rank, j, most) && n->outs < DEGREE; e++)
			n->targets[n->outs++] = j;
		for (int e = 0; e < edges(seed, j, d->rank, most) && n->ins < DEGREE; e++)
			n->sources[n->ins++] = j;
	}
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n->ins, n->sources, MPI_UNWEIGHTED, n->outs,
		n->targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
		&n->comm);
	MPI_Dist_graph_neighbors_count(n->comm, &n->ins, &n->outs, &weighted);
	sum_number(&d->sum, n->ins * 100 + n->outs);
	MPI_Dist_graph_neighbors(n->comm, n->ins, n->sources, MPI_UNWEIGHTED, n->outs, n->targets,
		MPI_UNWEIGHTED);
}

/* A symmetric graph: neighbours at some distances in a ring. */
static void
on_ring(struct neighbors *n, struct differ *d, struct dice *dice)
{
	int index[DEGREE], list[2 * DEGREE], step = 1 + below(dice, d->size > 2 ? d->size - 1 : 1),
		k = 0;

	for (int i = 0; i < d->size; i++) {
		int one = (i + step) % d->size, other = (i + d->size - step) % d->size;

		list[k++] = one;
		if (other != one)
			list[k++] = other;
		index[i] = k;
	}
	MPI_Graph_create(MPI_COMM_WORLD, d->size, index, list, 0, &n->comm);
	MPI_Graph_neighbors_count(n->comm, d->rank, &n->ins);
	MPI_Graph_neighbors(n->comm, d->rank, n->ins, n->sources);
	n->outs = n->ins;
	memcpy(n->targets, n->sources, sizeof(n->targets));
}

/*
 * Elements from one to another: all edges between the same two carry the same number, in the same
 * shape.
 */
static int
elements(uint64_t seed, int kind, int from, int to)
{
	int most = (int)(mix(seed, 3) % 8) * (int)(mix(seed, 4) % 60);

	if (from == MPI_PROC_NULL || to == MPI_PROC_NULL)
		return (int)(mix(seed, 6) % 3);
	if (kind == ALLGATHERV)
		to = 999;
	return kind == ALLGATHER || kind == ALLTOALL ? most :
		(int)(mix(mix(seed, (uint64_t)from), (uint64_t)to) % (uint64_t)(most + 1));
}

static void
draw_side(const struct neighbors *n, struct flight *f, uint64_t seed, int sends)
{
	int count = sends ? n->outs : n->ins, counts[DEGREE + 1] = {0},
		vector = f->kind == ALLGATHERV || f->kind == ALLTOALLV;
	uint64_t shapes[DEGREE + 1] = {seed};
	struct blocks_plan plan = {.counts = counts, .shapes = shapes,
		.where = mix(seed, (uint64_t)(n->rank + 100 * sends))};

	plan.n = sends && (f->kind == ALLGATHER || f->kind == ALLGATHERV) ? 1 : count;
	plan.layout = f->kind == ALLTOALLW ? BYTES : vector ? VECTOR : REGULAR;
	plan.seed = mix(plan.where, 1);
	for (int i = 0; i < plan.n; i++) {
		int peer = f->kind == ALLGATHERV && sends ? 999 : sends ? n->targets[i] :
			n->sources[i];
		int from = sends ? n->rank : peer, to = sends ? peer : n->rank;

		counts[i] = elements(seed, f->kind, from, to);
		if (f->kind == ALLGATHER || f->kind == ALLTOALL)
			counts[i] = elements(seed, f->kind, 0, 0);
		if (f->kind == ALLTOALLW)
			shapes[i] = mix(mix(seed, (uint64_t)from), (uint64_t)to + 1);
	}
	if (plan.n == 0)
		counts[0] = elements(seed, ALLGATHER, 0, 0);
	blocks_make(sends ? &f->out : &f->in, &plan);
	f->out.counts[0] = plan.n == 0 && sends ? counts[0] : f->out.counts[0];
}

static void
start(struct flight *f)
{
	struct blocks *o = &f->out, *i = &f->in;
	void *out = o->space.at, *in = i->space.at;

	switch (f->kind) {
	case ALLGATHER:
		CALL(f, Neighbor_allgather, Ineighbor_allgather, out, o->counts[0], o->types[0], in,
			i->counts[0], i->types[0]);
		break;
	case ALLGATHERV:
		CALL(f, Neighbor_allgatherv, Ineighbor_allgatherv, out, o->counts[0], o->types[0],
			in, i->counts, i->at, i->types[0]);
		break;
	case ALLTOALL:
		CALL(f, Neighbor_alltoall, Ineighbor_alltoall, out, o->counts[0], o->types[0], in,
			i->counts[0], i->types[0]);
		break;
	case ALLTOALLV:
		CALL(f, Neighbor_alltoallv, Ineighbor_alltoallv, out, o->counts, o->at, o->types[0],
			in, i->counts, i->at, i->types[0]);
		break;
	default:
		CALL(f, Neighbor_alltoallw, Ineighbor_alltoallw, out, o->counts, o->far_at,
			o->types, in, i->counts, i->far_at, i->types);
		break;
	}
}

static void
call_one(struct differ *d, const struct neighbors *n, struct dice *dice)
{
	struct flight f = {.comm = n->comm, .request = MPI_REQUEST_NULL};
	uint64_t seed;
	MPI_Status s;

	f.kind = below(dice, KINDS);
	f.form = (enum form_of_call)below(dice, FORMS);
	seed = dice->state;
	draw_side(n, &f, seed, 1);
	draw_side(n, &f, seed, 0);
	SAY(d, "neighbors: kind %d form %d, %d in, %d out, %d elements first", f.kind, f.form,
		n->ins, n->outs, f.out.counts[0]);
	start(&f);
	if (f.request != MPI_REQUEST_NULL)
		d->errors += finish_collectives(d, 1, &f.request, &s);
	if (f.request != MPI_REQUEST_NULL)
		MPI_Request_free(&f.request);
	space_sum(&f.in.space, &d->sum);
	space_sum(&f.out.space, &d->sum);
	SAY(d, "neighbors: sum %llx", (unsigned long long)d->sum.value);
	blocks_drop(&f.in);
	blocks_drop(&f.out);
}

void
step_neighbors(struct differ *d, struct dice *dice)
{
	struct neighbors n = {.rank = d->rank};
	int calls = 1 + below(dice, 4);

	/* more edges than there is room for */
	if (d->size > DEGREE / 2)
		return;
	switch (below(dice, 3)) {
	case 0: on_grid(&n, d, dice); break;
	case 1: on_edges(&n, d, dice); break;
	default: on_ring(&n, d, dice); break;
	}
	for (int i = 0; i < calls && i < d->most; i++) {
		struct dice own = dice_of(dice->state, (uint64_t)i, 800);

		call_one(d, &n, &own);
	}
	MPI_Comm_free(&n.comm);
}
