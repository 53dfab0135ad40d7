/* SPDX-License-Identifier: MIT
 *
 * Barrier: in round k each rank tells the one 2^k after it and hears from the one 2^k before it.
 *
 * Cost: ceil(log2 n) a.
 */
#include <mpi/coll/algorithm.h>

static void
barrier_dissemination(struct sched *s, const struct work *w)
{
	(void)w;
	for (int distance = 1; distance < s->size; distance *= 2) {
		mpi_sched_recv(s, span_bytes(NULL, 0), (s->rank - distance + s->size) % s->size);
		mpi_sched_send(s, span_bytes(NULL, 0), (s->rank + distance) % s->size);
		mpi_sched_round(s);
	}
}

const struct algorithm mpi_algorithm_barrier_dissemination = {.write = barrier_dissemination};
