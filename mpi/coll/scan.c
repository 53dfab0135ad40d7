/* SPDX-License-Identifier: MIT
 *
 * Scan: in step k each rank hands what it has combined of itself and the ranks just below to the
 * one 2^k above. Operands stay in the order of the ranks.
 *
 * Cost: ceil(log2 n) (a + m b + 2 m g).
 */
#include <mpi/coll/algorithm.h>

/* What leaves is not changed on its way: a round combines when its messages are done. */
static void
scan_doubling(struct sched *s, const struct work *w)
{
	struct span out = w->out;
	struct span theirs = mpi_sched_room(s, out.count, out.type);

	for (int distance = 1; distance < s->size; distance *= 2) {
		if (s->rank >= distance) {
			mpi_sched_recv(s, theirs, s->rank - distance);
			mpi_sched_reduce(s, theirs, out);
		}
		if (s->rank + distance < s->size)
			mpi_sched_send(s, out, s->rank + distance);
		mpi_sched_round(s);
	}
}

/* The scan of all, and then each rank's result goes one further. */
static void
exscan_doubling(struct sched *s, const struct work *w)
{
	struct span out = w->out, sum = mpi_sched_room(s, w->in.count, w->in.type);

	mpi_sched_copy(s, sum, w->in);
	mpi_sched_round(s);
	scan_doubling(s, &(struct work){.out = sum});
	if (s->rank > 0)
		mpi_sched_recv(s, out, s->rank - 1);
	if (s->rank + 1 < s->size)
		mpi_sched_send(s, sum, s->rank + 1);
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_scan_doubling = {.write = scan_doubling};
const struct algorithm mpi_algorithm_exscan_doubling = {.write = exscan_doubling};
