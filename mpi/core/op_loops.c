/* SPDX-License-Identifier: MIT
 *
 * The loops of the predefined operations. Arithmetic on whole numbers is done unsigned, so that it
 * wraps.
 */
#include <complex.h>
#include <stdbool.h>
#include <mpi/core/op_loops.h>

#define EACH(name, c, expression) \
	static void name(const void *in, void *inout, size_t n) \
	{ \
		const c *a = in; \
		c *b = inout; \
		for (size_t i = 0; i < n; i++) \
			b[i] = (c)(expression); \
	}

#define LOGIC(s, c) \
	EACH(land_##s, c, a[i] && b[i]) \
	EACH(lor_##s, c, a[i] || b[i]) \
	EACH(lxor_##s, c, !a[i] != !b[i])

#define WRAPPING(s, c) \
	EACH(sum_##s, c, a[i] + b[i]) \
	EACH(prod_##s, c, 1u * a[i] * b[i]) \
	EACH(band_##s, c, a[i] & b[i]) \
	EACH(bor_##s, c, a[i] | b[i]) \
	EACH(bxor_##s, c, a[i] ^ b[i]) \
	LOGIC(s, c)

#define ORDERED(s, c) \
	EACH(min_##s, c, a[i] < b[i] ? a[i] : b[i]) \
	EACH(max_##s, c, a[i] > b[i] ? a[i] : b[i])

#define FIELD(s, c) \
	EACH(sum_##s, c, a[i] + b[i]) \
	EACH(prod_##s, c, a[i] * b[i])

#define LOCATE(name, c, better) \
	static void name(const void *in, void *inout, size_t n) \
	{ \
		const c *a = in; \
		c *b = inout; \
		for (size_t i = 0; i < n; i++) \
			if (a[i].value better b[i].value || \
				(a[i].value == b[i].value && a[i].index < b[i].index)) \
				b[i] = a[i]; \
	}

#define LOCATED(s, v, x) \
	struct pair_##s { v value; x index; }; \
	LOCATE(minloc_##s, struct pair_##s, <) \
	LOCATE(maxloc_##s, struct pair_##s, >)

WRAPPING(u8, uint8_t)
WRAPPING(u16, uint16_t)
WRAPPING(u32, uint32_t)
WRAPPING(u64, uint64_t)
ORDERED(char, char)
ORDERED(i8, int8_t)
ORDERED(i16, int16_t)
ORDERED(i32, int32_t)
ORDERED(i64, int64_t)
ORDERED(u8, uint8_t)
ORDERED(u16, uint16_t)
ORDERED(u32, uint32_t)
ORDERED(u64, uint64_t)
ORDERED(f32, float)
ORDERED(f64, double)
ORDERED(fld, long double)
FIELD(f32, float)
FIELD(f64, double)
FIELD(fld, long double)
FIELD(c32, float _Complex)
FIELD(c64, double _Complex)
EACH(sum_cld, long double _Complex, a[i] + b[i])
LOGIC(bool, bool)
LOCATED(float_int, float, int)
LOCATED(double_int, double, int)
LOCATED(long_int, long, int)
LOCATED(2int, int, int)
LOCATED(short_int, short, int)
LOCATED(ld_int, long double, int)
LOCATED(2f32, float, float)
LOCATED(2f64, double, double)

/*
 * By parts: where a part is no number the compiler would call its runtime, and that of one of ours
 * leaves values on the register stack.
 */
static void
prod_cld(const void *in, void *inout, size_t n)
{
	const long double (*a)[2] = in;
	long double (*b)[2] = inout;

	for (size_t i = 0; i < n; i++) {
		long double re = a[i][0] * b[i][0] - a[i][1] * b[i][1],
			im = a[i][0] * b[i][1] + a[i][1] * b[i][0];

		b[i][0] = re;
		b[i][1] = im;
	}
}

#define WHOLE(op) \
	[BASIC_I8] = op##_u8, [BASIC_I16] = op##_u16, [BASIC_I32] = op##_u32, \
		[BASIC_I64] = op##_u64, \
	[BASIC_U8] = op##_u8, [BASIC_U16] = op##_u16, [BASIC_U32] = op##_u32, \
		[BASIC_U64] = op##_u64, \
	[BASIC_CHAR] = op##_u8
#define FLOATING(op) [BASIC_F32] = op##_f32, [BASIC_F64] = op##_f64, [BASIC_FLD] = op##_fld
#define COMPLEX(op) [BASIC_C32] = op##_c32, [BASIC_C64] = op##_c64, [BASIC_CLD] = op##_cld
#define LOGICAL(op) \
	[BASIC_BOOL] = op##_bool, [BASIC_LOGICAL8] = op##_u8, \
	[BASIC_LOGICAL16] = op##_u16, [BASIC_LOGICAL32] = op##_u32, \
	[BASIC_LOGICAL64] = op##_u64
#define RANGE(op) \
	[BASIC_I8] = op##_i8, [BASIC_I16] = op##_i16, [BASIC_I32] = op##_i32, \
		[BASIC_I64] = op##_i64, \
	[BASIC_U8] = op##_u8, [BASIC_U16] = op##_u16, [BASIC_U32] = op##_u32, \
		[BASIC_U64] = op##_u64, \
	[BASIC_CHAR] = op##_char, FLOATING(op)
#define PAIRS(op) \
	[BASIC_FLOAT_INT] = op##_float_int, [BASIC_DOUBLE_INT] = op##_double_int, \
		[BASIC_LONG_INT] = op##_long_int, \
	[BASIC_2INT] = op##_2int, [BASIC_SHORT_INT] = op##_short_int, \
		[BASIC_LD_INT] = op##_ld_int, \
	[BASIC_2F32] = op##_2f32, [BASIC_2F64] = op##_2f64

void (*const mpi_op_loops[OP_ROWS][BASIC_COUNT])(const void *in, void *inout, size_t n) = {
	[OP_SUM] = {WHOLE(sum), FLOATING(sum), COMPLEX(sum)},
	[OP_PROD] = {WHOLE(prod), FLOATING(prod), COMPLEX(prod)},
	[OP_MIN] = {RANGE(min)},
	[OP_MAX] = {RANGE(max)},
	[OP_BAND] = {WHOLE(band), [BASIC_BYTE] = band_u8},
	[OP_BOR] = {WHOLE(bor), [BASIC_BYTE] = bor_u8},
	[OP_BXOR] = {WHOLE(bxor), [BASIC_BYTE] = bxor_u8},
	[OP_LAND] = {WHOLE(land), LOGICAL(land)},
	[OP_LOR] = {WHOLE(lor), LOGICAL(lor)},
	[OP_LXOR] = {WHOLE(lxor), LOGICAL(lxor)},
	[OP_MINLOC] = {PAIRS(minloc)},
	[OP_MAXLOC] = {PAIRS(maxloc)},
};
