/* SPDX-License-Identifier: MIT
 *
 * Reduce-scatter in two tiers: in each cluster all operands to its first rank, among these to each
 * what belongs to its cluster, which it deals out. If the operation does not commute, the ranks of
 * a cluster must follow one another. Any blocks.
 *
 * Cost: that of the reduction that is chosen inside the largest cluster of p ranks, and of the
 * reduce-scatter that is chosen between c clusters (c (c - 1) messages if the operation commutes
 * and that is pairwise, 2 (c - 1) if it is at_root), and (p - 1) (a + m b).
 */
#include <mpi/coll/clusters.h>

static bool
reduce_scatter_clusters_fits(const struct sched *s, const struct work *w)
{
	(void)w;
	return mpi_clusters_fit(s) && mpi_clusters_are_in_order(s);
}

/* The blocks cluster by cluster, and how much each cluster has. */
static struct span
sort(struct sched *s, struct span sum, const MPI_Count *counts, MPI_Count *per_cluster)
{
	const struct venue *v = s->c->venue;
	struct span sorted = v->consecutive ? sum : mpi_sched_room(s, sum.count, sum.type);
	MPI_Count *at = mpi_sched_scratch(s, (size_t)s->c->size * sizeof(*at)), to = 0;

	for (int i = 0; at != NULL && i < s->c->size; i++)
		at[i] = i > 0 ? at[i - 1] + counts[i - 1] : 0;
	for (int k = 0; at != NULL && k < v->clusters; k++) {
		per_cluster[k] = 0;
		for (int i = v->first[k]; i < v->first[k + 1]; i++) {
			int rank = v->order[i];

			mpi_sched_copy(s, span_slice(sorted, to, counts[rank]),
				span_slice(sum, at[rank], counts[rank]));
			per_cluster[k] += counts[rank];
			to += counts[rank];
		}
	}
	mpi_sched_round(s);
	return sorted;
}

static void
write_first(struct sched *s, struct span sum, const struct work *w)
{
	const struct venue *v = s->c->venue;
	MPI_Count *per_cluster = mpi_sched_scratch(s, (size_t)v->clusters * sizeof(*per_cluster)), at = 0;
	struct span sorted, mine;

	if (per_cluster == NULL)
		return;
	sorted = sort(s, sum, w->counts, per_cluster);
	mine = mpi_sched_room(s, per_cluster[v->cluster], sum.type);
	mpi_clusters_between(s);
	mpi_clusters_reduce_scatter(s, &(struct work){.out = mine, .in = sorted, .counts = per_cluster});
	mpi_sched_round(s);
	mpi_clusters_inside(s);
	for (int i = 0; i < s->size; i++) {
		MPI_Count count = w->counts[v->members[i]];

		if (i == 0)
			mpi_sched_copy(s, w->out, span_slice(mine, 0, count));
		else
			mpi_sched_send(s, span_slice(mine, at, count), i);
		at += count;
	}
}

static void
reduce_scatter_clusters_write(struct sched *s, const struct work *w)
{
	bool first = s->c->venue->rank == 0;
	struct span sum = first ? mpi_sched_room(s, w->in.count, w->in.type) : w->in;

	mpi_clusters_inside(s);
	mpi_clusters_reduce(s, &(struct work){.out = sum, .in = w->in, .root = 0}, true);
	if (first)
		write_first(s, sum, w);
	else
		mpi_sched_recv(s, w->out, 0);
	mpi_sched_round(s);
	mpi_sched_all(s);
}

const struct algorithm mpi_algorithm_reduce_scatter_clusters =
	{.fits = reduce_scatter_clusters_fits, .write = reduce_scatter_clusters_write};
