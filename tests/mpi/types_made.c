/* SPDX-License-Identifier: MIT
 *
 * Constructors, what they tell about themselves, packing, external32, names, large counts, and the
 * error classes of wrong arguments.
 */
#include "check.h"
#include <stdint.h>
#include <wchar.h>

static void
envelopes(struct check *c)
{
	int lengths[] = {1, 2}, at[] = {0, 3}, integers[16], ni, na, nt, combiner;
	MPI_Aint addresses[4], where[] = {0, 16};
	MPI_Datatype types[4], t, u, members[] = {MPI_INT, MPI_DOUBLE};

	MPI_Type_indexed(2, lengths, at, MPI_INT, &t);
	CHECK(c, MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner) == MPI_SUCCESS);
	CHECK(c, ni == 5 && na == 0 && nt == 1 && combiner == MPI_COMBINER_INDEXED);
	CHECK(c, MPI_Type_get_contents(t, 5, 0, 1, integers, addresses, types) == MPI_SUCCESS);
	CHECK(c, integers[0] == 2 && integers[1] == 1 && integers[2] == 2 && integers[3] == 0 &&
		integers[4] == 3 && types[0] == MPI_INT);
	MPI_Type_create_struct(2, lengths, where, members, &u);
	MPI_Type_get_envelope(u, &ni, &na, &nt, &combiner);
	CHECK(c, ni == 3 && na == 2 && nt == 2 && combiner == MPI_COMBINER_STRUCT);
	MPI_Type_free(&u);
	MPI_Type_vector(3, 1, 2, t, &u);
	MPI_Type_free(&t);
	CHECK(c, MPI_Type_get_contents(u, 3, 0, 1, integers, addresses, types) == MPI_SUCCESS &&
		integers[2] == 2);
	CHECK(c, MPI_Type_get_envelope(types[0], &ni, &na, &nt, &combiner) == MPI_SUCCESS &&
		combiner == MPI_COMBINER_INDEXED);
	CHECK(c, MPI_Type_free(&types[0]) == MPI_SUCCESS);
	CHECK(c, check_class(MPI_Type_get_contents(u, 2, 0, 1, integers, addresses, types)) ==
		MPI_ERR_ARG);
	MPI_Type_free(&u);
	CHECK(c, MPI_Type_get_envelope(MPI_INT, &ni, &na, &nt, &combiner) == MPI_SUCCESS &&
		combiner == MPI_COMBINER_NAMED);
	CHECK(c, check_class(MPI_Type_get_contents(MPI_INT, 2, 0, 1, integers, addresses, types)) ==
		MPI_ERR_TYPE);
}

/* A 4 x 5 array by rows: the 2 x 3 part from (1, 1) on. */
static void
arrays(struct check *c)
{
	int sizes[] = {4, 5}, subsizes[] = {2, 3}, starts[] = {1, 1}, a[20], part[6], position = 0;
	int distributions[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
		arguments[] = {1, MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {2, 2};
	MPI_Aint lb, extent;
	MPI_Datatype t;

	for (int i = 0; i < 20; i++)
		a[i] = i;
	MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_Type_get_extent(t, &lb, &extent);
	CHECK(c, lb == 0 && extent == 80);
	MPI_Pack(a, 1, t, part, sizeof(part), &position, MPI_COMM_WORLD);
	CHECK(c, position == 24 && part[0] == 6 && part[2] == 8 && part[3] == 11 && part[5] == 13);
	MPI_Type_free(&t);
	/* rows 1 and 3, columns 0 to 2 */
	CHECK(c, MPI_Type_create_darray(4, 2, 2, sizes, distributions, arguments, grid, MPI_ORDER_C,
		MPI_INT, &t) == MPI_SUCCESS);
	MPI_Type_commit(&t);
	position = 0;
	MPI_Pack(a, 1, t, part, sizeof(part), &position, MPI_COMM_WORLD);
	CHECK(c, position == 24 && part[0] == 5 && part[2] == 7 && part[3] == 15 && part[5] == 17);
	MPI_Type_free(&t);
	starts[0] = 3;
	CHECK(c, check_class(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C,
		MPI_INT, &t)) == MPI_ERR_ARG);
	CHECK(c, check_class(MPI_Type_create_subarray(0, sizes, subsizes, starts, MPI_ORDER_C,
		MPI_INT, &t)) == MPI_ERR_DIMS);
	CHECK(c, check_class(MPI_Type_create_darray(5, 2, 2, sizes, distributions, arguments, grid,
		MPI_ORDER_C, MPI_INT, &t)) == MPI_ERR_ARG);
}

/* Bytes by hand, from the standard's table. */
static void
external(struct check *c)
{
	struct { int i; long l; double d; short s; wchar_t w; char c; } in =
		{-2, -3, -1.5, 258, 0x263a, 'x'}, out;
	static const unsigned char expected[] =
		{0xff, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xff, 0xfd, 0xbf, 0xf8, 0, 0, 0, 0, 0, 0, 1, 2,
		0x26, 0x3a,
		'x'};
	int lengths[] = {1, 1, 1, 1, 1, 1};
	MPI_Aint at[] = {(char *)&in.i - (char *)&in, (char *)&in.l - (char *)&in,
		(char *)&in.d - (char *)&in, (char *)&in.s - (char *)&in,
		(char *)&in.w - (char *)&in, &in.c - (char *)&in}, size, position = 0;
	MPI_Datatype types[] = {MPI_INT, MPI_LONG, MPI_DOUBLE, MPI_SHORT, MPI_WCHAR, MPI_CHAR}, t;
	unsigned char packed[40];

	MPI_Type_create_struct(6, lengths, at, types, &t);
	MPI_Type_commit(&t);
	CHECK(c, MPI_Pack_external_size("external32", 1, t, &size) == MPI_SUCCESS &&
		size == sizeof(expected));
	CHECK(c, MPI_Pack_external("external32", &in, 1, t, packed, sizeof(packed), &position) ==
		MPI_SUCCESS);
	CHECK(c, position == sizeof(expected) && memcmp(packed, expected, sizeof(expected)) == 0);
	memset(&out, 0x55, sizeof(out));
	position = 0;
	CHECK(c, MPI_Unpack_external("external32", packed, size, &position, &out, 1, t) ==
		MPI_SUCCESS);
	CHECK(c, out.i == -2 && out.l == -3 && out.d == -1.5 && out.s == 258 && out.w == 0x263a &&
		out.c == 'x');
	CHECK(c, check_class(MPI_Pack_external("internal", &in, 1, t, packed, sizeof(packed),
		&position)) == MPI_ERR_ARG);
	MPI_Type_free(&t);
}

static void
external_long_double(struct check *c)
{
	long double in[] = {1.0L, -1.5L, 0.0L, 1.0e-4940L, 3.14159265358979323846264338327950288L},
		out[5];
	static const unsigned char one[] = {0x3f, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	static const unsigned char minus[] = {0xbf, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0};
	unsigned char packed[80];
	MPI_Aint position = 0;

	MPI_Pack_external("external32", in, 5, MPI_LONG_DOUBLE, packed, sizeof(packed), &position);
	CHECK(c, position == 80 && memcmp(packed, one, 16) == 0 &&
		memcmp(packed + 16, minus, 16) == 0);
	position = 0;
	MPI_Unpack_external("external32", packed, 80, &position, out, 5, MPI_LONG_DOUBLE);
	for (int i = 0; i < 5; i++)
		CHECK(c, out[i] == in[i]);
}

static void
names(struct check *c)
{
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Datatype t;
	int len;

	CHECK(c, MPI_Type_get_name(MPI_DATATYPE_NULL, name, &len) == MPI_SUCCESS &&
		strcmp(name, "MPI_DATATYPE_NULL") == 0);
	CHECK(c, MPI_Type_get_name(MPI_INT, name, &len) == MPI_SUCCESS &&
		strcmp(name, "MPI_INT") == 0 && len == 7);
	MPI_Type_contiguous(3, MPI_INT, &t);
	CHECK(c, MPI_Type_get_name(t, name, &len) == MPI_SUCCESS && len == 0);
	MPI_Type_set_name(t, "three");
	MPI_Type_set_name(MPI_FLOAT, "small");
	CHECK(c, MPI_Type_get_name(t, name, &len) == MPI_SUCCESS && strcmp(name, "three") == 0);
	CHECK(c, MPI_Type_get_name(MPI_FLOAT, name, &len) == MPI_SUCCESS &&
		strcmp(name, "small") == 0);
	MPI_Type_free(&t);
}

static void
large(struct check *c)
{
	MPI_Count size, lb, extent, ni, na, nc, nt, counts[3];
	int small, combiner, integers[1];
	MPI_Datatype t, u, types[1];
	MPI_Status s;

	CHECK(c, MPI_Type_contiguous_c(5000000000, MPI_DOUBLE, &t) == MPI_SUCCESS);
	CHECK(c, MPI_Type_size_c(t, &size) == MPI_SUCCESS && size == 40000000000);
	CHECK(c, MPI_Type_size(t, &small) == MPI_SUCCESS && small == MPI_UNDEFINED);
	CHECK(c, MPI_Type_get_envelope_c(t, &ni, &na, &nc, &nt, &combiner) == MPI_SUCCESS &&
		ni == 0 && na == 0 && nc == 1 && nt == 1);
	CHECK(c, MPI_Type_get_contents_c(t, 0, 0, 1, 1, integers, NULL, counts, types) ==
		MPI_SUCCESS && counts[0] == 5000000000);
	CHECK(c, MPI_Type_create_hvector_c(2, 1, -100000000000, t, &u) == MPI_SUCCESS);
	CHECK(c, MPI_Type_get_extent_c(u, &lb, &extent) == MPI_SUCCESS && lb == -100000000000 &&
		extent == 140000000000);
	memset(&s, 0, sizeof(s));
	CHECK(c, MPI_Status_set_elements_c(&s, t, 7000000000) == MPI_SUCCESS);
	CHECK(c, MPI_Get_elements_c(&s, t, &size) == MPI_SUCCESS && size == 7000000000);
	CHECK(c, MPI_Get_elements(&s, t, &small) == MPI_SUCCESS && small == MPI_UNDEFINED);
	CHECK(c, MPI_Get_count(&s, t, &small) == MPI_SUCCESS && small == MPI_UNDEFINED);
	CHECK(c, check_class(MPI_Type_contiguous_c(INT64_MAX / 4, t, &u)) ==
		MPI_ERR_VALUE_TOO_LARGE);
	MPI_Type_free(&t);
	MPI_Type_free(&u);
}

static void
by_precision(struct check *c)
{
	int ni, na, nt, combiner, integers[2];
	MPI_Datatype t, again, types[1];
	MPI_Aint addresses[1];

	CHECK(c, MPI_Type_create_f90_real(10, 100, &t) == MPI_SUCCESS &&
		MPI_Type_size(t, &ni) == MPI_SUCCESS && ni == 8);
	CHECK(c, MPI_Type_create_f90_real(10, 100, &again) == MPI_SUCCESS && again == t);
	CHECK(c, MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner) == MPI_SUCCESS && ni == 2 &&
		nt == 0 && combiner == MPI_COMBINER_F90_REAL);
	CHECK(c, MPI_Type_get_contents(t, 2, 0, 0, integers, addresses, types) == MPI_SUCCESS &&
		integers[0] == 10 && integers[1] == 100);
	CHECK(c, check_class(MPI_Type_free(&again)) == MPI_ERR_TYPE);
	CHECK(c, check_class(MPI_Type_create_f90_integer(50, &t)) == MPI_ERR_ARG);
	CHECK(c, MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &t) == MPI_SUCCESS && t == MPI_REAL8);
	CHECK(c, check_class(MPI_Type_match_size(MPI_TYPECLASS_REAL, 9, &t)) == MPI_ERR_ARG);
	CHECK(c, MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &t) == MPI_SUCCESS &&
		t == MPI_DOUBLE_INT);
	CHECK(c, MPI_Type_get_value_index(MPI_DOUBLE, MPI_FLOAT, &t) == MPI_SUCCESS &&
		t == MPI_DATATYPE_NULL);
}

static void
errors(struct check *c)
{
	int minus[] = {-1}, one[] = {1}, at[] = {0}, x = 0, position = 0;
	MPI_Aint where[] = {0};
	MPI_Datatype t = MPI_DATATYPE_NULL, null = MPI_DATATYPE_NULL, stale, predefined = MPI_INT;

	CHECK(c, check_class(MPI_Type_contiguous(-1, MPI_INT, &t)) == MPI_ERR_COUNT);
	CHECK(c, check_class(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t)) == MPI_ERR_TYPE);
	CHECK(c, check_class(MPI_Type_contiguous(1, MPI_INT, NULL)) == MPI_ERR_ARG);
	CHECK(c, check_class(MPI_Type_vector(1, -1, 1, MPI_INT, &t)) == MPI_ERR_ARG);
	CHECK(c, check_class(MPI_Type_indexed(1, minus, at, MPI_INT, &t)) == MPI_ERR_ARG);
	CHECK(c, check_class(MPI_Type_indexed(1, NULL, at, MPI_INT, &t)) == MPI_ERR_ARG);
	CHECK(c, check_class(MPI_Type_create_struct(1, one, where, &null, &t)) == MPI_ERR_TYPE);
	CHECK(c, check_class(MPI_Type_free(&null)) == MPI_ERR_TYPE);
	CHECK(c, check_class(MPI_Type_free(&predefined)) == MPI_ERR_TYPE);
	CHECK(c, check_class(MPI_Type_commit(&null)) == MPI_ERR_TYPE);
	CHECK(c, t == MPI_DATATYPE_NULL);
	MPI_Type_vector(2, 1, 2, MPI_INT, &t);
	CHECK(c, check_class(MPI_Send(&x, 1, t, c->rank, 0, MPI_COMM_WORLD)) == MPI_ERR_TYPE);
	CHECK(c, check_class(MPI_Pack(&x, 1, t, &x, 4, &position, MPI_COMM_WORLD)) == MPI_ERR_TYPE);
	stale = t;
	CHECK(c, MPI_Type_free(&t) == MPI_SUCCESS && MPI_Type_free(&stale) == MPI_ERR_TYPE);
	CHECK(c, check_class(MPI_Pack(&x, 2, MPI_INT, &x, 7, &position, MPI_COMM_WORLD)) ==
		MPI_ERR_ARG && position == 0);
	CHECK(c, check_class(MPI_Pack(NULL, 1, MPI_INT, &x, 4, &position, MPI_COMM_WORLD)) ==
		MPI_ERR_BUFFER);
	CHECK(c, check_class(MPI_Pack_size(-1, MPI_INT, MPI_COMM_WORLD, &x)) == MPI_ERR_COUNT);
}

static void
together(void *in, void *inout, int *n, MPI_Datatype *type)
{
	int (*a)[2] = in, (*b)[2] = inout;

	(void)type;
	for (int i = 0; i < *n; i++) {
		b[i][0] += a[i][0];
		b[i][1] *= a[i][1];
	}
}

static void
reductions(struct check *c)
{
	int mine[2][2] = {{c->rank, 2}, {1, 1}}, all[2][2] = {{0}}, sum = 0, power = 1;
	MPI_Datatype t;
	MPI_Op op;

	MPI_Type_contiguous(2, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_Op_create(together, 1, &op);
	CHECK(c, MPI_Allreduce(mine, all, 2, t, op, MPI_COMM_WORLD) == MPI_SUCCESS);
	for (int i = 0; i < c->size; i++) {
		sum += i;
		power *= 2;
	}
	CHECK(c, all[0][0] == sum && all[0][1] == power && all[1][0] == c->size && all[1][1] == 1);
	CHECK(c, check_class(MPI_Allreduce(mine, all, 2, t, MPI_SUM, MPI_COMM_WORLD)) ==
		MPI_ERR_OP);
	MPI_Op_free(&op);
	MPI_Type_free(&t);
}

static int deleted;

static int
copy(MPI_Datatype t, int keyval, void *extra, void *in, void *out, int *flag)
{
	(void)t;
	(void)keyval;
	*(intptr_t *)out = (intptr_t)in + (intptr_t)extra;
	*flag = 1;
	return MPI_SUCCESS;
}

static int
drop(MPI_Datatype t, int keyval, void *value, void *extra)
{
	(void)t;
	(void)keyval;
	(void)extra;
	deleted += (int)(intptr_t)value;
	return MPI_SUCCESS;
}

static void
attributes(struct check *c)
{
	MPI_Datatype t, u;
	intptr_t value = 0;
	int keyval, flag;

	CHECK(c, MPI_Type_create_keyval(copy, drop, &keyval, (void *)1) == MPI_SUCCESS);
	MPI_Type_contiguous(2, MPI_INT, &t);
	CHECK(c, MPI_Type_get_attr(t, keyval, &value, &flag) == MPI_SUCCESS && !flag);
	CHECK(c, MPI_Type_set_attr(t, keyval, (void *)10) == MPI_SUCCESS);
	CHECK(c, MPI_Type_set_attr(MPI_DOUBLE, keyval, (void *)100) == MPI_SUCCESS);
	CHECK(c, MPI_Type_dup(t, &u) == MPI_SUCCESS);
	CHECK(c, MPI_Type_get_attr(u, keyval, &value, &flag) == MPI_SUCCESS && flag && value == 11);
	CHECK(c, MPI_Type_get_attr(MPI_DOUBLE, keyval, &value, &flag) == MPI_SUCCESS && flag &&
		value == 100);
	CHECK(c, MPI_Type_free(&t) == MPI_SUCCESS && deleted == 10);
	CHECK(c, MPI_Type_delete_attr(u, keyval) == MPI_SUCCESS && deleted == 21);
	CHECK(c, MPI_Type_free(&u) == MPI_SUCCESS && deleted == 21);
	CHECK(c, MPI_Type_delete_attr(MPI_DOUBLE, keyval) == MPI_SUCCESS && deleted == 121);
	CHECK(c, check_class(MPI_Type_set_attr(MPI_INT, MPI_KEYVAL_INVALID, NULL)) ==
		MPI_ERR_KEYVAL);
	CHECK(c, MPI_Type_free_keyval(&keyval) == MPI_SUCCESS);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	envelopes(&c);
	arrays(&c);
	external(&c);
	external_long_double(&c);
	names(&c);
	attributes(&c);
	large(&c);
	by_precision(&c);
	errors(&c);
	reductions(&c);
	return check_end(&c);
}
