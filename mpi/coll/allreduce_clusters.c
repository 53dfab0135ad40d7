/* SPDX-License-Identifier: MIT
 *
 * Reduction to all in two tiers: in each cluster to its first rank, among the first ones to all of
 * them, and back into the clusters. If the operation does not commute, the ranks of a cluster must
 * follow one another.
 *
 * Cost: that of the reduction and the broadcast that are chosen inside the largest cluster, and of
 * the reduction between c clusters.
 */
#include <mpi/coll/clusters.h>

static bool
allreduce_clusters_fits(const struct sched *s, const struct work *w)
{
	(void)w;
	return mpi_clusters_fit(s) && mpi_clusters_are_in_order(s);
}

static void
allreduce_clusters_write(struct sched *s, const struct work *w)
{
	mpi_clusters_inside(s);
	mpi_clusters_reduce(s, &(struct work){.out = w->out, .in = w->in, .root = 0}, true);
	mpi_clusters_between(s);
	mpi_clusters_allreduce(s, w->out, false);
	mpi_clusters_inside(s);
	mpi_clusters_bcast(s, w->out, 0, true);
	mpi_sched_all(s);
}

const struct algorithm mpi_algorithm_allreduce_clusters = {.fits = allreduce_clusters_fits,
	.write = allreduce_clusters_write};
