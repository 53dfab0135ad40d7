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
bool mpi_span_type_needs_hold(const struct type *type);
void mpi_span_type_hold(const struct type *type);
void mpi_span_type_release(const struct type *type);

/* Is it one piece of memory that may be cut at any byte? */
bool mpi_span_is_plain(struct span s);

/* The first byte of plain data. */
void *mpi_span_first(struct span s);

/* Bytes of data in it. */
size_t mpi_span_size(struct span s);

/* Copy as much data as both have room for; they do not overlap, or are the same. */
void mpi_span_copy(struct span to, struct span from);

/* Memory that `count` elements of a type need, and where it begins relative to the address that names them. */
size_t mpi_span_extent(const struct type *type, MPI_Count count, MPI_Count *begin);

#endif
