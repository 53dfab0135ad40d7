/* SPDX-License-Identifier: MIT
 *
 * MPI_Type_get_value_index for all combinations: names where there are some, unnamed types
 * elsewhere, the same one each time; sizes and layout of the C structure; MPI_MINLOC and MPI_MAXLOC
 * find the value and the smallest index.
 */
#include "check.h"
#include <stddef.h>
#include <stdint.h>

static const MPI_Datatype ordered[] = {
	MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_INT, MPI_UNSIGNED,
	MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_LONG,
	MPI_INT8_T, MPI_UINT16_T, MPI_INT32_T, MPI_UINT64_T, MPI_AINT, MPI_COUNT, MPI_OFFSET,
	MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE,
};

#define ORDERED ((int)(sizeof(ordered) / sizeof(*ordered)))
#define WHOLE (ORDERED - 3)

static void
one(struct check *c, MPI_Datatype value, MPI_Datatype index)
{
	MPI_Datatype pair = MPI_DATATYPE_NULL, again = MPI_DATATYPE_NULL, types[2];
	int size, sizes[2], ni = -1, na = -1, nt = -1, combiner = 0, none[1];
	MPI_Aint addresses[1];

	CHECK(c, MPI_Type_get_value_index(value, index, &pair) == MPI_SUCCESS &&
		pair != MPI_DATATYPE_NULL);
	CHECK(c, MPI_Type_get_value_index(value, index, &again) == MPI_SUCCESS && again == pair);
	if (pair == MPI_DATATYPE_NULL)
		return;
	MPI_Type_size(pair, &size);
	MPI_Type_size(value, &sizes[0]);
	MPI_Type_size(index, &sizes[1]);
	CHECK(c, size == sizes[0] + sizes[1]);
	MPI_Type_get_envelope(pair, &ni, &na, &nt, &combiner);
	CHECK(c, check_class(MPI_Type_free(&again)) == MPI_ERR_TYPE);
	if (combiner == MPI_COMBINER_NAMED)
		return;
	CHECK(c, combiner == MPI_COMBINER_VALUE_INDEX && ni == 0 && na == 0 && nt == 2);
	CHECK(c, MPI_Type_get_contents(pair, 0, 0, 2, none, addresses, types) == MPI_SUCCESS &&
		types[0] == value && types[1] == index);
}

/*
 * Two elements, so that the extent counts. Value: rank % 3; index: 100 - rank, and 7 where all are
 * equal.
 */
#define LOCATE(v, vt, x, xt) \
	do { \
		struct { v value; x index; } in[2], least[2], most[2]; \
		MPI_Datatype pair; \
		MPI_Aint lb, extent; \
		memset(in, 0, sizeof(in)); \
		in[0].value = (v)(c->rank % 3); \
		in[0].index = (x)(100 - c->rank); \
		in[1].value = (v)1; \
		in[1].index = (x)(7 + c->rank); \
		MPI_Type_get_value_index(vt, xt, &pair); \
		MPI_Type_get_extent(pair, &lb, &extent); \
		CHECK(c, lb == 0 && extent == (MPI_Aint)sizeof(in[0])); \
		CHECK(c, MPI_Allreduce(in, least, 2, pair, MPI_MINLOC, \
			MPI_COMM_WORLD) == MPI_SUCCESS); \
		CHECK(c, MPI_Allreduce(in, most, 2, pair, MPI_MAXLOC, \
			MPI_COMM_WORLD) == MPI_SUCCESS); \
		CHECK(c, least[0].value == (v)0 && \
			least[0].index == (x)(100 - (c->size - 1) / 3 * 3)); \
		CHECK(c, most[0].value == (v)greatest && most[0].index == \
			(x)(100 - ((c->size - 1 - greatest) / 3 * 3 + greatest))); \
		CHECK(c, least[1].value == (v)1 && least[1].index == (x)7 && \
			most[1].index == (x)7); \
		CHECK(c, check_class(MPI_Allreduce(in, least, 1, pair, MPI_SUM, \
			MPI_COMM_SELF)) == MPI_ERR_OP); \
	} while (0)

static void
located(struct check *c)
{
	int greatest = c->size > 2 ? 2 : c->size - 1;

	LOCATE(uint8_t, MPI_UINT8_T, int64_t, MPI_INT64_T);
	LOCATE(int64_t, MPI_INT64_T, int64_t, MPI_INT64_T);
	LOCATE(float, MPI_FLOAT, int64_t, MPI_INT64_T);
	LOCATE(double, MPI_DOUBLE, int16_t, MPI_INT16_T);
	LOCATE(long double, MPI_LONG_DOUBLE, MPI_Count, MPI_COUNT);
	LOCATE(uint32_t, MPI_UINT32_T, uint8_t, MPI_UINT8_T);
	LOCATE(MPI_Aint, MPI_AINT, uint16_t, MPI_UINT16_T);
	LOCATE(short, MPI_SHORT, int, MPI_INT);
	LOCATE(int8_t, MPI_INT8_T, uint64_t, MPI_UINT64_T);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	MPI_Datatype t;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	for (int i = 0; i < ORDERED; i++)
		for (int j = 0; j < WHOLE; j++)
			one(&c, ordered[i], ordered[j]);
	CHECK(&c, MPI_Type_get_value_index(MPI_C_BOOL, MPI_INT, &t) == MPI_SUCCESS &&
		t == MPI_DATATYPE_NULL);
	CHECK(&c, MPI_Type_get_value_index(MPI_DOUBLE, MPI_CHAR, &t) == MPI_SUCCESS &&
		t == MPI_DATATYPE_NULL);
	located(&c);
	return check_end(&c);
}
