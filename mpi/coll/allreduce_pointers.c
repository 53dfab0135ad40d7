/* SPDX-License-Identifier: MIT
 *
 * Reduction to all among ranks of one address space: each combines its slice of all operands where
 * they lie, into its own result; then all collect the slices from there. Rank i alone reads slice i
 * of the operands, so that results may lie where they are.
 *
 * Cost: three meetings, (n - 1) / n m b + (n - 1) / n m g; no message, and no copy but the last.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/reduce_slices.h>

static void
allreduce_pointers_collect(const struct pointers *p, const struct collective *k)
{
	for (int i = 1; i < p->n; i++) {
		int from = (p->me + i) % p->n;
		struct slice s = mpi_slice_of(p, from, k->recv.count, (MPI_Count)k->recv.type->extent);

		memcpy((char *)k->recv.buffer + s.from, mpi_pointers_of(p, from)->out + s.from, s.bytes);
	}
}

static bool
allreduce_pointers_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct operation op;
	struct pointers p;
	struct slice mine;

	if (!mpi_slices_fit(k) || !mpi_pointers_begin(&p, self, c,
			(struct pointed){mpi_slice_operand(k), k->recv.buffer}))
		return false;
	op = mpi_op_bind(self, k->op, k->recv.datatype);
	mine = mpi_slice_of(&p, p.me, k->recv.count, op.extent);
	mpi_slice_combine(&p, &op, mine, (char *)k->recv.buffer + mine.from);
	mpi_pointers_meet(&p);
	allreduce_pointers_collect(&p, k);
	mpi_pointers_end(&p);
	mpi_op_release(&op);
	*err = MPI_SUCCESS;
	return true;
}

const struct algorithm mpi_algorithm_allreduce_pointers = {.run = allreduce_pointers_run};
