/* SPDX-License-Identifier: MIT
 *
 * Collectives over sizes, roots and communicators, against what every rank can compute by itself.
 */
#include "check.h"

static const int counts[] = {0, 1, 3, 64, 700, 5000, 40000};
#define COUNTS ((int)(sizeof(counts) / sizeof(counts[0])))
#define LARGEST 40000

struct bench {
	struct check *c;
	MPI_Comm comm;
	int rank;
	int size;
	int *in;
	int *out;
};

static int
value(int rank, int i)
{
	return rank * 1009 + i * 17 % 911;
}

static void
fill(struct bench *b, int n)
{
	for (int i = 0; i < n; i++) {
		b->in[i] = value(b->rank, i);
		b->out[i] = -1;
	}
}

static void
bcast(struct bench *b, int n, int root)
{
	fill(b, n);
	MPI_Bcast(b->in, n, MPI_INT, root, b->comm);
	for (int i = 0; i < n; i++)
		CHECK(b->c, b->in[i] == value(root, i));
}

static int
expected_sum(const struct bench *b, int i)
{
	int sum = 0;

	for (int r = 0; r < b->size; r++)
		sum += value(r, i);
	return sum;
}

static void
reduce(struct bench *b, int n, int root)
{
	fill(b, n);
	MPI_Reduce(b->in, b->out, n, MPI_INT, MPI_SUM, root, b->comm);
	for (int i = 0; i < n; i += 1 + n / 50)
		CHECK(b->c, b->out[i] == (b->rank == root ? expected_sum(b, i) : -1));
	MPI_Reduce(b->rank == root ? MPI_IN_PLACE : b->in, b->in, n, MPI_INT, MPI_MAX, root,
		b->comm);
	for (int i = 0; i < n && b->rank == root; i++)
		CHECK(b->c, b->in[i] == value(b->size - 1, i));
}

static void
allreduce(struct bench *b, int n)
{
	fill(b, n);
	MPI_Allreduce(b->in, b->out, n, MPI_INT, MPI_SUM, b->comm);
	for (int i = 0; i < n; i += 1 + n / 50)
		CHECK(b->c, b->out[i] == expected_sum(b, i));
	MPI_Allreduce(MPI_IN_PLACE, b->in, n, MPI_INT, MPI_MIN, b->comm);
	for (int i = 0; i < n; i++)
		CHECK(b->c, b->in[i] == value(0, i));
}

static void
gather(struct bench *b, int n, int root)
{
	int *all = malloc(((size_t)n * (size_t)b->size + 1) * sizeof(int));

	fill(b, n);
	MPI_Gather(b->in, n, MPI_INT, all, n, MPI_INT, root, b->comm);
	for (int r = 0; r < b->size && b->rank == root; r++)
		for (int i = 0; i < n; i++)
			CHECK(b->c, all[r * n + i] == value(r, i));
	MPI_Scatter(all, n, MPI_INT, b->out, n, MPI_INT, root, b->comm);
	for (int i = 0; i < n; i++)
		CHECK(b->c, b->out[i] == value(b->rank, i));
	MPI_Allgather(b->in, n, MPI_INT, all, n, MPI_INT, b->comm);
	for (int r = 0; r < b->size; r++)
		for (int i = 0; i < n; i++)
			CHECK(b->c, all[r * n + i] == value(r, i));
	free(all);
}

static void
alltoall(struct bench *b, int n)
{
	size_t total = (size_t)n * (size_t)b->size;
	int *out = malloc((total + 1) * sizeof(int)), *in = malloc((total + 1) * sizeof(int));

	for (size_t i = 0; i < total; i++)
		out[i] = value(b->rank, (int)i);
	MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, b->comm);
	for (int r = 0; r < b->size; r++)
		for (int i = 0; i < n; i++)
			CHECK(b->c, in[r * n + i] == value(r, b->rank * n + i));
	free(in);
	free(out);
}

/* An operation that does not commute: 2 x 2 matrices, packed into 4 ints. */
static void
multiply(void *in, void *inout, int *len, MPI_Datatype *type)
{
	const int *a = in;
	int *b = inout;

	(void)type;
	for (int i = 0; i + 3 < *len; i += 4) {
		int r[4] = {a[i] * b[i] + a[i + 1] * b[i + 2],
			a[i] * b[i + 1] + a[i + 1] * b[i + 3],
			a[i + 2] * b[i] + a[i + 3] * b[i + 2],
			a[i + 2] * b[i + 1] + a[i + 3] * b[i + 3]};

		memcpy(&b[i], r, sizeof(r));
	}
}

static void
matrix_of(int rank, int *m)
{
	m[0] = 1;
	m[1] = rank % 3;
	m[2] = rank % 2;
	m[3] = 1 + rank % 2 * (rank % 3);
}

static void
not_commuting(struct bench *b)
{
	int mine[4], product[4] = {1, 0, 0, 1}, got[4], len = 4;
	MPI_Op op;

	for (int r = b->size - 1; r >= 0; r--) {
		matrix_of(r, mine);
		multiply(mine, product, &len, NULL);
	}
	matrix_of(b->rank, mine);
	MPI_Op_create(multiply, 0, &op);
	for (int root = 0; root < b->size; root += 1 + b->size / 3) {
		MPI_Reduce(mine, got, 4, MPI_INT, op, root, b->comm);
		CHECK(b->c, b->rank != root || memcmp(got, product, sizeof(got)) == 0);
	}
	MPI_Allreduce(mine, got, 4, MPI_INT, op, b->comm);
	CHECK(b->c, memcmp(got, product, sizeof(got)) == 0);
	MPI_Op_free(&op);
	CHECK(b->c, op == MPI_OP_NULL);
}

static void
other_types(struct bench *b)
{
	double d = b->rank + 0.5, dsum;
	struct { double value; int index; } mine = {(b->rank * 7) % 5, b->rank}, best;
	int want = 0;

	MPI_Allreduce(&d, &dsum, 1, MPI_DOUBLE, MPI_SUM, b->comm);
	CHECK(b->c, dsum == b->size * (b->size - 1) / 2 + 0.5 * b->size);
	MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, b->comm);
	for (int r = 0; r < b->size; r++)
		if ((r * 7) % 5 > (want * 7) % 5)
			want = r;
	CHECK(b->c, best.index == want && best.value == (want * 7) % 5);
}

static void
all_on(struct check *c, MPI_Comm comm, int most)
{
	struct bench b = {.c = c, .comm = comm, .in = malloc(LARGEST * sizeof(int)),
		.out = malloc(LARGEST * sizeof(int))};

	MPI_Comm_rank(comm, &b.rank);
	MPI_Comm_size(comm, &b.size);
	for (int i = 0; i < COUNTS && counts[i] <= most; i++) {
		for (int root = 0; root < b.size; root += 1 + b.size / 3) {
			bcast(&b, counts[i], root);
			reduce(&b, counts[i], root);
			if (counts[i] <= 5000)
				gather(&b, counts[i], root);
		}
		allreduce(&b, counts[i]);
		if (counts[i] <= 700)
			alltoall(&b, counts[i]);
		MPI_Barrier(comm);
	}
	not_commuting(&b);
	other_types(&b);
	free(b.out);
	free(b.in);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	MPI_Comm dup, half;
	int size, rank;

	all_on(&c, MPI_COMM_WORLD, LARGEST);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	all_on(&c, dup, 64);
	MPI_Comm_split(dup, c.rank % 2, -c.rank, &half);
	MPI_Comm_rank(half, &rank);
	MPI_Comm_size(half, &size);
	CHECK(&c, size == (c.size + 1 - c.rank % 2) / 2);
	CHECK(&c, rank == size - 1 - c.rank / 2);
	all_on(&c, half, 64);
	MPI_Comm_free(&half);
	MPI_Comm_free(&dup);
	CHECK(&c, half == MPI_COMM_NULL);
	MPI_Comm_split(MPI_COMM_WORLD, c.rank == 0 ? MPI_UNDEFINED : 1, 0, &half);
	CHECK(&c, (half == MPI_COMM_NULL) == (c.rank == 0));
	if (half != MPI_COMM_NULL)
		MPI_Comm_free(&half);
	return check_end(&c);
}
