/* SPDX-License-Identifier: MIT
 *
 * Alltoall: each rank sends to the i-th after it and receives from the i-th before it, some i at a time. Any blocks.
 *
 * Cost: (n - 1) (a + m b).
 */
#include <mpi/coll/algorithm.h>

#define AT_ONCE 16

void
mpi_alltoall_pairwise(struct sched *s, const struct side *out, const struct side *in)
{
	int n = s->size;

	for (int i = 1; i < n; i++) {
		int to = (s->rank + i) % n, from = (s->rank - i + n) % n;

		mpi_sched_recv(s, mpi_side_block(in, from), from);
		mpi_sched_send(s, mpi_side_block(out, to), to);
		if (i % AT_ONCE == 0)
			mpi_sched_round(s);
	}
	mpi_sched_copy(s, mpi_side_block(in, s->rank), mpi_side_block(out, s->rank));
	mpi_sched_round(s);
}

static void
alltoall_pairwise_write(struct sched *s, const struct work *w)
{
	mpi_alltoall_pairwise(s, w->give, w->get);
}

const struct algorithm mpi_algorithm_alltoall_pairwise = {.write = alltoall_pairwise_write};
