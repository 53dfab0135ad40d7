/* SPDX-License-Identifier: MIT
 *
 * external32: big-endian, with sizes that the standard fixes for each basic type. A larger integer
 * keeps its low bytes and its sign; long double becomes IEEE binary128.
 *
 * Source: MPI 5.0, 14.5.2.
 */
#include <float.h>
#include <string.h>
#include <mpi/core/derived.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers start with their low byte");

#define QUAD_BYTES 16
#define LONG_DOUBLE_IS_QUAD (LDBL_MANT_DIG == 113)

struct converter {
	unsigned char *stream;
	bool packs;
};

static void
reverse(unsigned char *to, const unsigned char *from, size_t len)
{
	for (size_t i = 0; i < len; i++)
		to[i] = from[len - 1 - i];
}

/*
 * 64 bits of fraction behind an explicit first one, and 16 of sign and exponent: the quad's
 * fraction has 48 bits more, all zero.
 */
static void
quad_from_extended(unsigned char *quad, const unsigned char *extended)
{
	uint64_t fraction;

	memcpy(&fraction, extended, sizeof(fraction));
	fraction <<= 1;
	memset(quad, 0, QUAD_BYTES);
	reverse(quad, extended + 8, 2);
	reverse(quad + 2, (const unsigned char *)&fraction, 8);
}

/* Rounds to the nearest, in the middle to the even one. */
static void
extended_from_quad(unsigned char *extended, const unsigned char *quad)
{
	uint64_t fraction, below = 0;
	uint16_t top;
	bool half, finite;

	reverse((unsigned char *)&top, quad, 2);
	reverse((unsigned char *)&fraction, quad + 2, 8);
	for (int i = 10; i < QUAD_BYTES; i++)
		below |= quad[i];
	finite = (top & 0x7fff) != 0x7fff;
	half = fraction & 1;
	fraction = fraction >> 1 | ((top & 0x7fff) != 0 ? (uint64_t)1 << 63 : 0);
	if (!finite && below != 0)
		fraction |= (uint64_t)1 << 62;		/* a NaN remains one */
	if (finite && half && (below != 0 || (fraction & 1))) {
		fraction++;
		if (fraction == 0 || ((top & 0x7fff) == 0 && fraction >> 63)) {
			fraction |= (uint64_t)1 << 63;
			top++;
		}
	}
	memset(extended, 0, sizeof(long double));
	memcpy(extended, &fraction, 8);
	memcpy(extended + 8, &top, 2);
}

static void
convert_component(struct converter *c, const struct rep_info *info, bool extended,
	unsigned char *memory)
{
	bool negative;

	if (extended && c->packs) {
		quad_from_extended(c->stream, memory);
	} else if (extended) {
		extended_from_quad(memory, c->stream);
	} else if (c->packs) {
		reverse(c->stream, memory, info->external);
	} else {
		negative = info->kind == 's' && c->stream[0] & 0x80;
		reverse(memory, c->stream, info->external);
		memset(memory + info->external, negative ? 0xff : 0,
			(size_t)(info->size - info->external));
	}
	c->stream += info->external;
}

static void
convert_leaf(struct converter *c, const struct shape *s, char *memory)
{
	const struct rep_info *info = &mpi_reps[s->rep];
	bool extended = (s->rep == REP_FLD || s->rep == REP_CLD) && !LONG_DOUBLE_IS_QUAD;

	for (int i = 0; i < info->components; i++)
		convert_component(c, info, extended, (unsigned char *)memory + i * info->size);
}

static void convert(struct converter *c, const struct shape *s, char *memory);

static void
convert_repeated(struct converter *c, const struct shape *of, MPI_Count count, MPI_Aint stride,
	char *memory)
{
	for (; count > 0; count--, memory = address_shift(memory, stride))
		convert(c, of, memory);
}

static void
convert(struct converter *c, const struct shape *s, char *memory)
{
	switch (s->kind) {
	case SHAPE_LEAF:
		convert_leaf(c, s, memory);
		break;
	case SHAPE_LOOP:
		convert_repeated(c, s->of, s->count, s->stride, address_shift(memory, s->at));
		break;
	case SHAPE_RUNS:
		for (MPI_Count i = 0; i < s->count; i++)
			convert_repeated(c, s->of,
				(s->runs[i + 1].start - s->runs[i].start) / s->of->size, s->stride,
				address_shift(memory, s->runs[i].at));
		break;
	default:
		for (MPI_Count i = 0; i < s->count; i++)
			convert_repeated(c, s->parts[i].of, s->parts[i].count, s->parts[i].stride,
				address_shift(memory, s->parts[i].at));
	}
}

void
mpi_external_pack(const struct type *t, MPI_Count count, const void *buffer, void *out)
{
	struct converter c = {out, true};

	convert_repeated(&c, mpi_type_shape(t), count, (MPI_Aint)t->extent,
		(char *)(uintptr_t)buffer);
}

void
mpi_external_unpack(const struct type *t, MPI_Count count, void *buffer, const void *in)
{
	struct converter c = {(unsigned char *)(uintptr_t)in, false};

	convert_repeated(&c, mpi_type_shape(t), count, (MPI_Aint)t->extent, buffer);
}

/* No element has more than 32 bytes, so that a caller can tell beforehand whether the sum fits. */
static MPI_Count
shape_bytes(const struct shape *s)
{
	MPI_Count sum = 0;

	switch (s->kind) {
	case SHAPE_LEAF:
		return mpi_reps[s->rep].external * mpi_reps[s->rep].components;
	case SHAPE_LOOP:
		return s->count * shape_bytes(s->of);
	case SHAPE_RUNS:
		return s->size / s->of->size * shape_bytes(s->of);
	default:
		for (MPI_Count i = 0; i < s->count; i++)
			sum += s->parts[i].count * shape_bytes(s->parts[i].of);
		return sum;
	}
}

int
mpi_external_bytes(const struct type *t, MPI_Count count, MPI_Count *bytes)
{
	const struct shape *s = mpi_type_shape(t);
	MPI_Count most;

	if (__builtin_mul_overflow(count, s->elements, &most) ||
		__builtin_mul_overflow(most, 32, &most))
		return MPI_ERR_VALUE_TOO_LARGE;
	*bytes = count * shape_bytes(s);
	return MPI_SUCCESS;
}
