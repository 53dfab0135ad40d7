/* SPDX-License-Identifier: MIT
 *
 * Reduce-scatter by messages.
 */
#include <mpi/coll/algorithm.h>

/* --- pairwise exchange ---
 *
 * Reduce-scatter: in step i each rank gives the i-th after it that one's block, and combines what
 * it gets. For operations that commute.
 *
 * Cost: (n - 1) (a + m b + m g), m being a block.
 */

static void
reduce_scatter_pairwise(struct sched *s, const struct work *w)
{
	struct span out = w->out, in = w->in;
	const MPI_Count *counts = w->counts;
	int n = s->size;
	MPI_Count *first = mpi_sched_scratch(s, (size_t)n * sizeof(*first));
	struct span sum = mpi_sched_room(s, out.count, in.type),
		theirs = mpi_sched_room(s, out.count, in.type);

	if (first == NULL)
		return;
	for (int i = 0; i < n; i++)
		first[i] = i > 0 ? first[i - 1] + counts[i - 1] : 0;
	mpi_sched_copy(s, sum, span_slice(in, first[s->rank], out.count));
	for (int i = 1; i < n; i++) {
		int to = (s->rank + i) % n;

		mpi_sched_recv(s, theirs, (s->rank - i + n) % n);
		mpi_sched_send(s, span_slice(in, first[to], counts[to]), to);
		mpi_sched_reduce(s, theirs, sum);
		mpi_sched_round(s);
	}
	mpi_sched_copy(s, out, sum);
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_reduce_scatter_pairwise =
	{.fits = mpi_work_commutes, .write = reduce_scatter_pairwise};

/* --- at one rank ---
 *
 * Reduce-scatter: rank 0 gets the whole result and deals it out. Any operation.
 *
 * Cost: ceil(log2 n) (a + n m b + n m g) + (n - 1) (a + m b), m being a block.
 */

static void
reduce_scatter_at_root(struct sched *s, const struct work *w)
{
	struct span out = w->out, in = w->in;
	const MPI_Count *counts = w->counts;
	struct span sum = s->rank == 0 ? mpi_sched_room(s, in.count, in.type) : in;
	MPI_Count first = 0;

	mpi_algorithm_reduce_binomial.write(s, &(struct work){.out = sum, .in = in});
	for (int i = 0; s->rank == 0 && i < s->size; i++) {
		if (i == 0)
			mpi_sched_copy(s, out, span_slice(sum, 0, counts[0]));
		else
			mpi_sched_send(s, span_slice(sum, first, counts[i]), i);
		first += counts[i];
	}
	if (s->rank != 0)
		mpi_sched_recv(s, out, 0);
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_reduce_scatter_at_root =
	{.write = reduce_scatter_at_root};
