/* SPDX-License-Identifier: MIT
 *
 * Spans.
 */
#include <mpi/coll/span.h>

bool
mpi_span_is_plain(struct span s)
{
	(void)s;
	return true;
}

void *
mpi_span_first(struct span s)
{
	return s.at;
}

size_t
mpi_span_size(struct span s)
{
	return (size_t)s.count * s.type->extent;
}

void
mpi_span_copy(struct span to, struct span from)
{
	size_t room = mpi_span_size(to), bytes = mpi_span_size(from);

	if (room < bytes)
		bytes = room;
	if (bytes > 0 && to.at != from.at)
		memcpy(to.at, from.at, bytes);
}

size_t
mpi_span_extent(const struct type *type, MPI_Count count, MPI_Count *begin)
{
	*begin = 0;
	return (size_t)count * type->extent;
}

bool
mpi_span_type_needs_hold(const struct type *type)
{
	(void)type;
	return false;
}

void
mpi_span_type_hold(const struct type *type)
{
	(void)type;
}

void
mpi_span_type_release(const struct type *type)
{
	(void)type;
}
