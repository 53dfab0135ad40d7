/* SPDX-License-Identifier: MIT
 *
 * Predefined datatypes and the loops of operations, against the C compiler.
 * needs: mpi/core/type.c mpi/core/handle.c mpi/core/shape_basic.c mpi/core/op_loops.c
 */
#include <base/test.h>
#include <complex.h>
#include <stdbool.h>
#include <wchar.h>
#include <mpi/core/op_loops.h>
#include <mpi/core/rank.h>
#include <mpi/core/type.h>

static struct mpi_rank rank;

struct mpi_rank *
mpi_self(void)
{
	return &rank;
}

#define SIZE_OF(handle, c) \
	do { \
		const struct type *t = mpi_type_find(handle); \
		expect(t != NULL && t->size == sizeof(c) && t->extent == sizeof(c)); \
	} while (0)

TEST(types_have_the_sizes_of_their_c_types)
{
	SIZE_OF(MPI_CHAR, char);
	SIZE_OF(MPI_SHORT, short);
	SIZE_OF(MPI_INT, int);
	SIZE_OF(MPI_LONG, long);
	SIZE_OF(MPI_LONG_LONG, long long);
	SIZE_OF(MPI_LONG_LONG_INT, long long);
	SIZE_OF(MPI_SIGNED_CHAR, signed char);
	SIZE_OF(MPI_UNSIGNED_CHAR, unsigned char);
	SIZE_OF(MPI_UNSIGNED_SHORT, unsigned short);
	SIZE_OF(MPI_UNSIGNED, unsigned);
	SIZE_OF(MPI_UNSIGNED_LONG, unsigned long);
	SIZE_OF(MPI_UNSIGNED_LONG_LONG, unsigned long long);
	SIZE_OF(MPI_FLOAT, float);
	SIZE_OF(MPI_DOUBLE, double);
	SIZE_OF(MPI_LONG_DOUBLE, long double);
	SIZE_OF(MPI_WCHAR, wchar_t);
	SIZE_OF(MPI_C_BOOL, bool);
	SIZE_OF(MPI_INT8_T, int8_t);
	SIZE_OF(MPI_INT16_T, int16_t);
	SIZE_OF(MPI_INT32_T, int32_t);
	SIZE_OF(MPI_INT64_T, int64_t);
	SIZE_OF(MPI_UINT8_T, uint8_t);
	SIZE_OF(MPI_UINT16_T, uint16_t);
	SIZE_OF(MPI_UINT32_T, uint32_t);
	SIZE_OF(MPI_UINT64_T, uint64_t);
	SIZE_OF(MPI_C_COMPLEX, float _Complex);
	SIZE_OF(MPI_C_FLOAT_COMPLEX, float _Complex);
	SIZE_OF(MPI_C_DOUBLE_COMPLEX, double _Complex);
	SIZE_OF(MPI_C_LONG_DOUBLE_COMPLEX, long double _Complex);
	SIZE_OF(MPI_BYTE, char);
	SIZE_OF(MPI_PACKED, char);
	SIZE_OF(MPI_AINT, MPI_Aint);
	SIZE_OF(MPI_OFFSET, MPI_Offset);
	SIZE_OF(MPI_COUNT, MPI_Count);
	SIZE_OF(MPI_2INT, int[2]);
}

TEST(the_null_type_and_numbers_that_are_no_type_are_none)
{
	expect(mpi_type_find(MPI_DATATYPE_NULL) == NULL);
	expect(mpi_type_find((MPI_Datatype)0) == NULL);
	expect(mpi_type_find((MPI_Datatype)0x2ff) == NULL);
	expect(mpi_type_find((MPI_Datatype)0x204) == NULL);
	expect(mpi_type_find((MPI_Datatype)(uintptr_t)MPI_COMM_WORLD) == NULL);
}

static int
basic(MPI_Datatype handle)
{
	return mpi_type_find(handle)->basic;
}

TEST(sums_of_signed_numbers_wrap)
{
	int32_t a[2] = {INT32_MAX, 5}, b[2] = {1, -7};
	int64_t c = INT64_MIN, d = -1;

	mpi_op_loops[OP_SUM][basic(MPI_INT32_T)](a, b, 2);
	expect_eq(b[0], INT32_MIN);
	expect_eq(b[1], -2);
	mpi_op_loops[OP_SUM][basic(MPI_INT64_T)](&c, &d, 1);
	expect_eq(d, INT64_MAX);
}

TEST(extremes_know_the_sign)
{
	int8_t a = -1, b = 1;
	uint8_t c = 255, d = 1;

	mpi_op_loops[OP_MAX][basic(MPI_INT8_T)](&a, &b, 1);
	expect_eq(b, 1);
	mpi_op_loops[OP_MAX][basic(MPI_UINT8_T)](&c, &d, 1);
	expect_eq(d, 255);
	mpi_op_loops[OP_MIN][basic(MPI_SIGNED_CHAR)](&a, &b, 1);
	expect_eq(b, -1);
}

/* The standard leaves it open; the other libraries compute. */
TEST(characters_are_reduced_as_whole_numbers)
{
	char a = 'a', b = 'b', c = -1, d = 1;

	mpi_op_loops[OP_MAX][basic(MPI_CHAR)](&a, &b, 1);
	expect_eq(b, 'b');
	mpi_op_loops[OP_MIN][basic(MPI_CHAR)](&c, &d, 1);
	expect_eq(d, (char)-1 < 1 ? (char)-1 : 1);
	mpi_op_loops[OP_SUM][basic(MPI_CHAR)](&a, &d, 1);
	expect(mpi_op_loops[OP_BXOR][basic(MPI_CHAR)] != NULL &&
		mpi_op_loops[OP_LAND][basic(MPI_CHAR)] != NULL);
	expect(mpi_op_loops[OP_MAXLOC][basic(MPI_CHAR)] == NULL);
}

TEST(locations_take_the_lowest_index_of_equal_values)
{
	struct { double value; int index; } a = {3.5, 2}, b = {3.5, 7}, c = {4, 9};

	mpi_op_loops[OP_MAXLOC][basic(MPI_DOUBLE_INT)](&a, &b, 1);
	expect_eq(b.index, 2);
	mpi_op_loops[OP_MAXLOC][basic(MPI_DOUBLE_INT)](&c, &b, 1);
	expect_eq(b.index, 9);
	mpi_op_loops[OP_MINLOC][basic(MPI_DOUBLE_INT)](&a, &b, 1);
	expect_eq(b.index, 2);
}

TEST(operations_are_defined_where_the_standard_says)
{
	expect(mpi_op_loops[OP_SUM][basic(MPI_CHARACTER)] == NULL);
	expect(mpi_op_loops[OP_BAND][basic(MPI_DOUBLE)] == NULL);
	expect(mpi_op_loops[OP_BAND][basic(MPI_BYTE)] != NULL);
	expect(mpi_op_loops[OP_SUM][basic(MPI_BYTE)] == NULL);
	expect(mpi_op_loops[OP_MAX][basic(MPI_C_DOUBLE_COMPLEX)] == NULL);
	expect(mpi_op_loops[OP_PROD][basic(MPI_C_DOUBLE_COMPLEX)] != NULL);
	expect(mpi_op_loops[OP_LAND][basic(MPI_C_BOOL)] != NULL);
	expect(mpi_op_loops[OP_LAND][basic(MPI_FLOAT)] == NULL);
	expect(mpi_op_loops[OP_MAXLOC][basic(MPI_INT)] == NULL);
	expect(mpi_op_loops[OP_SUM][basic(MPI_AINT)] != NULL);
}

int
main(void)
{
	RUN(types_have_the_sizes_of_their_c_types);
	RUN(the_null_type_and_numbers_that_are_no_type_are_none);
	RUN(sums_of_signed_numbers_wrap);
	RUN(extremes_know_the_sign);
	RUN(characters_are_reduced_as_whole_numbers);
	RUN(locations_take_the_lowest_index_of_equal_values);
	RUN(operations_are_defined_where_the_standard_says);
	return TEST_FAILED;
}
