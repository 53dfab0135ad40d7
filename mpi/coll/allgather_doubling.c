/* SPDX-License-Identifier: MIT
 *
 * Allgather: pairs at distances 1, 2, 4 ... exchange all that they have; if the ranks are no power
 * of two, as Bruck does it, which has as many steps. Equal blocks, one after the other.
 *
 * Cost: log2 n a + (n - 1) m b.
 */
#include <mpi/coll/algorithm.h>

void
mpi_allgather_doubling(struct sched *s, struct span all)
{
	MPI_Count block = all.count / s->size;

	for (int n = 1; n < s->size; n *= 2) {
		int mine = s->rank & ~(n - 1), theirs = mine ^ n;

		mpi_sched_recv(s, span_slice(all, theirs * block, n * block), s->rank ^ n);
		mpi_sched_send(s, span_slice(all, mine * block, n * block), s->rank ^ n);
		mpi_sched_round(s);
	}
}

static bool
allgather_doubling_fits(const struct sched *s, const struct work *w)
{
	(void)s;
	return w->even;
}

static void
allgather_doubling_write(struct sched *s, const struct work *w)
{
	struct span all = mpi_side_whole(w->get, s->size);

	if ((s->size & (s->size - 1)) == 0)
		mpi_allgather_doubling(s, all);
	else
		mpi_allgather_bruck(s, all);
}

const struct algorithm mpi_algorithm_allgather_doubling = {.fits = allgather_doubling_fits,
	.write = allgather_doubling_write};
