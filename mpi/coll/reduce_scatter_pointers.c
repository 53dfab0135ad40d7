/* SPDX-License-Identifier: MIT
 *
 * Reduce-scatter of equal blocks among ranks of one address space: each combines its own block of
 * all operands where they lie. In place the result would lie where others still read, so that it is
 * made beside it first.
 *
 * Cost: two meetings, (n - 1) m g; no message.
 */
#include <stdlib.h>
#include <mpi/coll/algorithm.h>
#include <mpi/coll/reduce_slices.h>

static void
reduce_scatter_pointers_combine(struct pointers *p, const struct collective *k,
	const struct operation *op, char *beside)
{
	size_t bytes = (size_t)(k->recv.count * op->extent);
	struct slice mine = {.count = k->recv.count, .from = (size_t)p->me * bytes, .bytes = bytes};

	mpi_slice_combine(p, op, mine, beside ? beside : k->recv.buffer);
	mpi_pointers_end(p);
	if (beside != NULL)
		memcpy(k->recv.buffer, beside, bytes);
}

/* A rank that is in place and has no memory says so by naming nothing: then nobody goes this way. */
static bool
reduce_scatter_pointers_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct operation op;
	struct pointers p;
	char *beside = NULL;
	bool there = false;

	if (!k->even || k->recv.count == 0 || !mpi_slices_fit(k))
		return false;
	if (k->send.in_place)
		beside = malloc((size_t)(k->recv.count * (MPI_Count)k->recv.type->extent));
	if (mpi_pointers_begin(&p, self, c, (struct pointed){k->send.in_place && beside == NULL
			? NULL : mpi_slice_operand(k), NULL})) {
		there = mpi_pointers_are_there(&p);
		op = mpi_op_bind(self, k->op, k->recv.datatype);
		if (there)
			reduce_scatter_pointers_combine(&p, k, &op, beside);
		else
			mpi_pointers_end(&p);
		mpi_op_release(&op);
	}
	free(beside);
	*err = MPI_SUCCESS;
	return there;
}

const struct algorithm mpi_algorithm_reduce_scatter_pointers = {.run = reduce_scatter_pointers_run};
