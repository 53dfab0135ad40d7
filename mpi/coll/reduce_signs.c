/* SPDX-License-Identifier: MIT
 *
 * Reduction among few ranks in one cluster: all but the root lay their operands beside their signs,
 * in parts; the root combines them, in the order of the ranks.
 *
 * Cost: n - 1 reads of lines, m b + (n - 1) m g at the root.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/reduce_parts.h>
#include <mpi/coll/signs.h>

/*
 * In place the own operand must not be overwritten before it is combined: the sum is made in the
 * own room, which is free.
 */
static void
at_root(struct signs *g, const struct parts *p)
{
	char *sum = p->out == p->in ? mpi_signs_data(g, g->me, p->bytes) : p->out;

	mpi_parts_combine(g, p, sum, 0, p->count);
	if (sum != p->out)
		memcpy(p->out, sum, p->bytes);
}

static bool
reduce_signs_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct parts p;
	struct signs g;

	if (!mpi_parts_fit(self, k) || !mpi_signs_begin(&g, self, c, mpi_parts_bytes(k)))
		return false;
	for (mpi_parts_begin(&p, self, k); mpi_parts_next(&p, &g);) {
		mpi_signs_next(&g);
		if (g.me != k->root) {
			memcpy(mpi_signs_room(&g, p.bytes), p.in, p.bytes);
			mpi_signs_show(&g);
		} else {
			mpi_signs_show(&g);
			mpi_signs_wait_all(&g);
			at_root(&g, &p);
		}
	}
	mpi_signs_end(&g);
	mpi_op_release(&p.op);
	*err = MPI_SUCCESS;
	return true;
}

const struct algorithm mpi_algorithm_reduce_signs = {.run = reduce_signs_run, .straight = true};
