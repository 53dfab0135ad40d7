/* SPDX-License-Identifier: MIT
 *
 * Operands part by part.
 */
#include <mpi/coll/reduce_parts.h>

#define PARTS_ELEMENT_MAX 4096

bool
mpi_parts_fit(const struct mpi_rank *self, const struct collective *k)
{
	MPI_Count room = (MPI_Count)mpi_signs_room_of(self), most = room < PARTS_ELEMENT_MAX ? room : PARTS_ELEMENT_MAX;

	return mpi_type_is_plain(k->recv.type) && k->recv.type->size > 0 && k->recv.type->extent <= most;
}

size_t
mpi_parts_bytes(const struct collective *k)
{
	return (size_t)(k->recv.count * (MPI_Count)k->recv.type->extent);
}

void
mpi_parts_begin(struct parts *p, struct mpi_rank *self, const struct collective *k)
{
	const char *in = k->send.in_place ? k->recv.buffer : k->send.buffer;

	*p = (struct parts){.op = mpi_op_bind(self, k->op, k->recv.datatype), .left = k->recv.count,
		.in = in, .out = k->recv.buffer};
}

bool
mpi_parts_next(struct parts *p, const struct signs *g)
{
	MPI_Count most = (MPI_Count)mpi_signs_bytes(g) / p->op.extent;

	p->in = span_shift(p->in, p->count * p->op.extent);
	p->out = span_shift(p->out, p->count * p->op.extent);
	p->count = p->left < most ? p->left : most;
	p->left -= p->count;
	p->bytes = (size_t)(p->count * p->op.extent);
	return p->count > 0;
}

static const char *
operand(const struct signs *g, const struct parts *p, int rank)
{
	return rank == g->me ? p->in : mpi_signs_data(g, rank, p->bytes);
}

void
mpi_parts_combine(const struct signs *g, const struct parts *p, char *to, MPI_Count first, MPI_Count count)
{
	MPI_Count skip = first * p->op.extent;

	memcpy(to, operand(g, p, g->n - 1) + skip, (size_t)(count * p->op.extent));
	for (int i = g->n - 2; i >= 0; i--)
		mpi_op_apply(&p->op, operand(g, p, i) + skip, to, count);
}
