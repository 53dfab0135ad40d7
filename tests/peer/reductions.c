/* SPDX-License-Identifier: MIT
 *
 * What an MPI library makes of every operation on every predefined type, as text: a line for each
 * pair, with the bytes of the result, or "refused".
 */
#include <complex.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#define ELEMENTS 4
#define BYTES 256
#define LONG_DOUBLE_BYTES 10		/* the others are padding */

/* How values of a type are made. */
enum kind {
	WHOLE, LOGICAL, FLOAT, DOUBLE, LONG_DOUBLE, PAIR_FLOAT, PAIR_DOUBLE, PAIR_LONG_DOUBLE,
	PAIR_LONG,
	PAIR_INT, PAIR_SHORT
};

struct type {
	const char *name;
	MPI_Datatype type;
	enum kind kind;
};

static const int values[2][ELEMENTS] = {{5, -1, 0, 0}, {3, 1, 2, 0}};

static void
put_pair(char *at, enum kind kind, int value)
{
	float f = (float)value;
	double d = value;
	long double l = value;
	long whole = value;
	short brief = (short)value;
	int index = 7 - value;
	size_t index_at = kind == PAIR_LONG_DOUBLE ? sizeof(l) : kind == PAIR_DOUBLE ||
		kind == PAIR_LONG ? 8 : 4;

	switch (kind) {
	case PAIR_FLOAT: memcpy(at, &f, sizeof(f)); break;
	case PAIR_DOUBLE: memcpy(at, &d, sizeof(d)); break;
	case PAIR_LONG_DOUBLE: memcpy(at, &l, LONG_DOUBLE_BYTES); break;
	case PAIR_LONG: memcpy(at, &whole, sizeof(whole)); break;
	case PAIR_INT: memcpy(at, &value, sizeof(value)); break;
	default: memcpy(at, &brief, sizeof(brief)); break;
	}
	memcpy(at + index_at, &index, sizeof(index));
}

/* A number, or as many equal ones as a value of the type has parts. */
static void
put(char *at, enum kind kind, size_t size, int value)
{
	float f = (float)value;
	double d = value;
	long double l = value;
	int64_t whole = kind == LOGICAL ? value != 0 : value;

	if (kind >= PAIR_FLOAT)
		put_pair(at, kind, value);
	else if (kind <= LOGICAL)
		memcpy(at, &whole, size < sizeof(whole) ? size : sizeof(whole));
	for (size_t i = 0; kind == FLOAT && i < size; i += sizeof(f))
		memcpy(at + i, &f, sizeof(f));
	for (size_t i = 0; kind == DOUBLE && i < size; i += sizeof(d))
		memcpy(at + i, &d, sizeof(d));
	for (size_t i = 0; kind == LONG_DOUBLE && i < size; i += sizeof(l))
		memcpy(at + i, &l, LONG_DOUBLE_BYTES);
}

static void
try(const struct type *t, const char *op_name, MPI_Op op)
{
	char in[BYTES] = {0}, inout[BYTES] = {0};
	MPI_Aint lb, extent;
	int size = 0;

	if (t->type == MPI_DATATYPE_NULL || MPI_Type_size(t->type, &size) != MPI_SUCCESS ||
		size <= 0)
		return;
	MPI_Type_get_extent(t->type, &lb, &extent);
	if (extent <= 0 || extent * ELEMENTS > BYTES)
		return;
	for (int i = 0; i < ELEMENTS; i++) {
		put(in + i * extent, t->kind, (size_t)extent, values[0][i]);
		put(inout + i * extent, t->kind, (size_t)extent, values[1][i]);
	}
	printf("%s %s ", t->name, op_name);
	if (MPI_Reduce_local(in, inout, ELEMENTS, t->type, op) != MPI_SUCCESS) {
		printf("refused\n");
		return;
	}
	for (int i = 0; i < ELEMENTS * (int)extent; i++)
		if ((t->kind != LONG_DOUBLE && t->kind != PAIR_LONG_DOUBLE) ||
			i % 16 < LONG_DOUBLE_BYTES)
			printf("%02x", (unsigned char)inout[i]);
	printf("\n");
}

#define T(name, kind) {#name, MPI_##name, kind}

static void
all(void)
{
	const struct type types[] = {
		T(CHAR, WHOLE), T(WCHAR, WHOLE), T(SIGNED_CHAR, WHOLE), T(UNSIGNED_CHAR, WHOLE),
		T(BYTE, WHOLE), T(PACKED, WHOLE), T(SHORT, WHOLE), T(UNSIGNED_SHORT, WHOLE),
		T(INT, WHOLE), T(UNSIGNED, WHOLE), T(LONG, WHOLE), T(UNSIGNED_LONG, WHOLE),
		T(LONG_LONG, WHOLE), T(UNSIGNED_LONG_LONG, WHOLE), T(INT8_T, WHOLE),
		T(INT16_T, WHOLE), T(INT32_T, WHOLE), T(INT64_T, WHOLE), T(UINT8_T, WHOLE),
		T(UINT16_T, WHOLE), T(UINT32_T, WHOLE), T(UINT64_T, WHOLE), T(AINT, WHOLE),
		T(COUNT, WHOLE), T(OFFSET, WHOLE), T(C_BOOL, LOGICAL), T(CXX_BOOL, LOGICAL),
		T(FLOAT, FLOAT), T(DOUBLE, DOUBLE), T(LONG_DOUBLE, LONG_DOUBLE),
		T(C_FLOAT_COMPLEX, FLOAT), T(C_DOUBLE_COMPLEX, DOUBLE),
		T(C_LONG_DOUBLE_COMPLEX, LONG_DOUBLE), T(CXX_FLOAT_COMPLEX, FLOAT),
		T(CXX_DOUBLE_COMPLEX, DOUBLE), T(CXX_LONG_DOUBLE_COMPLEX, LONG_DOUBLE),
		T(FLOAT_INT, PAIR_FLOAT), T(DOUBLE_INT, PAIR_DOUBLE),
		T(LONG_DOUBLE_INT, PAIR_LONG_DOUBLE), T(LONG_INT, PAIR_LONG), T(2INT, PAIR_INT),
		T(SHORT_INT, PAIR_SHORT), T(INTEGER, WHOLE), T(LOGICAL, LOGICAL), T(REAL, FLOAT),
		T(DOUBLE_PRECISION, DOUBLE), T(COMPLEX, FLOAT), T(CHARACTER, WHOLE),
		T(2INTEGER, PAIR_INT), T(2REAL, FLOAT), T(2DOUBLE_PRECISION, DOUBLE)};
	const struct {
		const char *name;
		MPI_Op op;
	} ops[] = {{"MAX", MPI_MAX}, {"MIN", MPI_MIN}, {"SUM", MPI_SUM}, {"PROD", MPI_PROD},
		{"LAND", MPI_LAND}, {"BAND", MPI_BAND}, {"LOR", MPI_LOR}, {"BOR", MPI_BOR},
		{"LXOR", MPI_LXOR}, {"BXOR", MPI_BXOR}, {"MINLOC", MPI_MINLOC},
		{"MAXLOC", MPI_MAXLOC},
		{"REPLACE", MPI_REPLACE}, {"NO_OP", MPI_NO_OP}};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		for (size_t k = 0; k < sizeof(ops) / sizeof(ops[0]); k++)
			try(&types[i], ops[k].name, ops[k].op);
}

int
main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	all();
	MPI_Finalize();
	return 0;
}
