/* SPDX-License-Identifier: MIT
 *
 * The leaves of all shapes: basic elements, and the predefined pairs.
 */
#include <complex.h>
#include <wchar.h>
#include <mpi/core/shape.h>

const struct rep_info mpi_reps[REP_LEAVES] = {
	[REP_BYTE] = {1, 1, 1, 'b'},
	[REP_I8] = {1, 1, 1, 's'},
	[REP_U8] = {1, 1, 1, 'u'},
	[REP_I16] = {2, 1, 2, 's'},
	[REP_U16] = {2, 1, 2, 'u'},
	[REP_I32] = {4, 1, 4, 's'},
	[REP_U32] = {4, 1, 4, 'u'},
	[REP_I64] = {8, 1, 8, 's'},
	[REP_U64] = {8, 1, 8, 'u'},
	[REP_LONG] = {sizeof(long), 1, 4, 's'},
	[REP_ULONG] = {sizeof(long), 1, 4, 'u'},
	[REP_WCHAR] = {sizeof(wchar_t), 1, 2, 'u'},
	[REP_I128] = {16, 1, 16, 's'},
	[REP_F16] = {2, 1, 2, 'f'},
	[REP_F32] = {4, 1, 4, 'f'},
	[REP_F64] = {8, 1, 8, 'f'},
	[REP_FLD] = {sizeof(long double), 1, 16, 'f'},
	[REP_F128] = {16, 1, 16, 'f'},
	[REP_C16] = {2, 2, 2, 'f'},
	[REP_C32] = {4, 2, 4, 'f'},
	[REP_C64] = {8, 2, 8, 'f'},
	[REP_CLD] = {sizeof(long double), 2, 16, 'f'},
	[REP_C128] = {16, 2, 16, 'f'},
};

#define LEAF(r, bytes) \
	[r] = {.kind = SHAPE_LEAF, .rep = (r), .dense = true, .size = (bytes), .elements = 1, \
		.signature = SIGNATURE_OF(r)}

/* two elements at 0 and at `second` */
#define TWO(r1, size1, r2, size2, second) \
	{{0, 0, 1, (size1), &mpi_basic_shapes[r1]}, \
		{(second), (size1), 1, (size2), &mpi_basic_shapes[r2]}, \
		{0, (size1) + (size2), 0, 0, NULL}}
#define PAIR(r, r1, size1, r2, size2, second) \
	[r] = {.kind = SHAPE_PARTS, .dense = (size1) == (second), .depth = 1, \
		.size = (size1) + (size2), \
		.elements = 2, .count = 2, \
		.signature = SIGNATURE_OF(r1) * SIGNATURE_FACTOR + SIGNATURE_OF(r2), \
			.parts = pairs[(r) - REP_LEAVES]}

struct double_int { double value; int index; };
struct long_int { long value; int index; };
struct short_int { short value; int index; };
struct ld_int { long double value; int index; };

static const struct part pairs[REP_COUNT - REP_LEAVES][3] = {
	TWO(REP_F32, 4, REP_I32, 4, 4),
	TWO(REP_F64, 8, REP_I32, 4, offsetof(struct double_int, index)),
	TWO(REP_LONG, sizeof(long), REP_I32, 4, offsetof(struct long_int, index)),
	TWO(REP_I32, 4, REP_I32, 4, 4),
	TWO(REP_I16, 2, REP_I32, 4, offsetof(struct short_int, index)),
	TWO(REP_FLD, sizeof(long double), REP_I32, 4, offsetof(struct ld_int, index)),
	TWO(REP_F32, 4, REP_F32, 4, 4),
	TWO(REP_F64, 8, REP_F64, 8, 8),
};

const struct shape mpi_basic_shapes[REP_COUNT] = {
	LEAF(REP_BYTE, 1), LEAF(REP_I8, 1), LEAF(REP_U8, 1), LEAF(REP_I16, 2), LEAF(REP_U16, 2),
		LEAF(REP_I32, 4), LEAF(REP_U32, 4),
	LEAF(REP_I64, 8), LEAF(REP_U64, 8), LEAF(REP_LONG, sizeof(long)),
	LEAF(REP_ULONG, sizeof(long)),
	LEAF(REP_WCHAR, sizeof(wchar_t)), LEAF(REP_I128, 16), LEAF(REP_F16, 2), LEAF(REP_F32, 4),
	LEAF(REP_F64, 8),
	LEAF(REP_FLD, sizeof(long double)), LEAF(REP_F128, 16), LEAF(REP_C16, 4), LEAF(REP_C32, 8),
	LEAF(REP_C64, 16),
	LEAF(REP_CLD, 2 * sizeof(long double)), LEAF(REP_C128, 32),
	PAIR(REP_FLOAT_INT, REP_F32, 4, REP_I32, 4, 4),
	PAIR(REP_DOUBLE_INT, REP_F64, 8, REP_I32, 4, offsetof(struct double_int, index)),
	PAIR(REP_LONG_INT, REP_LONG, sizeof(long), REP_I32, 4, offsetof(struct long_int, index)),
	PAIR(REP_2INT, REP_I32, 4, REP_I32, 4, 4),
	PAIR(REP_SHORT_INT, REP_I16, 2, REP_I32, 4, offsetof(struct short_int, index)),
	PAIR(REP_LD_INT, REP_FLD, sizeof(long double), REP_I32, 4, offsetof(struct ld_int, index)),
	PAIR(REP_2F32, REP_F32, 4, REP_F32, 4, 4),
	PAIR(REP_2F64, REP_F64, 8, REP_F64, 8, 8),
};
