/* SPDX-License-Identifier: MIT
 *
 * Allgather by messages.
 */
#include <mpi/coll/algorithm.h>

/* --- ring ---
 *
 * Allgather around a ring: each rank passes on the block that it got last. Any blocks.
 *
 * Cost: (n - 1) (a + m b).
 */

static void
allgather_ring(struct sched *s, const struct work *w)
{
	const struct side *all = w->get;
	int n = s->size;

	for (int i = 0; i < n - 1; i++) {
		mpi_sched_recv(s, side_block(all, (s->rank - i - 1 + n) % n),
			(s->rank - 1 + n) % n);
		mpi_sched_send(s, side_block(all, (s->rank - i + n) % n), (s->rank + 1) % n);
		mpi_sched_round(s);
	}
}

const struct algorithm mpi_algorithm_allgather_ring = {.write = allgather_ring};

/* --- Bruck ---
 *
 * Allgather (Bruck): in step k each rank gets from the one 2^k above it all that this one has, up
 * to what is missing. The blocks gather in the order of the ranks from the own one on, in a copy,
 * and are turned into place at the end. Equal blocks, one after the other.
 *
 * Cost: ceil(log2 n) a + (n - 1) m b, and a copy.
 */

static void
allgather_bruck(struct sched *s, const struct work *w)
{
	int n = s->size;
	struct span all = side_whole(w->get, n);
	MPI_Count block = w->get->count;
	struct span turned = mpi_sched_room(s, all.count, all.type);

	mpi_sched_copy(s, span_slice(turned, 0, block), span_slice(all, s->rank * block, block));
	mpi_sched_round(s);
	for (int have = 1; have < n; have *= 2) {
		int more = 2 * have <= n ? have : n - have;

		mpi_sched_recv(s, span_slice(turned, have * block, more * block),
			(s->rank + have) % n);
		mpi_sched_send(s, span_slice(turned, 0, more * block), (s->rank - have + n) % n);
		mpi_sched_round(s);
	}
	mpi_sched_copy(s, span_slice(all, s->rank * block, (n - s->rank) * block),
		span_slice(turned, 0, (n - s->rank) * block));
	mpi_sched_copy(s, span_slice(all, 0, s->rank * block), span_slice(turned, (n - s->rank) *
		block, s->rank * block));
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_allgather_bruck =
	{.fits = mpi_work_is_even, .write = allgather_bruck};

/* --- recursive doubling ---
 *
 * Allgather: pairs at distances 1, 2, 4 ... exchange all that they have; if the ranks are no power
 * of two, as Bruck does it, which has as many steps. Equal blocks, one after the other.
 *
 * Cost: log2 n a + (n - 1) m b.
 */

static void
allgather_doubling(struct sched *s, const struct work *w)
{
	struct span all = side_whole(w->get, s->size);
	MPI_Count block = w->get->count;

	if ((s->size & (s->size - 1)) != 0) {
		allgather_bruck(s, w);
		return;
	}
	for (int n = 1; n < s->size; n *= 2) {
		int mine = s->rank & ~(n - 1), theirs = mine ^ n;

		mpi_sched_recv(s, span_slice(all, theirs * block, n * block), s->rank ^ n);
		mpi_sched_send(s, span_slice(all, mine * block, n * block), s->rank ^ n);
		mpi_sched_round(s);
	}
}

const struct algorithm mpi_algorithm_allgather_doubling = {.fits = mpi_work_is_even,
	.write = allgather_doubling};
