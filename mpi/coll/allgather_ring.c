/* SPDX-License-Identifier: MIT
 *
 * Allgather around a ring: each rank passes on the block that it got last. Any blocks.
 *
 * Cost: (n - 1) (a + m b).
 */
#include <mpi/coll/algorithm.h>

void
mpi_allgather_ring(struct sched *s, const struct side *all)
{
	int n = s->size;

	for (int i = 0; i < n - 1; i++) {
		mpi_sched_recv(s, mpi_side_block(all, (s->rank - i - 1 + n) % n), (s->rank - 1 + n) % n);
		mpi_sched_send(s, mpi_side_block(all, (s->rank - i + n) % n), (s->rank + 1) % n);
		mpi_sched_round(s);
	}
}

static void
allgather_ring_write(struct sched *s, const struct work *w)
{
	mpi_allgather_ring(s, w->get);
}

const struct algorithm mpi_algorithm_allgather_ring = {.write = allgather_ring_write};
