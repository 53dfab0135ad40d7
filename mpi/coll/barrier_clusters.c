/* SPDX-License-Identifier: MIT
 *
 * Barrier in two tiers: the ranks of a cluster report to the first of them, the first ones of the
 * clusters meet, and tell the others.
 *
 * Cost: 2 a inside a cluster, with as many messages at its first rank as it has others, and
 * ceil(log2 c) a between c clusters.
 */
#include <mpi/coll/clusters.h>

static bool
barrier_clusters_fits(const struct sched *s, const struct work *w)
{
	(void)w;
	return mpi_clusters_fit(s);
}

/* With the first of those who take part: all to it, or it to all. */
static void
with_first(struct sched *s, bool to_first)
{
	for (int i = 1; s->rank == 0 && i < s->size; i++) {
		if (to_first)
			mpi_sched_recv(s, span_bytes(NULL, 0), i);
		else
			mpi_sched_send(s, span_bytes(NULL, 0), i);
	}
	if (s->rank != 0 && to_first)
		mpi_sched_send(s, span_bytes(NULL, 0), 0);
	else if (s->rank != 0)
		mpi_sched_recv(s, span_bytes(NULL, 0), 0);
	mpi_sched_round(s);
}

static void
barrier_clusters_write(struct sched *s, const struct work *w)
{
	(void)w;
	mpi_clusters_inside(s);
	with_first(s, true);
	mpi_clusters_between(s);
	if (s->rank >= 0)
		mpi_barrier_dissemination(s);
	mpi_clusters_inside(s);
	with_first(s, false);
	mpi_sched_all(s);
}

const struct algorithm mpi_algorithm_barrier_clusters = {.fits = barrier_clusters_fits,
	.write = barrier_clusters_write};
