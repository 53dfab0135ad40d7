/* SPDX-License-Identifier: MIT
 *
 * Scan among few ranks in one cluster: each lays its operand beside its sign, in parts, and
 * combines those of the ranks before it with its own one, in the order of the ranks. Nobody waits
 * for ranks after it.
 *
 * Cost: up to n - 1 reads of lines, m b + (n - 1) m g.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/reduce_parts.h>
#include <mpi/coll/signs.h>

static void
scan_signs_combine(struct signs *g, const struct parts *p)
{
	memcpy(mpi_signs_room(g, p->bytes), p->in, p->bytes);
	mpi_signs_show(g);
	if (p->out != p->in)
		memcpy(p->out, p->in, p->bytes);
	for (int i = g->me - 1; i >= 0; i--) {
		mpi_signs_wait(g, i);
		mpi_op_apply(&p->op, mpi_signs_data(g, i, p->bytes), p->out, p->count);
	}
}

static bool
scan_signs_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct parts p;
	struct signs g;

	if (!mpi_parts_fit(self, k) || !mpi_signs_begin(&g, self, c, mpi_parts_bytes(k)))
		return false;
	for (mpi_parts_begin(&p, self, k); mpi_parts_next(&p, &g);) {
		mpi_signs_next(&g);
		scan_signs_combine(&g, &p);
	}
	mpi_signs_end(&g);
	mpi_op_release(&p.op);
	*err = MPI_SUCCESS;
	return true;
}

const struct algorithm mpi_algorithm_scan_signs = {.run = scan_signs_run, .straight = true};
