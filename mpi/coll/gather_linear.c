/* SPDX-License-Identifier: MIT
 *
 * Gather: the root receives from all at once. Any blocks.
 *
 * Cost: (n - 1) (a + m b) at the root; a + m b elsewhere.
 */
#include <mpi/coll/algorithm.h>

void
mpi_gather_linear(struct sched *s, const struct collective *k)
{
	if (s->rank != k->root) {
		mpi_sched_send(s, mpi_side_block(&k->send, 0), k->root);
		mpi_sched_round(s);
		return;
	}
	for (int i = 0; i < s->size; i++)
		if (i != s->rank)
			mpi_sched_recv(s, mpi_side_block(&k->recv, i), i);
	if (!k->send.in_place)
		mpi_sched_copy(s, mpi_side_block(&k->recv, s->rank), mpi_side_block(&k->send, 0));
	mpi_sched_round(s);
}

static void
gather_linear_write(struct sched *s, const struct work *w)
{
	mpi_gather_linear(s, w->k);
}

const struct algorithm mpi_algorithm_gather_linear = {.write = gather_linear_write};
