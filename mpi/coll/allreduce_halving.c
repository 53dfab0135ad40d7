/* SPDX-License-Identifier: MIT
 *
 * Reduction of much data to all (Rabenseifner): recursive halving leaves each position with a block
 * of the result, recursive doubling brings the blocks to all. For predefined operations.
 *
 * Cost: 2 log2 n a + 2 (n - 1) / n m b + (n - 1) / n m g, and 2 (a + m b) + m g more if n is no power of two.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/halves.h>

static void
allreduce_halving_collect(struct sched *s, const struct halves *h)
{
	int first = h->position;

	for (int n = 1; n < h->count; n *= 2) {
		int partner = mpi_halves_rank(h, h->position ^ n), theirs = first ^ n;

		mpi_sched_recv(s, mpi_halves_blocks(h, theirs, n), partner);
		mpi_sched_send(s, mpi_halves_blocks(h, first, n), partner);
		mpi_sched_round(s);
		first &= ~n;
	}
}

void
mpi_allreduce_halving(struct sched *s, struct span out)
{
	struct halves h = mpi_halves_write(s, out);

	if (h.position >= 0)
		allreduce_halving_collect(s, &h);
	if (s->rank >= 2 * h.folded)
		return;
	if (h.position >= 0)
		mpi_sched_send(s, out, s->rank - 1);
	else
		mpi_sched_recv(s, out, s->rank + 1);
	mpi_sched_round(s);
}

static bool
allreduce_halving_fits(const struct sched *s, const struct work *w)
{
	return mpi_work_may_be_cut(s, w);
}

static void
allreduce_halving_write(struct sched *s, const struct work *w)
{
	mpi_sched_copy(s, w->out, w->in);
	mpi_sched_round(s);
	mpi_allreduce_halving(s, w->out);
}

const struct algorithm mpi_algorithm_allreduce_halving = {.fits = allreduce_halving_fits,
	.write = allreduce_halving_write};
