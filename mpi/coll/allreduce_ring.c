/* SPDX-License-Identifier: MIT
 *
 * Reduction of much data to all around a ring: n - 1 steps in which each rank adds its own to a
 * block and passes it on, then n - 1 in which the finished blocks travel on. For predefined
 * operations.
 *
 * Cost: 2 (n - 1) (a + m / n b) + (n - 1) / n m g.
 */
#include <mpi/coll/algorithm.h>

static struct span
block_of(const struct sched *s, struct span all, int i)
{
	MPI_Count n = s->size, block = (all.count + n - 1) / n, begin, end;

	i = (i % s->size + s->size) % s->size;
	begin = i * block < all.count ? i * block : all.count;
	end = begin + block < all.count ? begin + block : all.count;
	return span_slice(all, begin, end - begin);
}

void
mpi_allreduce_ring(struct sched *s, struct span out)
{
	int n = s->size, next = (s->rank + 1) % n, previous = (s->rank - 1 + n) % n;
	struct span theirs = mpi_sched_room(s, (out.count + n - 1) / n, out.type);

	for (int i = 0; i < n - 1; i++) {
		struct span mine = block_of(s, out, s->rank - i - 1), got = span_slice(theirs, 0, mine.count);

		mpi_sched_recv(s, got, previous);
		mpi_sched_send(s, block_of(s, out, s->rank - i), next);
		mpi_sched_reduce(s, got, mine);
		mpi_sched_round(s);
	}
	for (int i = 0; i < n - 1; i++) {
		mpi_sched_recv(s, block_of(s, out, s->rank - i), previous);
		mpi_sched_send(s, block_of(s, out, s->rank + 1 - i), next);
		mpi_sched_round(s);
	}
}

static bool
allreduce_ring_fits(const struct sched *s, const struct work *w)
{
	return mpi_work_may_be_cut(s, w);
}

static void
allreduce_ring_write(struct sched *s, const struct work *w)
{
	mpi_sched_copy(s, w->out, w->in);
	mpi_sched_round(s);
	mpi_allreduce_ring(s, w->out);
}

const struct algorithm mpi_algorithm_allreduce_ring = {.fits = allreduce_ring_fits, .write = allreduce_ring_write};
