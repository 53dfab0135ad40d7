/* SPDX-License-Identifier: MIT
 *
 * Between bytes of data and basic elements, along a shape.
 */
#include <mpi/core/shape.h>

static MPI_Count
larger_of_one(MPI_Count n)
{
	return n > 0 ? n : 1;
}

static MPI_Count
elements_of_loop(const struct shape *of, MPI_Count bytes, bool *whole)
{
	return bytes / larger_of_one(of->size) * of->elements + mpi_shape_elements(of,
		bytes % larger_of_one(of->size), whole);
}

MPI_Count
mpi_shape_elements(const struct shape *s, MPI_Count bytes, bool *whole)
{
	const struct part *last;
	MPI_Count sum = 0;

	*whole = true;
	if (bytes <= 0)
		return 0;
	if (bytes >= s->size)
		return s->elements;
	switch (s->kind) {
	case SHAPE_LEAF:
		*whole = false;
		return 1;
	case SHAPE_LOOP:
	case SHAPE_RUNS:
		return elements_of_loop(s->of, bytes, whole);
	default:
		last = shape_part_at(s, bytes);
		for (const struct part *p = s->parts; p < last; p++)
			sum += p->count * p->of->elements;
		return sum + elements_of_loop(last->of, bytes - last->start, whole);
	}
}

static MPI_Count
bytes_of_loop(const struct shape *of, MPI_Count elements)
{
	return elements / larger_of_one(of->elements) * of->size +
		mpi_shape_bytes(of, elements % larger_of_one(of->elements));
}

MPI_Count
mpi_shape_bytes(const struct shape *s, MPI_Count elements)
{
	if (elements <= 0)
		return 0;
	if (elements >= s->elements)
		return s->size;
	if (s->kind == SHAPE_LOOP || s->kind == SHAPE_RUNS)
		return bytes_of_loop(s->of, elements);
	for (MPI_Count i = 0; i < s->count; i++) {
		MPI_Count in_part = s->parts[i].count * s->parts[i].of->elements;

		if (elements < in_part)
			return s->parts[i].start + bytes_of_loop(s->parts[i].of, elements);
		elements -= in_part;
	}
	return s->size;
}
