/* SPDX-License-Identifier: MIT
 *
 * Reduction among ranks of one address space: each combines its slice of all operands where they
 * lie, and writes it where the root wants it. Rank i alone reads slice i of the operands, so that
 * the root's may be in place.
 *
 * Cost: two meetings, (n - 1) / n m g on each rank at the same time; no message, no further copy.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/reduce_slices.h>

static bool
reduce_pointers_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct operation op;
	struct pointers p;
	struct slice mine;

	if (!mpi_slices_fit(k) || !mpi_pointers_begin(&p, self, c,
			(struct pointed){mpi_slice_operand(k), k->recv.buffer}))
		return false;
	op = mpi_op_bind(self, k->op, k->recv.datatype);
	mine = mpi_slice_of(&p, p.me, k->recv.count, op.extent);
	mpi_slice_combine(&p, &op, mine, mpi_pointers_of(&p, k->root)->out + mine.from);
	mpi_pointers_end(&p);
	mpi_op_release(&op);
	*err = MPI_SUCCESS;
	return true;
}

const struct algorithm mpi_algorithm_reduce_pointers = {.run = reduce_pointers_run};
