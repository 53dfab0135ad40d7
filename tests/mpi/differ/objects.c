/* SPDX-License-Identifier: MIT
 *
 * Groups, communicators and topologies made in every way: who is in them, in which order, and what
 * they answer.
 */
#include "differ.h"

#define GROUPS 6
#define MEMBERS 64

/* Who of the world is in a group, in its order. */
static void
sum_group(struct differ *d, MPI_Group g)
{
	MPI_Group world;
	int n, in[MEMBERS], out[MEMBERS];

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_size(g, &n);
	sum_number(&d->sum, n);
	n = n < MEMBERS ? n : MEMBERS;
	for (int i = 0; i < n; i++)
		in[i] = i;
	MPI_Group_translate_ranks(g, n, in, world, out);
	sum_bytes(&d->sum, out, (size_t)n * sizeof(int));
	MPI_Group_rank(g, &n);
	sum_number(&d->sum, n);
	MPI_Group_free(&world);
}

static MPI_Group
some_of(struct differ *d, struct dice *dice, MPI_Group from)
{
	int n, k = 0, ranks[MEMBERS], range[1][3];
	MPI_Group g = MPI_GROUP_NULL;

	MPI_Group_size(from, &n);
	(void)d;
	for (int i = 0; i < n && i < MEMBERS; i++)
		if (below(dice, 3) > 0)
			ranks[k++] = i;
	for (int i = k - 1; i > 0; i--) {
		int j = below(dice, i + 1), other = ranks[i];

		ranks[i] = ranks[j];
		ranks[j] = other;
	}
	range[0][0] = n > 0 ? below(dice, n) : 0;
	range[0][1] = n > 0 ? below(dice, n) : 0;
	range[0][2] = (range[0][0] <= range[0][1] ? 1 : -1) * (1 + below(dice, 2));
	switch (below(dice, 4)) {
	case 0: MPI_Group_incl(from, k, ranks, &g); break;
	case 1: MPI_Group_excl(from, k, ranks, &g); break;
	case 2: MPI_Group_range_incl(from, n > 0, range, &g); break;
	default: MPI_Group_range_excl(from, n > 0, range, &g); break;
	}
	return g;
}

static void
drop_group(MPI_Group *g)
{
	if (*g != MPI_GROUP_EMPTY)
		MPI_Group_free(g);
}

void
step_groups(struct differ *d, struct dice *dice)
{
	MPI_Group g[GROUPS + 3];
	int compared, one;

	MPI_Comm_group(MPI_COMM_WORLD, &g[0]);
	for (int i = 1; i < GROUPS; i++)
		g[i] = some_of(d, dice, g[below(dice, i)]);
	one = below(dice, GROUPS);
	MPI_Group_union(g[one], g[below(dice, GROUPS)], &g[GROUPS]);
	one = below(dice, GROUPS + 1);
	MPI_Group_intersection(g[one], g[below(dice, GROUPS)], &g[GROUPS + 1]);
	one = below(dice, GROUPS + 2);
	MPI_Group_difference(g[one], g[below(dice, GROUPS)], &g[GROUPS + 2]);
	for (int i = 0; i < GROUPS + 3; i++) {
		sum_group(d, g[i]);
		MPI_Group_compare(g[i], g[below(dice, GROUPS + 3)], &compared);
		sum_number(&d->sum, compared);
	}
	for (int i = 0; i < GROUPS + 3; i++)
		drop_group(&g[i]);
}

static MPI_Comm
make_comm(struct differ *d, struct dice *dice, MPI_Comm from)
{
	uint64_t seed = dice->state;
	MPI_Comm made = MPI_COMM_NULL;
	MPI_Request r;
	MPI_Group all, some;
	int kind = below(dice, 6), rank, member;

	MPI_Comm_rank(from, &rank);
	switch (kind) {
	case 0: MPI_Comm_dup(from, &made); break;
	case 1:
		MPI_Comm_idup(from, &made, &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		break;
	case 2:
	case 3: {
		int color = (int)(mix(seed, (uint64_t)rank) % 4);

		MPI_Comm_split(from, color == 3 ? MPI_UNDEFINED : color,
			(int)(mix(seed, (uint64_t)rank + 50) % 4), &made);
		break;
	}
	default:
		MPI_Comm_group(from, &all);
		some = some_of(d, dice, all);
		MPI_Group_rank(some, &member);
		if (kind == 4)
			MPI_Comm_create(from, some, &made);
		else if (member != MPI_UNDEFINED)
			MPI_Comm_create_group(from, some, 7, &made);
		drop_group(&some);
		MPI_Group_free(&all);
		break;
	}
	return made;
}

/* What members tell one another through it. */
static void
try_comm(struct differ *d, MPI_Comm comm)
{
	int n, rank, all[MEMBERS] = {0}, mine = d->rank * 3 + 1, scan = 0;
	MPI_Group g;

	MPI_Comm_size(comm, &n);
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_group(comm, &g);
	sum_group(d, g);
	MPI_Group_free(&g);
	if (n > MEMBERS)
		return;
	MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm);
	MPI_Scan(&mine, &scan, 1, MPI_INT, MPI_SUM, comm);
	sum_bytes(&d->sum, all, sizeof(all));
	sum_number(&d->sum, scan);
}

/* The two halves of a communicator, joined by one between them and merged again. */
static void
try_between(struct differ *d, MPI_Comm comm, struct dice *dice)
{
	int n, rank, compared, high = below(dice, 2);
	MPI_Comm half, between, merged, copy;

	MPI_Comm_size(comm, &n);
	MPI_Comm_rank(comm, &rank);
	if (n < 2)
		return;
	MPI_Comm_split(comm, rank < n / 2, 0, &half);
	MPI_Intercomm_create(half, 0, comm, rank < n / 2 ? n / 2 : 0, 9, &between);
	MPI_Comm_dup(between, &copy);
	MPI_Comm_compare(between, copy, &compared);
	sum_number(&d->sum, compared);
	MPI_Comm_remote_size(copy, &compared);
	sum_number(&d->sum, compared);
	MPI_Intercomm_merge(copy, (rank < n / 2) == high, &merged);
	try_comm(d, merged);
	MPI_Comm_compare(merged, comm, &compared);
	sum_number(&d->sum, compared);
	MPI_Comm_free(&merged);
	MPI_Comm_free(&copy);
	MPI_Comm_free(&between);
	MPI_Comm_free(&half);
}

void
step_comms(struct differ *d, struct dice *dice)
{
	const struct place *p = &d->places[below(dice, PLACES - 1)];
	struct dice own = dice_of(dice->state, (uint64_t)p->salt, 1);
	MPI_Comm comm, next;
	int compared;

	if (p->comm == MPI_COMM_NULL)
		return;
	comm = make_comm(d, &own, p->comm);
	if (comm == MPI_COMM_NULL)
		return;
	/* parts that exist side by side do the same from here on */
	own = dice_of(dice->state, 2, 2);
	MPI_Comm_compare(p->comm, comm, &compared);
	sum_number(&d->sum, compared);
	try_comm(d, comm);
	next = make_comm(d, &own, comm);
	if (next != MPI_COMM_NULL) {
		try_comm(d, next);
		MPI_Comm_free(&next);
	}
	try_between(d, comm, &own);
	MPI_Comm_free(&comm);
}

static void
try_cart(struct differ *d, struct dice *dice)
{
	int n = 1 + below(dice, 4), dims[4] = {0}, periods[4], remain[4], coords[4], rank, from, to,
		got[4], flags[4];
	MPI_Comm cart, part;

	for (int i = 0; i < n; i++) {
		dims[i] = below(dice, 4) == 0 ? 1 : 0;
		periods[i] = below(dice, 2);
		remain[i] = below(dice, 2);
	}
	dims[below(dice, n)] = 0;
	MPI_Dims_create(d->size, n, dims);
	sum_bytes(&d->sum, dims, sizeof(dims));
	MPI_Cart_create(MPI_COMM_WORLD, n, dims, periods, 0, &cart);
	for (int r = 0; r < d->size; r++) {
		MPI_Cart_coords(cart, r, n, coords);
		sum_bytes(&d->sum, coords, (size_t)n * sizeof(int));
		for (int i = 0; i < n; i++)
			coords[i] += periods[i] ? dims[i] * (below(dice, 5) - 2) : 0;
		MPI_Cart_rank(cart, coords, &rank);
		sum_number(&d->sum, rank);
	}
	for (int i = 0; i < n; i++) {
		MPI_Cart_shift(cart, i, below(dice, 9) - 4, &from, &to);
		sum_number(&d->sum, from);
		sum_number(&d->sum, to);
	}
	MPI_Cart_get(cart, n, got, flags, coords);
	sum_bytes(&d->sum, got, (size_t)n * sizeof(int));
	MPI_Cart_sub(cart, remain, &part);
	try_comm(d, part);
	MPI_Cartdim_get(part, &n);
	sum_number(&d->sum, n);
	MPI_Comm_free(&part);
	MPI_Comm_free(&cart);
}

static int
ascending(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Every rank names edges of anybody; the order of the neighbours is the library's affair. */
static void
try_edges(struct differ *d, struct dice *dice)
{
	struct dice own = dice_of(dice->state, (uint64_t)d->rank, 5);
	int sources[4], degrees[4], targets[12], k = 0, n = below(&own, 5), ins, outs, weighted,
		in[MEMBERS], out[MEMBERS];
	MPI_Comm comm;

	for (int i = 0; i < n; i++) {
		sources[i] = below(&own, d->size);
		degrees[i] = below(&own, 4);
		for (int j = 0; j < degrees[i]; j++)
			targets[k++] = below(&own, d->size);
	}
	MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, targets, MPI_UNWEIGHTED,
		MPI_INFO_NULL, 0, &comm);
	MPI_Dist_graph_neighbors_count(comm, &ins, &outs, &weighted);
	sum_number(&d->sum, ins * 1000 + outs * 2 + weighted);
	if (ins <= MEMBERS && outs <= MEMBERS) {
		MPI_Dist_graph_neighbors(comm, ins, in, MPI_UNWEIGHTED, outs, out, MPI_UNWEIGHTED);
		qsort(in, (size_t)ins, sizeof(int), ascending);
		qsort(out, (size_t)outs, sizeof(int), ascending);
		sum_bytes(&d->sum, in, (size_t)ins * sizeof(int));
		sum_bytes(&d->sum, out, (size_t)outs * sizeof(int));
	}
	MPI_Comm_free(&comm);
}

void
step_topologies(struct differ *d, struct dice *dice)
{
	try_cart(d, dice);
	try_edges(d, dice);
}
