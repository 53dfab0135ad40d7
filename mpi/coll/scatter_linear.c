/* SPDX-License-Identifier: MIT
 *
 * Scatter: the root sends to all at once. Any blocks.
 *
 * Cost: (n - 1) (a + m b) at the root; a + m b elsewhere.
 */
#include <mpi/coll/algorithm.h>

void
mpi_scatter_linear(struct sched *s, const struct collective *k)
{
	if (s->rank != k->root) {
		mpi_sched_recv(s, mpi_side_block(&k->recv, 0), k->root);
		mpi_sched_round(s);
		return;
	}
	for (int i = 1; i < s->size; i++) {
		int to = (s->rank + i) % s->size;

		mpi_sched_send(s, mpi_side_block(&k->send, to), to);
	}
	if (!k->recv.in_place)
		mpi_sched_copy(s, mpi_side_block(&k->recv, 0), mpi_side_block(&k->send, s->rank));
	mpi_sched_round(s);
}

static void
scatter_linear_write(struct sched *s, const struct work *w)
{
	mpi_scatter_linear(s, w->k);
}

const struct algorithm mpi_algorithm_scatter_linear = {.write = scatter_linear_write};
