/* SPDX-License-Identifier: MIT
 *
 * Spans: what collectives move and combine, some elements of a type in memory.
 */
#ifndef MPI_COLL_SPAN_H
#define MPI_COLL_SPAN_H

#include <stdbool.h>
#include <string.h>
#include <mpi/core/type.h>

struct span {
	void *at;			/* as the program names it: where displacement 0 is */
	MPI_Count count;
	const struct type *type;
};

/* p + by, where p may be NULL */
static inline void *
span_shift(const void *p, MPI_Count by)
{
	return (void *)((uintptr_t)p + (uintptr_t)by);
}

/* Plain bytes. */
static inline struct span
span_bytes(const void *at, size_t bytes)
{
	return (struct span){(void *)(uintptr_t)at, (MPI_Count)bytes, mpi_type_find(MPI_BYTE)};
}

/* Elements first .. first + count - 1. */
static inline struct span
span_slice(struct span s, MPI_Count first, MPI_Count count)
{
	return (struct span){span_shift(s.at, first * (MPI_Count)s.type->extent), count, s.type};
}

/* A derived type lives as long as it is held. */
static inline bool
span_type_needs_hold(const struct type *type)
{
	return !(type->flags & TYPE_PREDEFINED);
}

static inline void
span_type_hold(const struct type *type)
{
	mpi_type_hold((struct type *)(uintptr_t)type);
}

static inline void
span_type_release(const struct type *type)
{
	mpi_type_release((struct type *)(uintptr_t)type);
}

/* Is it one piece of memory that may be cut at any byte? */
static inline bool
span_is_plain(struct span s)
{
	return mpi_type_is_plain(s.type);
}

/* The first byte of plain data. */
static inline void *
span_first(struct span s)
{
	return span_shift(s.at, s.type->true_lb);
}

/* Bytes of data in it. */
static inline size_t
span_size(struct span s)
{
	return (size_t)(s.count * s.type->size);
}

/* Copy as much data as both have room for; they do not overlap, or are the same. */
static inline void
span_copy(struct span to, struct span from)
{
	size_t room = span_size(to), bytes = span_size(from);

	if (room < bytes)
		bytes = room;
	/* from MPI_BOTTOM, different types are different places */
	if (bytes > 0 && (to.at != from.at || to.type != from.type))
		mpi_type_copy(to.type, to.at, from.type, from.at, (MPI_Count)bytes);
}

/* A block as each side describes it. MPI_ERR_TRUNCATE: there was less room than data. */
static inline int
span_copy_block(struct span to, struct span from)
{
	span_copy(to, from);
	return span_size(to) < span_size(from) ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

/* Of two error classes the later one. */
static inline int
later_error(int first, int second)
{
	return second != MPI_SUCCESS ? second : first;
}

#endif
