/* SPDX-License-Identifier: MIT
 *
 * Spans.
 */
#include <mpi/coll/span.h>

bool
mpi_span_is_plain(struct span s)
{
	return mpi_type_is_plain(s.type);
}

void *
mpi_span_first(struct span s)
{
	return span_shift(s.at, s.type->true_lb);
}

size_t
mpi_span_size(struct span s)
{
	return (size_t)(s.count * s.type->size);
}

void
mpi_span_copy(struct span to, struct span from)
{
	size_t room = mpi_span_size(to), bytes = mpi_span_size(from);

	if (room < bytes)
		bytes = room;
	/* from MPI_BOTTOM, different types are different places */
	if (bytes > 0 && (to.at != from.at || to.type != from.type))
		mpi_type_copy(to.type, to.at, from.type, from.at, (MPI_Count)bytes);
}

size_t
mpi_span_extent(const struct type *type, MPI_Count count, MPI_Count *begin)
{
	return (size_t)mpi_type_span(type, count, begin);
}

bool
mpi_span_type_needs_hold(const struct type *type)
{
	return !(type->flags & TYPE_PREDEFINED);
}

void
mpi_span_type_hold(const struct type *type)
{
	mpi_type_hold((struct type *)(uintptr_t)type);
}

void
mpi_span_type_release(const struct type *type)
{
	mpi_type_release((struct type *)(uintptr_t)type);
}
