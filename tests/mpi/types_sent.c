/* SPDX-License-Identifier: MIT
 *
 * Messages of derived types in every protocol: from pieces to one piece, to other pieces,
 * truncated, self-addressed, synchronous, of sizes from nothing to many parts. Each element sent
 * has a value that no other one has.
 */
#include "check.h"

#define LARGE 60000

static MPI_Datatype
committed(MPI_Datatype t)
{
	MPI_Type_commit(&t);
	return t;
}

/* `n` ints in pieces of two kinds. */
static MPI_Datatype
every_other(int n)
{
	MPI_Datatype t;

	MPI_Type_vector(n, 1, 2, MPI_INT, &t);
	return committed(t);
}

static MPI_Datatype
scattered(int n)
{
	int *lengths = malloc((size_t)n * sizeof(int)), *at = malloc((size_t)n * sizeof(int)),
		blocks = 0;
	MPI_Datatype t;

	for (int left = n, next = 0; left > 0; blocks++) {
		lengths[blocks] = blocks % 3 + 1 < left ? blocks % 3 + 1 : left;
		at[blocks] = next;
		left -= lengths[blocks];
		next += lengths[blocks] + 1;
	}
	MPI_Type_indexed(blocks, lengths, at, MPI_INT, &t);
	free(lengths);
	free(at);
	return committed(t);
}

static int
place_in(int kind, int i)
{
	if (kind == 0)
		return i;
	if (kind == 1)
		return 2 * i;
	/* blocks of 1, 2, 3 and a hole behind each */
	return i + i / 6 * 3 + (i % 6 >= 1) + (i % 6 >= 3);
}

static MPI_Datatype
kind_of(int kind, int n)
{
	MPI_Datatype t;

	if (kind == 1)
		return every_other(n);
	if (kind == 2)
		return scattered(n);
	MPI_Type_contiguous(n, MPI_INT, &t);
	return committed(t);
}

static void
check_received(struct check *c, const int *in, int kind, int n, int from)
{
	int wrong = 0, seen = 0;

	for (int i = 0; i < 2 * LARGE + 8; i++) {
		int mine = seen < n && place_in(kind, seen) == i;

		wrong += in[i] != (mine ? from * 1000003 + seen : -1);
		seen += mine;
	}
	CHECK(c, wrong == 0 && seen == n);
}

/* To the right, from the left. */
static void
pass(struct check *c, int out_kind, int in_kind, int n, int synchronous)
{
	static int out[2 * LARGE + 8], in[2 * LARGE + 8];
	int right = (c->rank + 1) % c->size, left = (c->rank + c->size - 1) % c->size, count = -1,
		elements = -1;
	MPI_Datatype sent = kind_of(out_kind, n), wanted = kind_of(in_kind, n);
	MPI_Request r;
	MPI_Status s;

	memset(in, 0xff, sizeof(in));
	memset(out, 0x55, sizeof(out));
	for (int i = 0; i < n; i++)
		out[place_in(out_kind, i)] = c->rank * 1000003 + i;
	if (synchronous)
		MPI_Issend(out, 1, sent, right, 7, MPI_COMM_WORLD, &r);
	else
		MPI_Isend(out, 1, sent, right, 7, MPI_COMM_WORLD, &r);
	/* in use until the request is done */
	MPI_Type_free(&sent);
	CHECK(c, sent == MPI_DATATYPE_NULL);
	CHECK(c, MPI_Recv(in, 1, wanted, left, 7, MPI_COMM_WORLD, &s) == MPI_SUCCESS);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	check_received(c, in, in_kind, n, left);
	MPI_Get_count(&s, wanted, &count);
	MPI_Get_elements(&s, wanted, &elements);
	CHECK(c, count == (n > 0) && elements == n);
	MPI_Type_free(&wanted);
}

static void
truncated(struct check *c, int n)
{
	static int out[LARGE + 8], in[2 * LARGE + 8];
	int right = (c->rank + 1) % c->size, left = (c->rank + c->size - 1) % c->size,
		elements = -1;
	MPI_Datatype wanted = every_other(n / 2);
	MPI_Request r;
	MPI_Status s;

	memset(in, 0xff, sizeof(in));
	for (int i = 0; i < n; i++)
		out[i] = c->rank * 1000003 + i;
	MPI_Isend(out, n, MPI_INT, right, 8, MPI_COMM_WORLD, &r);
	CHECK(c, check_class(MPI_Recv(in, 1, wanted, left, 8, MPI_COMM_WORLD, &s)) ==
		MPI_ERR_TRUNCATE);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	check_received(c, in, 1, n / 2, left);
	MPI_Get_elements(&s, MPI_INT, &elements);
	CHECK(c, elements == n / 2);
	MPI_Type_free(&wanted);
}

/* Absolute addresses, and a message of less than the type has. */
static void
absolute(struct check *c)
{
	struct { int a; double b; char c[5]; } out = {c->rank, 1.5 * c->rank, "abcd"},
		in = {-1, -1, "zzzz"};
	int lengths[] = {1, 1, 5}, right = (c->rank + 1) % c->size,
		left = (c->rank + c->size - 1) % c->size, count, elements;
	MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR}, sent, wanted, two;
	MPI_Aint at[3];
	MPI_Status s;

	MPI_Get_address(&out.a, &at[0]);
	MPI_Get_address(&out.b, &at[1]);
	MPI_Get_address(out.c, &at[2]);
	MPI_Type_create_struct(3, lengths, at, types, &sent);
	MPI_Get_address(&in.a, &at[0]);
	MPI_Get_address(&in.b, &at[1]);
	MPI_Get_address(in.c, &at[2]);
	MPI_Type_create_struct(3, lengths, at, types, &wanted);
	MPI_Type_commit(&sent);
	MPI_Type_commit(&wanted);
	MPI_Sendrecv(MPI_BOTTOM, 1, sent, right, 9, MPI_BOTTOM, 1, wanted, left, 9, MPI_COMM_WORLD,
		&s);
	CHECK(c, in.a == left && in.b == 1.5 * left && strcmp(in.c, "abcd") == 0);
	MPI_Get_elements(&s, wanted, &elements);
	CHECK(c, elements == 7);
	MPI_Type_contiguous(2, wanted, &two);
	MPI_Get_count(&s, two, &count);
	MPI_Get_elements(&s, two, &elements);
	CHECK(c, count == MPI_UNDEFINED && elements == 7);
	MPI_Type_free(&two);
	MPI_Type_free(&sent);
	MPI_Type_free(&wanted);
}

/* A value and an index are sent without the gap behind them. */
static void
pairs(struct check *c)
{
	struct { double value; int index; } out[50], in[50];
	int right = (c->rank + 1) % c->size, left = (c->rank + c->size - 1) % c->size, count,
		elements, size;
	MPI_Status s;

	memset(in, 0, sizeof(in));
	for (int i = 0; i < 50; i++) {
		out[i].value = c->rank + i * 0.5;
		out[i].index = i;
	}
	MPI_Sendrecv(out, 50, MPI_DOUBLE_INT, right, 3, in, 50, MPI_DOUBLE_INT, left, 3,
		MPI_COMM_WORLD, &s);
	for (int i = 0; i < 50; i++)
		CHECK(c, in[i].value == left + i * 0.5 && in[i].index == i);
	MPI_Get_count(&s, MPI_DOUBLE_INT, &count);
	MPI_Get_elements(&s, MPI_DOUBLE_INT, &elements);
	MPI_Type_size(MPI_DOUBLE_INT, &size);
	CHECK(c, count == 50 && elements == 100 && size == 12);
}

int
main(int argc, char **argv)
{
	static const int sizes[] = {0, 1, 24, 25, 1024, 1025, 5000, LARGE};
	struct check c = check_begin(&argc, &argv);

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int kinds = 0; kinds < 9; kinds++)
			pass(&c, kinds / 3, kinds % 3, sizes[i], (kinds + (int)i) % 2);
	truncated(&c, 20);
	truncated(&c, 1000);
	truncated(&c, LARGE);
	absolute(&c);
	pairs(&c);
	return check_end(&c);
}
