/* SPDX-License-Identifier: MIT
 *
 * Subarrays and distributed arrays: built dimension by dimension from other types, which nobody
 * else sees.
 *
 * Source: MPI 5.0, 5.1.3 and 5.1.4.
 */
#include <mpi/core/derived.h>

/* A type that grows; `type` is held. */
struct growing {
	struct type *type;
	/* of what it stands for: all elements of the dimensions so far */
	MPI_Count extent;
	MPI_Count begin;		/* displacement of the part in it */
	int err;
};

/* Put the next type in the place of the last. */
static void
grow(struct growing *g, const struct type_arguments *a)
{
	struct type *new = NULL;

	if (g->err != MPI_SUCCESS)
		return;
	g->err = mpi_type_make(a, &new);
	if (g->err != MPI_SUCCESS)
		return;
	mpi_type_release(g->type);
	g->type = new;
}

static void
move_on(struct growing *g, MPI_Count begin, MPI_Count times)
{
	MPI_Count at;

	if (__builtin_mul_overflow(begin, g->extent, &at) ||
		__builtin_add_overflow(g->begin, at, &g->begin) ||
		__builtin_mul_overflow(g->extent, times, &g->extent))
		g->err = MPI_ERR_VALUE_TOO_LARGE;
}

/* Dimension number i, the fastest first. */
static int
dimension(const struct array_arguments *a, int i)
{
	return a->order == MPI_ORDER_C ? a->dimensions - 1 - i : i;
}

static void
grow_subarray(struct growing *g, const struct array_arguments *a)
{
	for (int i = 0; i < a->dimensions; i++) {
		int d = dimension(a, i);

		grow(g, &(struct type_arguments){.combiner = MPI_COMBINER_HVECTOR,
			.count = a->subsizes[d], .block = 1,
			.stride = g->extent, .old = g->type});
		move_on(g, a->starts[d], a->sizes[d]);
	}
}

static int
check_subarray(const struct array_arguments *a)
{
	for (int i = 0; i < a->dimensions; i++)
		if (a->sizes[i] < 1 || a->subsizes[i] < 1 || a->subsizes[i] > a->sizes[i] ||
			a->starts[i] < 0 ||
			a->starts[i] > a->sizes[i] - a->subsizes[i])
			return MPI_ERR_ARG;
	return MPI_SUCCESS;
}

/* How a dimension of a distributed array is dealt out: blocks of `block` elements in turn. */
struct deal {
	MPI_Count block;
	MPI_Count processes;
	MPI_Count mine;			/* coordinate of the process */
};

static MPI_Count
divide_up(MPI_Count a, MPI_Count b)
{
	return a / b + (a % b != 0);
}

/* The deal of dimension d, without `mine`. */
static int
deal_of(const struct array_arguments *a, int d, struct deal *deal)
{
	MPI_Count size = a->sizes[d], given = a->arguments[d];
	bool by_default = given == MPI_DISTRIBUTE_DFLT_DARG;

	deal->processes = a->grid[d];
	switch ((int)a->distributions[d]) {
	case MPI_DISTRIBUTE_NONE:
		deal->block = size;
		return deal->processes == 1 ? MPI_SUCCESS : MPI_ERR_ARG;
	case MPI_DISTRIBUTE_BLOCK:
		deal->block = by_default ? divide_up(size, deal->processes) : given;
		return deal->block > 0 && divide_up(size, deal->block) <= deal->processes ?
			MPI_SUCCESS : MPI_ERR_ARG;
	case MPI_DISTRIBUTE_CYCLIC:
		deal->block = by_default ? 1 : given;
		return deal->block > 0 ? MPI_SUCCESS : MPI_ERR_ARG;
	default:
		return MPI_ERR_ARG;
	}
}

static int
check_darray(const struct array_arguments *a)
{
	MPI_Count processes = 1;

	for (int i = 0; i < a->dimensions; i++) {
		struct deal deal;

		if (a->sizes[i] < 1 || a->grid[i] < 1 || deal_of(a, i, &deal) != MPI_SUCCESS)
			return MPI_ERR_ARG;
		processes *= a->grid[i];
		if (processes > a->size)
			return MPI_ERR_ARG;
	}
	return processes == a->size && a->rank >= 0 && a->rank < a->size ? MPI_SUCCESS :
		MPI_ERR_ARG;
}

/*
 * The elements of one process in a dimension of `size`: whole blocks at regular distances, and
 * perhaps a last one that is shorter.
 */
static void
grow_dealt(struct growing *g, const struct deal *deal, MPI_Count size)
{
	MPI_Count blocks = divide_up(size, deal->block), rounds = blocks / deal->processes +
		(deal->mine < blocks % deal->processes);
	MPI_Count last = rounds > 0 ? ((rounds - 1) * deal->processes + deal->mine) * deal->block :
		0;
	MPI_Count rest = rounds > 0 && size - last < deal->block ? size - last : 0, whole = rest > 0
		? rounds - 1 : rounds;
	MPI_Count extent = g->extent, lengths[] = {1, rest}, at[2];
	struct type *types[2] = {NULL, mpi_type_hold(g->type)};

	move_on(g, 0, size);
	if (g->err != MPI_SUCCESS) {
		mpi_type_release(types[1]);
		return;
	}
	at[0] = whole > 0 ? deal->mine * deal->block * extent : 0;
	at[1] = last * extent;
	grow(g, &(struct type_arguments){.combiner = MPI_COMBINER_HVECTOR, .count = whole,
		.block = deal->block,
		.stride = whole > 1 ? deal->processes * deal->block * extent : 0, .old = g->type});
	types[0] = g->type;
	grow(g, &(struct type_arguments){.combiner = MPI_COMBINER_STRUCT, .count = rest > 0 ? 2 : 1,
		.blocks = lengths,
		.displacements = at, .types = types, .old = g->type});
	grow(g, &(struct type_arguments){.combiner = MPI_COMBINER_RESIZED, .lb = 0,
		.extent = g->extent, .old = g->type});
	mpi_type_release(types[1]);
}

static void
grow_darray(struct growing *g, const struct array_arguments *a)
{
	for (int i = 0; i < a->dimensions; i++) {
		int d = dimension(a, i), below = 1;
		struct deal deal;

		deal_of(a, d, &deal);
		/* processes are numbered row by row, whatever the order of the array */
		for (int k = d + 1; k < a->dimensions; k++)
			below *= (int)a->grid[k];
		deal.mine = a->rank / below % a->grid[d];
		grow_dealt(g, &deal, a->sizes[d]);
	}
}

static struct derived *
type_array_start(const struct array_arguments *a)
{
	MPI_Count n = a->dimensions, size = a->size, rank = a->rank, order = a->order;
	bool dealt = a->combiner == MPI_COMBINER_DARRAY;
	struct argument list[] = {
		{'i', dealt, &size}, {'i', dealt, &rank}, {'i', 1, &n}, {'n', n, a->sizes},
		{'n', dealt ? 0 : n, a->subsizes}, {'n', dealt ? 0 : n, a->starts},
		{'i', dealt ? n : 0, a->distributions}, {'i', dealt ? n : 0, a->arguments},
			{'i', dealt ? n : 0, a->grid},
		{'i', 1, &order}, {0, 0, NULL},
	};

	return mpi_derived_new(a->combiner, a->large, list, &a->old, 1);
}

/* The whole array's bounds around the part. */
static void
frame(struct growing *g)
{
	MPI_Count at[] = {g->begin}, one[] = {1};

	grow(g, &(struct type_arguments){.combiner = MPI_COMBINER_HINDEXED, .count = 1,
		.blocks = one, .displacements = at, .old = g->type});
	grow(g, &(struct type_arguments){.combiner = MPI_COMBINER_RESIZED, .lb = 0,
		.extent = g->extent, .old = g->type});
}

int
mpi_type_make_array(const struct array_arguments *a, struct type **new)
{
	struct growing g = {.extent = a->old->extent};
	struct derived *d;

	g.err = a->combiner == MPI_COMBINER_DARRAY ? check_darray(a) : check_subarray(a);
	if (g.err != MPI_SUCCESS)
		return g.err;
	d = type_array_start(a);
	if (d == NULL)
		return MPI_ERR_NO_MEM;
	g.type = mpi_type_hold(a->old);
	if (a->combiner == MPI_COMBINER_DARRAY)
		grow_darray(&g, a);
	else
		grow_subarray(&g, a);
	frame(&g);
	d->built = g.type;
	if (g.err != MPI_SUCCESS) {
		mpi_type_release(&d->type);
		return g.err;
	}
	d->shape = *mpi_type_shape(g.type);
	d->type = *g.type;
	*new = &d->type;
	return MPI_SUCCESS;
}
