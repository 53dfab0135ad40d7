/* SPDX-License-Identifier: MIT
 *
 * Allgather for a power of two of ranks: pairs at distances 1, 2, 4 ... exchange all that they have. Equal blocks, one after the other.
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
fits(const struct sched *s, const struct work *w)
{
	return w->even && (s->size & (s->size - 1)) == 0;
}

static void
write_it(struct sched *s, const struct work *w)
{
	mpi_allgather_doubling(s, mpi_side_whole(w->get, s->size));
}

const struct algorithm mpi_algorithm_allgather_doubling = {.fits = fits, .write = write_it};
