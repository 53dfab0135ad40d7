/* SPDX-License-Identifier: MIT
 *
 * What the two sides of a collective are made of.
 */
#include <mpi/coll/coll.h>

struct span
mpi_side_block(const struct side *s, int i)
{
	MPI_Count count = s->counts.array ? numbers_at(s->counts, (size_t)i) : s->count;
	const struct type *type = s->types ? mpi_type_find(s->types[i]) : s->type;
	MPI_Count at = s->displs.array ? numbers_at(s->displs, (size_t)i) : i * s->count;

	return (struct span){span_shift(s->buffer, s->types ? at : at * (MPI_Count)type->extent), count, type};
}

struct span
mpi_side_whole(const struct side *s, int n)
{
	return (struct span){s->buffer, n * s->count, s->type};
}
