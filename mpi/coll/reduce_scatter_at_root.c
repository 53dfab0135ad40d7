/* SPDX-License-Identifier: MIT
 *
 * Reduce-scatter: rank 0 gets the whole result and deals it out. Any operation.
 *
 * Cost: ceil(log2 n) (a + n m b + n m g) + (n - 1) (a + m b), m being a block.
 */
#include <mpi/coll/algorithm.h>

void
mpi_reduce_scatter_at_root(struct sched *s, struct span out, struct span in, const MPI_Count *counts)
{
	struct span sum = s->rank == 0 ? mpi_sched_room(s, in.count, in.type) : in;
	MPI_Count first = 0;

	mpi_reduce_binomial(s, sum, in, 0);
	for (int i = 0; s->rank == 0 && i < s->size; i++) {
		if (i == 0)
			mpi_sched_copy(s, out, span_slice(sum, 0, counts[0]));
		else
			mpi_sched_send(s, span_slice(sum, first, counts[i]), i);
		first += counts[i];
	}
	if (s->rank != 0)
		mpi_sched_recv(s, out, 0);
	mpi_sched_round(s);
}

static void
reduce_scatter_at_root_write(struct sched *s, const struct work *w)
{
	mpi_reduce_scatter_at_root(s, w->out, w->in, w->counts);
}

const struct algorithm mpi_algorithm_reduce_scatter_at_root = {.write = reduce_scatter_at_root_write};
