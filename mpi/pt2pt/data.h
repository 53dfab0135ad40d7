/* SPDX-License-Identifier: MIT
 *
 * The data of a request, wherever its type says that it lies: any bytes of it, read or written.
 */
#ifndef MPI_PT2PT_DATA_H
#define MPI_PT2PT_DATA_H

#include <mpi/core/request.h>
#include <mpi/core/type.h>
#include <mpi/pt2pt/bounce.h>
#include <mpi/transport/packet.h>

/*
 * The buffer of a request that was prepared (with any length) holds `count` elements of a type;
 * their bytes can be counted.
 */
static inline void
request_elements(struct request *r, struct type *t, MPI_Count count)
{
	r->bytes = (size_t)(count * t->size);
	if (mpi_type_is_plain(t))
		r->buffer = address_shift(r->buffer, (MPI_Aint)t->true_lb);
	else
		mpi_request_set_type(r, t);
}

static inline void
request_read(const struct request *r, size_t position, void *to, size_t len)
{
	if (r->type == NULL)
		bytes_copy(to, address_shift(r->buffer, (MPI_Aint)position), len);
	else
		mpi_type_pack(r->type, r->buffer, (MPI_Count)position, to, (MPI_Count)len);
}

/* A copy of bytes from r->moved on, or NULL: no room for it. */
static inline struct bounce_copy *
request_copy(struct mpi_rank *self, struct bounce *b, const struct request *r, size_t len)
{
	struct bounce_copy *copy = mpi_bounce_take(self, b, len);

	if (copy != NULL)
		request_read(r, r->moved, mpi_bounce_data(copy), len);
	return copy;
}

static inline void
request_write(const struct request *r, size_t position, const void *from, size_t len)
{
	if (r->type == NULL)
		bytes_copy(address_shift(r->buffer, (MPI_Aint)position), from, len);
	else
		mpi_type_unpack(r->type, r->buffer, (MPI_Count)position, from, (MPI_Count)len);
}

#endif
