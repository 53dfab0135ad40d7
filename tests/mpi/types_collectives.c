/* SPDX-License-Identifier: MIT
 *
 * Collectives of derived types: what lies between the pieces stays as it is; sides may have
 * different types of one signature; operations of the program's own on structures with gaps. usage:
 * types_collectives [each]: also with each algorithm that there is
 */
#include "check.h"
#include "coll_force.h"
#include <stddef.h>

#define N 700

static MPI_Datatype
strided(int n)
{
	MPI_Datatype t;

	MPI_Type_vector(n, 1, 2, MPI_INT, &t);
	MPI_Type_commit(&t);
	return t;
}

static void
broadcast(struct check *c, int n, int root)
{
	static int a[2 * N];
	MPI_Datatype t = strided(n);
	int wrong = 0;

	for (int i = 0; i < 2 * N; i++)
		a[i] = c->rank == root ? i : -1;
	/* the root has pieces, the others one piece, or the other way round */
	if ((c->rank == root) == (n % 2 == 0))
		MPI_Bcast(a, 1, t, root, MPI_COMM_WORLD);
	else
		MPI_Bcast(a, n, MPI_INT, root, MPI_COMM_WORLD);
	for (int i = 0; c->rank != root && i < 2 * n; i++) {
		int in_pieces = n % 2 != 0;
		int value = in_pieces ? (i % 2 == 0 ? i / 2 : -1) : i < n ? 2 * i : -1;

		wrong += a[i] != value;
	}
	CHECK(c, wrong == 0);
	MPI_Type_free(&t);
}

/* Each rank's row becomes a column. */
static void
columns(struct check *c)
{
	int n = c->size, rows = 5, *table = calloc((size_t)(n * rows), sizeof(int)), row[5],
		wrong = 0;
	MPI_Datatype column, narrow;

	MPI_Type_vector(rows, 1, n, MPI_INT, &column);
	MPI_Type_create_resized(column, 0, sizeof(int), &narrow);
	MPI_Type_commit(&narrow);
	for (int i = 0; i < rows; i++)
		row[i] = c->rank * 10 + i;
	MPI_Gather(row, rows, MPI_INT, table, 1, narrow, 0, MPI_COMM_WORLD);
	for (int r = 0; c->rank == 0 && r < rows; r++)
		for (int i = 0; i < n; i++)
			wrong += table[r * n + i] != i * 10 + r;
	memset(row, 0, sizeof(row));
	MPI_Scatter(table, 1, narrow, row, rows, MPI_INT, 0, MPI_COMM_WORLD);
	for (int i = 0; i < rows; i++)
		wrong += row[i] != c->rank * 10 + i;
	memset(table, 0, (size_t)(n * rows) * sizeof(int));
	MPI_Allgather(row, rows, MPI_INT, table, 1, narrow, MPI_COMM_WORLD);
	for (int r = 0; r < rows; r++)
		for (int i = 0; i < n; i++)
			wrong += table[r * n + i] != i * 10 + r;
	CHECK(c, wrong == 0);
	MPI_Type_free(&column);
	MPI_Type_free(&narrow);
	free(table);
}

/* The transposition of a table of which every rank has a few columns. */
static void
all_to_all(struct check *c)
{
	int n = c->size, *out = calloc((size_t)(2 * n), sizeof(int)),
		*in = calloc((size_t)(4 * n), sizeof(int)), wrong = 0;
	MPI_Datatype t, wide;

	MPI_Type_vector(2, 1, 2, MPI_INT, &t);
	MPI_Type_create_resized(t, 0, 4 * sizeof(int), &wide);
	MPI_Type_commit(&wide);
	for (int i = 0; i < 2 * n; i++)
		out[i] = c->rank * 1000 + i;
	memset(in, 0xff, (size_t)(4 * n) * sizeof(int));
	MPI_Alltoall(out, 2, MPI_INT, in, 1, wide, MPI_COMM_WORLD);
	for (int i = 0; i < n; i++) {
		wrong += in[4 * i] != i * 1000 + 2 * c->rank ||
			in[4 * i + 2] != i * 1000 + 2 * c->rank + 1;
		wrong += in[4 * i + 1] != -1 || in[4 * i + 3] != -1;
	}
	CHECK(c, wrong == 0);
	MPI_Type_free(&t);
	MPI_Type_free(&wide);
	free(out);
	free(in);
}

struct entry {
	char tag;
	double sum;
	int low;
	char unused[4];
};

static void
merge(void *in, void *inout, int *n, MPI_Datatype *type)
{
	const struct entry *a = in;
	struct entry *b = inout;

	(void)type;
	for (int i = 0; i < *n; i++) {
		b[i].sum += a[i].sum;
		b[i].low = a[i].low < b[i].low ? a[i].low : b[i].low;
	}
}

static void
reductions(struct check *c, int n)
{
	int lengths[] = {1, 1, 1}, wrong = 0;
	MPI_Aint at[] = {offsetof(struct entry, tag), offsetof(struct entry, sum),
		offsetof(struct entry, low)};
	MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, t;
	struct entry *a = calloc((size_t)n, sizeof(*a)), *b = malloc((size_t)n * sizeof(*b));
	MPI_Op op;

	MPI_Type_create_struct(3, lengths, at, types, &t);
	MPI_Type_commit(&t);
	MPI_Op_create(merge, 1, &op);
	for (int i = 0; i < n; i++) {
		a[i].tag = 't';
		a[i].sum = c->rank + i;
		a[i].low = i - c->rank;
	}
	memset(b, 0x55, (size_t)n * sizeof(*b));
	CHECK(c, MPI_Allreduce(a, b, n, t, op, MPI_COMM_WORLD) == MPI_SUCCESS);
	for (int i = 0; i < n; i++) {
		wrong += b[i].tag != 't' || b[i].low != i - (c->size - 1);
		wrong += b[i].sum != c->size * (c->size - 1) / 2.0 + (double)c->size * i;
	}
	CHECK(c, wrong == 0);
	memset(b, 0x55, (size_t)n * sizeof(*b));
	CHECK(c, MPI_Reduce(a, b, n, t, op, c->size - 1, MPI_COMM_WORLD) == MPI_SUCCESS);
	for (int i = 0; c->rank == c->size - 1 && i < n; i++)
		wrong += b[i].low != i - (c->size - 1);
	CHECK(c, wrong == 0);
	MPI_Op_free(&op);
	MPI_Type_free(&t);
	free(a);
	free(b);
}

/*
 * Addresses in the types, or in the displacements, and MPI_BOTTOM as the buffer: also what a rank
 * sends to itself moves.
 */
static void
from_bottom(struct check *c, int in_types)
{
	int n = c->size, *out = malloc((size_t)(2 * n) * sizeof(int)),
		*in = malloc((size_t)(2 * n) * sizeof(int)), wrong = 0;
	int *counts = malloc((size_t)(2 * n) * sizeof(int)), degree = n;
	MPI_Datatype *types = malloc((size_t)(2 * n) * sizeof(*types));
	MPI_Aint *at = calloc((size_t)(2 * n), sizeof(*at)), here;
	int *narrow = calloc((size_t)n, sizeof(int)), *all = malloc((size_t)n * sizeof(int));
	MPI_Comm near;

	for (int i = 0; i < 2 * n; i++) {
		out[i] = c->rank * 100 + i;
		in[i] = -1;
		counts[i] = in_types ? 1 : 2;
	}
	for (int i = 0; i < 2 * n; i++) {
		MPI_Get_address(i < n ? &out[2 * i] : &in[2 * (i - n)], &here);
		at[i] = in_types ? 0 : here;
		if (in_types)
			MPI_Type_create_hindexed_block(1, 2, &here, MPI_INT, &types[i]);
		else
			MPI_Type_dup(MPI_INT, &types[i]);
		MPI_Type_commit(&types[i]);
	}
	for (int i = 0; i < n; i++)
		all[i] = i;
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, all, MPI_UNWEIGHTED, degree, all,
		MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &near);
	if (in_types)
		wrong += MPI_Alltoallw(MPI_BOTTOM, counts, narrow, types, MPI_BOTTOM, counts + n,
			narrow, types + n, MPI_COMM_WORLD);
	else
		wrong += MPI_Neighbor_alltoallw(MPI_BOTTOM, counts, at, types, MPI_BOTTOM,
			counts + n, at + n, types + n, near);
	for (int i = 0; i < 2 * n; i++)
		wrong += in[i] != i / 2 * 100 + 2 * c->rank + i % 2;
	CHECK(c, wrong == 0);
	for (int i = 0; i < 2 * n; i++)
		MPI_Type_free(&types[i]);
	MPI_Comm_free(&near);
	free(out);
	free(in);
	free(counts);
	free(types);
	free(at);
	free(narrow);
	free(all);
}

static void
all(struct check *c)
{
	for (int root = 0; root < c->size; root += c->size > 1 ? c->size - 1 : 1) {
		broadcast(c, 1, root);
		broadcast(c, 30, root);
		broadcast(c, N - 1, root);
	}
	columns(c);
	all_to_all(c);
	reductions(c, 1);
	reductions(c, 100);
	reductions(c, 20000);
	from_bottom(c, 1);
	from_bottom(c, 0);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);

	all(&c);
	for (int i = 0; argc > 1 && i < COLL_NAMES; i++) {
		coll_force(MPI_COMM_WORLD, coll_names[i]);
		all(&c);
	}
	return check_end(&c);
}
