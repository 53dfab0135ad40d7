/* SPDX-License-Identifier: MIT
 *
 * Broadcast in two tiers: from the root to one rank of each other cluster, and from there, and from
 * the root, to all of the own cluster.
 *
 * Cost: that of the broadcasts that are chosen between c clusters, and inside the largest one.
 */
#include <mpi/coll/clusters.h>

static bool
bcast_clusters_fits(const struct sched *s, const struct work *w)
{
	(void)w;
	return mpi_clusters_fit(s);
}

static void
bcast_clusters_write(struct sched *s, const struct work *w)
{
	mpi_clusters_between_with(s, w->root);
	mpi_clusters_bcast(s, w->out, mpi_clusters_number(s, w->root), false);
	mpi_clusters_inside(s);
	mpi_clusters_bcast(s, w->out, mpi_clusters_speaker(s, w->root), true);
	mpi_sched_all(s);
}

const struct algorithm mpi_algorithm_bcast_clusters = {.fits = bcast_clusters_fits, .write = bcast_clusters_write};
