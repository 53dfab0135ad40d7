/* SPDX-License-Identifier: MIT
 *
 * Predefined datatypes. Their handles lie in two ranges, with a hole between them.
 */
#include <complex.h>
#include <wchar.h>
#include <mpi/core/rank.h>
#include <mpi/core/type.h>

#define FIRST TYPES_FIRST
#define HOLE TYPES_HOLE
#define AFTER_HOLE 0x2c0
#define END 0x2ec
#define SLOT(h) ((h) < HOLE ? (h) - FIRST : (h) - AFTER_HOLE + (HOLE - FIRST))
#define AT(handle) [SLOT(handle)]

#define INTEGER(c) (sizeof(c) == 1 ? BASIC_I8 : sizeof(c) == 2 ? BASIC_I16 : sizeof(c) == 4 ? \
	BASIC_I32 : BASIC_I64)
#define UNSIGNED(c) (sizeof(c) == 1 ? BASIC_U8 : sizeof(c) == 2 ? BASIC_U16 : sizeof(c) == 4 ? \
	BASIC_U32 : BASIC_U64)
#define ALWAYS (TYPE_DEFINED | TYPE_PREDEFINED | TYPE_COMMITTED)
#define TYPE(c, b, r) {.size = sizeof(c), .extent = sizeof(c), .true_extent = sizeof(c), \
	.basic = (b), .rep = (r), .align = _Alignof(c), \
	.flags = ALWAYS | TYPE_PLAIN}
/* a value and an index, perhaps with gaps */
#define PAIR(c, v, b, r) {.size = sizeof(v) + sizeof(int), .extent = sizeof(c), \
	.true_extent = offsetof(c, index) + sizeof(int), \
	.basic = (b), .rep = (r), .align = _Alignof(c), .flags = ALWAYS | \
		(sizeof(c) == sizeof(v) + sizeof(int) ? TYPE_PLAIN : 0)}
/* moved only */
#define OPAQUE(bytes, alignment, r) {.size = (bytes), .extent = (bytes), .true_extent = (bytes), \
	.rep = (r), .align = (alignment), \
	.flags = ALWAYS | TYPE_PLAIN}

struct float_int { float value; int index; };
struct double_int { double value; int index; };
struct long_int { long value; int index; };
struct two_int { int value; int index; };
struct short_int { short value; int index; };
struct ld_int { long double value; int index; };

/* the handles are those of <mpi.h>; a test compares the two */
const struct type mpi_predefined_types[SLOT(END)] = {
	AT(0x201) = TYPE(MPI_Aint, INTEGER(MPI_Aint), sizeof(MPI_Aint) == 8 ? REP_I64 : REP_I32),
	AT(0x202) = TYPE(MPI_Count, BASIC_I64, REP_I64),
	AT(0x203) = TYPE(MPI_Offset, BASIC_I64, REP_I64),
	AT(0x207) = TYPE(char, BASIC_NONE, REP_BYTE),				/* PACKED */
	AT(0x208) = TYPE(short, BASIC_I16, REP_I16),
	AT(0x209) = TYPE(int, BASIC_I32, REP_I32),
	AT(0x20a) = TYPE(long, INTEGER(long), REP_LONG),
	AT(0x20b) = TYPE(long long, BASIC_I64, REP_I64),
	AT(0x20c) = TYPE(unsigned short, BASIC_U16, REP_U16),
	AT(0x20d) = TYPE(unsigned, BASIC_U32, REP_U32),
	AT(0x20e) = TYPE(unsigned long, UNSIGNED(unsigned long), REP_ULONG),
	AT(0x20f) = TYPE(unsigned long long, BASIC_U64, REP_U64),
	AT(0x210) = TYPE(float, BASIC_F32, REP_F32),
	AT(0x212) = TYPE(float _Complex, BASIC_C32, REP_C32),
	/* CXX_FLOAT_COMPLEX */
	AT(0x213) = TYPE(float _Complex, BASIC_C32, REP_C32),
	AT(0x214) = TYPE(double, BASIC_F64, REP_F64),
	AT(0x216) = TYPE(double _Complex, BASIC_C64, REP_C64),
	/* CXX_DOUBLE_COMPLEX */
	AT(0x217) = TYPE(double _Complex, BASIC_C64, REP_C64),
	AT(0x218) = TYPE(int32_t, BASIC_LOGICAL32, REP_I32),			/* LOGICAL */
	AT(0x219) = TYPE(int32_t, BASIC_I32, REP_I32),				/* INTEGER */
	AT(0x21a) = TYPE(float, BASIC_F32, REP_F32),				/* REAL */
	AT(0x21b) = TYPE(float _Complex, BASIC_C32, REP_C32),			/* COMPLEX */
	/* DOUBLE_PRECISION */
	AT(0x21c) = TYPE(double, BASIC_F64, REP_F64),
	AT(0x21d) = TYPE(double _Complex, BASIC_C64, REP_C64),			/* DOUBLE_COMPLEX */
	AT(0x21e) = TYPE(char, BASIC_NONE, REP_BYTE),				/* CHARACTER */
	AT(0x220) = TYPE(long double, BASIC_FLD, REP_FLD),
	AT(0x224) = TYPE(long double _Complex, BASIC_CLD, REP_CLD),
	/* CXX_LONG_DOUBLE_COMPLEX */
	AT(0x225) = TYPE(long double _Complex, BASIC_CLD, REP_CLD),
	AT(0x228) = PAIR(struct float_int, float, BASIC_FLOAT_INT, REP_FLOAT_INT),
	AT(0x229) = PAIR(struct double_int, double, BASIC_DOUBLE_INT, REP_DOUBLE_INT),
	AT(0x22a) = PAIR(struct long_int, long, BASIC_LONG_INT, REP_LONG_INT),
	AT(0x22b) = PAIR(struct two_int, int, BASIC_2INT, REP_2INT),
	AT(0x22c) = PAIR(struct short_int, short, BASIC_SHORT_INT, REP_SHORT_INT),
	AT(0x22d) = PAIR(struct ld_int, long double, BASIC_LD_INT, REP_LD_INT),
	AT(0x230) = TYPE(float[2], BASIC_2F32, REP_2F32),			/* 2REAL */
	/* 2DOUBLE_PRECISION */
	AT(0x231) = TYPE(double[2], BASIC_2F64, REP_2F64),
	AT(0x232) = TYPE(int32_t[2], BASIC_2INT, REP_2INT),			/* 2INTEGER */
	AT(0x238) = TYPE(bool, BASIC_BOOL, REP_U8),
	AT(0x239) = TYPE(bool, BASIC_BOOL, REP_U8),				/* CXX_BOOL */
	AT(0x23c) = TYPE(wchar_t, BASIC_NONE, REP_WCHAR),
	AT(0x240) = TYPE(int8_t, BASIC_I8, REP_I8),
	AT(0x241) = TYPE(uint8_t, BASIC_U8, REP_U8),
	AT(0x243) = TYPE(char, BASIC_CHAR, REP_BYTE),
	AT(0x244) = TYPE(signed char, BASIC_I8, REP_I8),
	AT(0x245) = TYPE(unsigned char, BASIC_U8, REP_U8),
	AT(0x247) = TYPE(char, BASIC_BYTE, REP_BYTE),
	AT(0x248) = TYPE(int16_t, BASIC_I16, REP_I16),
	AT(0x249) = TYPE(uint16_t, BASIC_U16, REP_U16),
	AT(0x250) = TYPE(int32_t, BASIC_I32, REP_I32),
	AT(0x251) = TYPE(uint32_t, BASIC_U32, REP_U32),
	AT(0x258) = TYPE(int64_t, BASIC_I64, REP_I64),
	AT(0x259) = TYPE(uint64_t, BASIC_U64, REP_U64),
	AT(0x2c0) = TYPE(int8_t, BASIC_LOGICAL8, REP_I8),
	AT(0x2c1) = TYPE(int8_t, BASIC_I8, REP_I8),
	AT(0x2c8) = TYPE(int16_t, BASIC_LOGICAL16, REP_I16),
	AT(0x2c9) = TYPE(int16_t, BASIC_I16, REP_I16),
	AT(0x2ca) = OPAQUE(2, 2, REP_F16),					/* REAL2 */
	AT(0x2d0) = TYPE(int32_t, BASIC_LOGICAL32, REP_I32),
	AT(0x2d1) = TYPE(int32_t, BASIC_I32, REP_I32),
	AT(0x2d2) = TYPE(float, BASIC_F32, REP_F32),
	AT(0x2d3) = OPAQUE(4, 2, REP_C16),					/* COMPLEX4 */
	AT(0x2d8) = TYPE(int64_t, BASIC_LOGICAL64, REP_I64),
	AT(0x2d9) = TYPE(int64_t, BASIC_I64, REP_I64),
	AT(0x2da) = TYPE(double, BASIC_F64, REP_F64),
	AT(0x2db) = TYPE(float _Complex, BASIC_C32, REP_C32),			/* COMPLEX8 */
	AT(0x2e0) = OPAQUE(16, 16, REP_I128),					/* LOGICAL16 */
	AT(0x2e1) = OPAQUE(16, 16, REP_I128),					/* INTEGER16 */
	AT(0x2e2) = OPAQUE(16, 16, REP_F128),					/* REAL16 */
	AT(0x2e3) = TYPE(double _Complex, BASIC_C64, REP_C64),			/* COMPLEX16 */
	AT(0x2eb) = OPAQUE(32, 16, REP_C128),					/* COMPLEX32 */
};

struct type *
mpi_type_find(MPI_Datatype handle)
{
	uintptr_t h = (uintptr_t)handle, slot = h < AFTER_HOLE ? h - FIRST :
		h - AFTER_HOLE + (HOLE - FIRST);

	if (h >= END)
		return mpi_handle_find(&mpi_self()->tables[HANDLE_TYPE], h);
	if (h < FIRST || (h >= HOLE && h < AFTER_HOLE) || mpi_predefined_types[slot].flags == 0)
		return NULL;
	return (struct type *)(uintptr_t)&mpi_predefined_types[slot];
}

MPI_Datatype
mpi_type_predefined_handle(const struct type *t)
{
	uintptr_t slot = (uintptr_t)(t - mpi_predefined_types);

	return (MPI_Datatype)(slot < HOLE - FIRST ? slot + FIRST :
		slot - (HOLE - FIRST) + AFTER_HOLE);
}
