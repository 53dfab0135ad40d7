/* SPDX-License-Identifier: MIT
 *
 * Reduction of much data to a root (Rabenseifner): recursive halving leaves each position with a
 * block of the result, and the root collects the blocks. For predefined operations.
 *
 * Cost: (log2 n + n) a + 2 m b + m g, and a + m b + m g more if n is no power of two.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/halves.h>

static void
reduce_halving_collect(struct sched *s, const struct halves *h, struct span out)
{
	for (int i = 0; i < h->count; i++) {
		struct span block = mpi_halves_blocks(h, i, 1);
		MPI_Count first = (MPI_Count)((char *)block.at - (char *)h->sum.at) / (MPI_Count)block.type->extent;
		struct span place = span_slice(out, first, block.count);

		if (block.count == 0)
			continue;
		if (i == h->position)
			mpi_sched_copy(s, place, block);
		else
			mpi_sched_recv(s, place, mpi_halves_rank(h, i));
	}
}

void
mpi_reduce_halving(struct sched *s, struct span out, struct span in, int root)
{
	struct span sum = s->rank == root ? out : mpi_sched_room(s, in.count, in.type);
	struct halves h;

	mpi_sched_copy(s, sum, in);
	mpi_sched_round(s);
	h = mpi_halves_write(s, sum);
	if (s->rank == root)
		reduce_halving_collect(s, &h, out);
	else if (h.position >= 0 && mpi_halves_blocks(&h, h.position, 1).count > 0)
		mpi_sched_send(s, mpi_halves_blocks(&h, h.position, 1), root);
	mpi_sched_round(s);
}

static bool
reduce_halving_fits(const struct sched *s, const struct work *w)
{
	return mpi_work_may_be_cut(s, w);
}

static void
reduce_halving_write(struct sched *s, const struct work *w)
{
	mpi_reduce_halving(s, w->out, w->in, w->root);
}

const struct algorithm mpi_algorithm_reduce_halving = {.fits = reduce_halving_fits, .write = reduce_halving_write};
