/* SPDX-License-Identifier: MIT
 *
 * Reduction in two tiers: in each cluster to one rank, in the root's to the root, and then among
 * these. If the operation does not commute, the ranks of a cluster must follow one another.
 *
 * Cost: that of the reductions that are chosen inside the largest cluster, and between c clusters.
 */
#include <mpi/coll/clusters.h>

static bool
reduce_clusters_fits(const struct sched *s, const struct work *w)
{
	(void)w;
	return mpi_clusters_fit(s) && mpi_clusters_are_in_order(s);
}

static void
reduce_clusters_write(struct sched *s, const struct work *w)
{
	int speaker = mpi_clusters_speaker(s, w->root);
	struct span sum = w->out;

	if (s->rank != w->root)
		sum = s->c->venue->rank == speaker ? mpi_sched_room(s, w->in.count, w->in.type) : w->in;
	mpi_clusters_inside(s);
	mpi_clusters_reduce(s, &(struct work){.out = sum, .in = w->in, .root = speaker}, true);
	mpi_clusters_between_with(s, w->root);
	mpi_clusters_reduce(s, &(struct work){.out = sum, .in = sum, .root = mpi_clusters_number(s, w->root)}, false);
	mpi_sched_all(s);
}

const struct algorithm mpi_algorithm_reduce_clusters = {.fits = reduce_clusters_fits, .write = reduce_clusters_write};
