/* SPDX-License-Identifier: MIT
 *
 * Predefined datatypes.
 */
#include <complex.h>
#include <stdbool.h>
#include <wchar.h>
#include <mpi/core/type.h>

#define FIRST 0x200
#define LAST 0x2eb
#define AT(handle) [(handle) - FIRST]

#define INTEGER(c) (sizeof(c) == 1 ? BASIC_I8 : sizeof(c) == 2 ? BASIC_I16 : sizeof(c) == 4 ? BASIC_I32 : BASIC_I64)
#define UNSIGNED(c) (sizeof(c) == 1 ? BASIC_U8 : sizeof(c) == 2 ? BASIC_U16 : sizeof(c) == 4 ? BASIC_U32 : BASIC_U64)
#define TYPE(c, b) {.size = sizeof(c), .extent = sizeof(c), .basic = (b), .defined = 1}
#define PAIR(c, bytes, b) {.size = (bytes), .extent = sizeof(c), .basic = (b), .defined = 1}

struct float_int { float value; int index; };
struct double_int { double value; int index; };
struct long_int { long value; int index; };
struct two_int { int value; int index; };
struct short_int { short value; int index; };
struct ld_int { long double value; int index; };

/* the handles are those of <mpi.h>; a test compares the two */
static const struct type predefined[LAST - FIRST + 1] = {
	AT(0x201) = TYPE(MPI_Aint, INTEGER(MPI_Aint)),
	AT(0x202) = TYPE(MPI_Count, BASIC_I64),
	AT(0x203) = TYPE(MPI_Offset, BASIC_I64),
	AT(0x207) = TYPE(char, BASIC_NONE),			/* PACKED */
	AT(0x208) = TYPE(short, BASIC_I16),
	AT(0x209) = TYPE(int, BASIC_I32),
	AT(0x20a) = TYPE(long, INTEGER(long)),
	AT(0x20b) = TYPE(long long, BASIC_I64),
	AT(0x20c) = TYPE(unsigned short, BASIC_U16),
	AT(0x20d) = TYPE(unsigned, BASIC_U32),
	AT(0x20e) = TYPE(unsigned long, UNSIGNED(unsigned long)),
	AT(0x20f) = TYPE(unsigned long long, BASIC_U64),
	AT(0x210) = TYPE(float, BASIC_F32),
	AT(0x212) = TYPE(float _Complex, BASIC_C32),
	AT(0x213) = TYPE(float _Complex, BASIC_C32),		/* CXX_FLOAT_COMPLEX */
	AT(0x214) = TYPE(double, BASIC_F64),
	AT(0x216) = TYPE(double _Complex, BASIC_C64),
	AT(0x217) = TYPE(double _Complex, BASIC_C64),		/* CXX_DOUBLE_COMPLEX */
	AT(0x218) = TYPE(int32_t, BASIC_LOGICAL32),		/* LOGICAL */
	AT(0x219) = TYPE(int32_t, BASIC_I32),			/* INTEGER */
	AT(0x21a) = TYPE(float, BASIC_F32),			/* REAL */
	AT(0x21b) = TYPE(float _Complex, BASIC_C32),		/* COMPLEX */
	AT(0x21c) = TYPE(double, BASIC_F64),			/* DOUBLE_PRECISION */
	AT(0x21d) = TYPE(double _Complex, BASIC_C64),		/* DOUBLE_COMPLEX */
	AT(0x21e) = TYPE(char, BASIC_NONE),			/* CHARACTER */
	AT(0x220) = TYPE(long double, BASIC_FLD),
	AT(0x224) = TYPE(long double _Complex, BASIC_CLD),
	AT(0x225) = TYPE(long double _Complex, BASIC_CLD),	/* CXX_LONG_DOUBLE_COMPLEX */
	AT(0x228) = PAIR(struct float_int, sizeof(float) + sizeof(int), BASIC_FLOAT_INT),
	AT(0x229) = PAIR(struct double_int, sizeof(double) + sizeof(int), BASIC_DOUBLE_INT),
	AT(0x22a) = PAIR(struct long_int, sizeof(long) + sizeof(int), BASIC_LONG_INT),
	AT(0x22b) = TYPE(struct two_int, BASIC_2INT),
	AT(0x22c) = PAIR(struct short_int, sizeof(short) + sizeof(int), BASIC_SHORT_INT),
	AT(0x22d) = PAIR(struct ld_int, sizeof(long double) + sizeof(int), BASIC_LD_INT),
	AT(0x230) = TYPE(float[2], BASIC_2F32),			/* 2REAL */
	AT(0x231) = TYPE(double[2], BASIC_2F64),		/* 2DOUBLE_PRECISION */
	AT(0x232) = TYPE(int32_t[2], BASIC_2INT),		/* 2INTEGER */
	AT(0x238) = TYPE(bool, BASIC_BOOL),
	AT(0x239) = TYPE(bool, BASIC_BOOL),			/* CXX_BOOL */
	AT(0x23c) = TYPE(wchar_t, BASIC_NONE),
	AT(0x240) = TYPE(int8_t, BASIC_I8),
	AT(0x241) = TYPE(uint8_t, BASIC_U8),
	AT(0x243) = TYPE(char, BASIC_NONE),
	AT(0x244) = TYPE(signed char, BASIC_I8),
	AT(0x245) = TYPE(unsigned char, BASIC_U8),
	AT(0x247) = TYPE(char, BASIC_BYTE),
	AT(0x248) = TYPE(int16_t, BASIC_I16),
	AT(0x249) = TYPE(uint16_t, BASIC_U16),
	AT(0x250) = TYPE(int32_t, BASIC_I32),
	AT(0x251) = TYPE(uint32_t, BASIC_U32),
	AT(0x258) = TYPE(int64_t, BASIC_I64),
	AT(0x259) = TYPE(uint64_t, BASIC_U64),
	AT(0x2c0) = TYPE(int8_t, BASIC_LOGICAL8),
	AT(0x2c1) = TYPE(int8_t, BASIC_I8),
	AT(0x2c8) = TYPE(int16_t, BASIC_LOGICAL16),
	AT(0x2c9) = TYPE(int16_t, BASIC_I16),
	AT(0x2d0) = TYPE(int32_t, BASIC_LOGICAL32),
	AT(0x2d1) = TYPE(int32_t, BASIC_I32),
	AT(0x2d2) = TYPE(float, BASIC_F32),
	AT(0x2d8) = TYPE(int64_t, BASIC_LOGICAL64),
	AT(0x2d9) = TYPE(int64_t, BASIC_I64),
	AT(0x2da) = TYPE(double, BASIC_F64),
	AT(0x2db) = TYPE(float _Complex, BASIC_C32),		/* COMPLEX8 */
	AT(0x2e3) = TYPE(double _Complex, BASIC_C64),		/* COMPLEX16 */
};

const struct type *
mpi_type_find(MPI_Datatype handle)
{
	uintptr_t h = (uintptr_t)handle;

	if (h < FIRST || h > LAST || !predefined[h - FIRST].defined)
		return NULL;
	return &predefined[h - FIRST];
}
