/* SPDX-License-Identifier: MIT
 *
 * Slices of operands. They are combined in blocks that stay in a core's first cache until all
 * operands are in. What lies where the result goes is read before that is written.
 */
#include <mpi/coll/reduce_slices.h>

#define BLOCK 4096

struct slice
mpi_slice_of(const struct pointers *p, int rank, MPI_Count count, MPI_Count extent)
{
	MPI_Count each = (count + p->n - 1) / p->n;
	MPI_Count first = rank * each < count ? rank * each : count, end = first + each < count ? first + each : count;

	return (struct slice){.count = end - first, .from = (size_t)(first * extent),
		.bytes = (size_t)((end - first) * extent)};
}

const char *
mpi_slice_operand(const struct collective *k)
{
	return k->send.in_place ? k->recv.buffer : k->send.buffer;
}

bool
mpi_slices_fit(const struct collective *k)
{
	return mpi_type_is_plain(k->recv.type) && k->recv.type->size > 0 && k->recv.type->extent <= BLOCK;
}

void
mpi_slice_combine(const struct pointers *p, const struct operation *op, struct slice s, char *to)
{
	_Alignas(CACHE_LINE) char sum[BLOCK];
	MPI_Count most = BLOCK / op->extent;

	for (MPI_Count done = 0; done < s.count; done += most) {
		MPI_Count count = s.count - done < most ? s.count - done : most;
		size_t from = s.from + (size_t)(done * op->extent), bytes = (size_t)(count * op->extent);

		memcpy(sum, mpi_pointers_of(p, p->n - 1)->in + from, bytes);
		for (int i = p->n - 2; i >= 0; i--)
			mpi_op_apply(op, mpi_pointers_of(p, i)->in + from, sum, count);
		memcpy(to + (done * op->extent), sum, bytes);
	}
}
