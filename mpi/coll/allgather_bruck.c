/* SPDX-License-Identifier: MIT
 *
 * Allgather (Bruck): in step k each rank gets from the one 2^k above it all that this one has, up
 * to what is missing. The blocks gather in the order of the ranks from the own one on, in a copy,
 * and are turned into place at the end. Equal blocks, one after the other.
 *
 * Cost: ceil(log2 n) a + (n - 1) m b, and a copy.
 */
#include <mpi/coll/algorithm.h>

void
mpi_allgather_bruck(struct sched *s, struct span all)
{
	int n = s->size;
	MPI_Count block = all.count / n;
	struct span turned = mpi_sched_room(s, all.count, all.type);

	mpi_sched_copy(s, span_slice(turned, 0, block), span_slice(all, s->rank * block, block));
	mpi_sched_round(s);
	for (int have = 1; have < n; have *= 2) {
		int more = 2 * have <= n ? have : n - have;

		mpi_sched_recv(s, span_slice(turned, have * block, more * block), (s->rank + have) % n);
		mpi_sched_send(s, span_slice(turned, 0, more * block), (s->rank - have + n) % n);
		mpi_sched_round(s);
	}
	mpi_sched_copy(s, span_slice(all, s->rank * block, (n - s->rank) * block),
		span_slice(turned, 0, (n - s->rank) * block));
	mpi_sched_copy(s, span_slice(all, 0, s->rank * block), span_slice(turned, (n - s->rank) *
		block, s->rank * block));
	mpi_sched_round(s);
}

static bool
allgather_bruck_fits(const struct sched *s, const struct work *w)
{
	(void)s;
	return w->even;
}

static void
allgather_bruck_write(struct sched *s, const struct work *w)
{
	mpi_allgather_bruck(s, mpi_side_whole(w->get, s->size));
}

const struct algorithm mpi_algorithm_allgather_bruck = {.fits = allgather_bruck_fits, .write = allgather_bruck_write};
