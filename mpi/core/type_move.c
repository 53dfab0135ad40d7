/* SPDX-License-Identifier: MIT
 *
 * Transfers of typed data: the shape of the elements of a type, from and to any byte.
 */
#include <string.h>
#include <mpi/core/type.h>

#define PIECE 4096		/* between two types: through a buffer that stays in the cache */

static struct elements
elements_of(const struct type *t, const void *buffer)
{
	return (struct elements){mpi_type_shape(t), (MPI_Aint)t->extent, (void *)(uintptr_t)buffer};
}

/* A byte of elements that lie side by side. */
static char *
plain_byte(const struct type *t, const void *buffer, MPI_Count position)
{
	return address_shift(buffer, (MPI_Aint)(t->true_lb + position));
}

void
mpi_type_pack(const struct type *t, const void *buffer, MPI_Count position, void *out,
	MPI_Count bytes)
{
	struct elements e;

	if (mpi_type_is_plain(t)) {
		mpi_shape_copy_bytes(out, plain_byte(t, buffer, position), (size_t)bytes);
		return;
	}
	e = elements_of(t, buffer);
	mpi_shape_pack(&e, position, position + bytes, out);
}

void
mpi_type_unpack(const struct type *t, void *buffer, MPI_Count position, const void *in,
	MPI_Count bytes)
{
	struct elements e;

	if (mpi_type_is_plain(t)) {
		mpi_shape_copy_bytes(plain_byte(t, buffer, position), in, (size_t)bytes);
		return;
	}
	e = elements_of(t, buffer);
	mpi_shape_unpack(&e, position, position + bytes, in);
}

static void
copy_pieces(const struct elements *to, const struct elements *from, MPI_Count bytes)
{
	_Alignas(16) char piece[PIECE];

	for (MPI_Count done = 0; done < bytes; done += PIECE) {
		MPI_Count end = bytes - done < PIECE ? bytes : done + PIECE;

		mpi_shape_pack(from, done, end, piece);
		mpi_shape_unpack(to, done, end, piece);
	}
}

void
mpi_type_copy(const struct type *to, void *to_buffer, const struct type *from,
	const void *from_buffer, MPI_Count bytes)
{
	struct elements in, out;

	if (bytes == 0)
		return;
	if (mpi_type_is_plain(to)) {
		mpi_type_pack(from, from_buffer, 0, plain_byte(to, to_buffer, 0), bytes);
	} else if (mpi_type_is_plain(from)) {
		mpi_type_unpack(to, to_buffer, 0, plain_byte(from, from_buffer, 0), bytes);
	} else {
		in = elements_of(to, to_buffer);
		out = elements_of(from, from_buffer);
		copy_pieces(&in, &out, bytes);
	}
}

MPI_Count
mpi_type_span(const struct type *t, MPI_Count count, MPI_Count *begin)
{
	MPI_Count way = count > 0 ? (count - 1) * t->extent : 0;

	*begin = t->true_lb + (way < 0 ? way : 0);
	return count > 0 && t->size > 0 ? t->true_extent + (way < 0 ? -way : way) : 0;
}

MPI_Count
mpi_type_elements(const struct type *t, MPI_Count bytes)
{
	if (t->size == 0)
		return bytes == 0 ? 0 : MPI_UNDEFINED;
	return bytes % t->size == 0 ? bytes / t->size : MPI_UNDEFINED;
}

MPI_Count
mpi_type_basic_elements(const struct type *t, MPI_Count bytes)
{
	const struct shape *s = mpi_type_shape(t);
	MPI_Count rest;
	bool whole;

	if (t->size == 0)
		return bytes == 0 ? 0 : MPI_UNDEFINED;
	rest = mpi_shape_elements(s, bytes % t->size, &whole);
	return whole ? bytes / t->size * s->elements + rest : MPI_UNDEFINED;
}

MPI_Count
mpi_type_basic_bytes(const struct type *t, MPI_Count elements)
{
	const struct shape *s = mpi_type_shape(t);

	return s->elements == 0 ? 0 : elements / s->elements * s->size + mpi_shape_bytes(s,
		elements % s->elements);
}

bool
mpi_type_signature_equal(const struct type *a, MPI_Count a_count, const struct type *b,
	MPI_Count b_count)
{
	const struct shape *x = mpi_type_shape(a), *y = mpi_type_shape(b);

	return a_count * x->elements == b_count * y->elements &&
		mpi_signature_repeat(x->signature, x->elements, a_count) ==
			mpi_signature_repeat(y->signature, y->elements, b_count);
}
