/* SPDX-License-Identifier: MIT
 *
 * Broadcast along a binomial tree: who has the data passes it on, to the farthest first.
 *
 * Cost: ceil(log2 n) (a + m b).
 */
#include <mpi/coll/algorithm.h>

void
mpi_bcast_binomial(struct sched *s, struct span data, int root)
{
	int me = (s->rank - root + s->size) % s->size, bit = 1;

	while (bit < s->size && !(me & bit))
		bit *= 2;
	if (me != 0) {
		mpi_sched_recv(s, data, (me - bit + root) % s->size);
		mpi_sched_round(s);
	}
	for (bit /= 2; bit > 0; bit /= 2)
		if (me + bit < s->size)
			mpi_sched_send(s, data, (me + bit + root) % s->size);
	mpi_sched_round(s);
}

static void
bcast_binomial_write(struct sched *s, const struct work *w)
{
	mpi_bcast_binomial(s, w->out, w->root);
}

const struct algorithm mpi_algorithm_bcast_binomial = {.write = bcast_binomial_write};
