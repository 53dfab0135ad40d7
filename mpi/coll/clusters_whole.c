/* SPDX-License-Identifier: MIT
 *
 * Collectives in two tiers in which all ranks have the same piece of data, or none: barrier,
 * broadcast, and the reductions.
 */
#include <mpi/coll/clusters.h>

/* --- barrier ---
 *
 * Barrier in two tiers: the ranks of a cluster report to the first of them, the first ones of the
 * clusters meet, and tell the others.
 *
 * Cost: 2 a inside a cluster, with as many messages at its first rank as it has others, and
 * ceil(log2 c) a between c clusters.
 */

/* All who take part tell the first of them, or it tells all. */
static void
with_first(struct sched *s, bool to_first)
{
	for (int i = 1; s->rank == 0 && i < s->size; i++)
		mpi_sched_move(s, !to_first, span_bytes(NULL, 0), i);
	if (s->rank != 0)
		mpi_sched_move(s, to_first, span_bytes(NULL, 0), 0);
	mpi_sched_round(s);
}

static void
barrier_clusters(struct sched *s, const struct work *w)
{
	mpi_clusters_inside(s);
	with_first(s, true);
	mpi_clusters_between(s, 0);
	if (s->rank >= 0)
		mpi_algorithm_barrier_dissemination.write(s, w);
	mpi_clusters_inside(s);
	with_first(s, false);
}

const struct algorithm mpi_algorithm_barrier_clusters = {.fits = mpi_clusters_fit,
	.write = barrier_clusters};

/* --- broadcast ---
 *
 * Broadcast in two tiers: from the root to one rank of each other cluster, and from there, and from
 * the root, to all of the own cluster.
 *
 * Cost: that of the broadcasts that are chosen between c clusters, and inside the largest one.
 */

static void
bcast_clusters(struct sched *s, const struct work *w)
{
	mpi_clusters_tier(s, COLL_BCAST, *w, false);
	mpi_clusters_tier(s, COLL_BCAST, *w, true);
}

const struct algorithm mpi_algorithm_bcast_clusters =
	{.fits = mpi_clusters_fit, .write = bcast_clusters};

/* --- reduction to a root ---
 *
 * Reduction in two tiers: in each cluster to one rank, in the root's to the root, and then among
 * these. If the operation does not commute, the ranks of a cluster must follow one another.
 *
 * Cost: that of the reductions that are chosen inside the largest cluster, and between c clusters.
 */

static void
reduce_clusters(struct sched *s, const struct work *w)
{
	struct work part = *w;

	if (s->rank != w->root)
		part.out = s->c->locality->rank == mpi_clusters_leader(s, w->root)
			? mpi_sched_room(s, w->in.count, w->in.type) : w->in;
	mpi_clusters_tier(s, COLL_REDUCE, part, true);
	part.in = part.out;
	mpi_clusters_tier(s, COLL_REDUCE, part, false);
}

const struct algorithm mpi_algorithm_reduce_clusters =
	{.fits = mpi_clusters_fit_in_order, .write = reduce_clusters};

/* --- reduction to all ---
 *
 * Reduction to all in two tiers: in each cluster to its first rank, among the first ones to all of
 * them, and back into the clusters. If the operation does not commute, the ranks of a cluster must
 * follow one another.
 *
 * Cost: that of the reduction and the broadcast that are chosen inside the largest cluster, and of
 * the reduction between c clusters.
 */

static void
allreduce_clusters(struct sched *s, const struct work *w)
{
	struct work sum = {.out = w->out, .in = w->out};

	mpi_clusters_tier(s, COLL_REDUCE, (struct work){.out = w->out, .in = w->in}, true);
	mpi_clusters_tier(s, COLL_ALLREDUCE, sum, false);
	mpi_clusters_tier(s, COLL_BCAST, sum, true);
}

const struct algorithm mpi_algorithm_allreduce_clusters = {.fits = mpi_clusters_fit_in_order,
	.write = allreduce_clusters};

/* --- reduce-scatter ---
 *
 * Reduce-scatter in two tiers: in each cluster all operands to its first rank, among these to each
 * what belongs to its cluster, which it deals out. If the operation does not commute, the ranks of
 * a cluster must follow one another. Any blocks.
 *
 * Cost: that of the reduction that is chosen inside the largest cluster of p ranks, and of the
 * reduce-scatter that is chosen between c clusters (c (c - 1) messages if the operation commutes
 * and that is pairwise, 2 (c - 1) if it is at_root), and (p - 1) (a + m b).
 */

/* The blocks cluster by cluster, and how much each cluster has. */
static struct span
sort(struct sched *s, struct span sum, const MPI_Count *counts, MPI_Count *per_cluster)
{
	const struct locality *v = s->c->locality;
	struct span sorted = v->consecutive ? sum : mpi_sched_room(s, sum.count, sum.type);
	MPI_Count *at = mpi_sched_scratch(s, (size_t)s->c->size * sizeof(*at)), to = 0;

	for (int i = 0; at != NULL && i < s->c->size; i++)
		at[i] = i > 0 ? at[i - 1] + counts[i - 1] : 0;
	for (int k = 0; at != NULL && k < v->clusters; k++) {
		per_cluster[k] = 0;
		for (int i = v->first[k]; i < v->first[k + 1]; i++) {
			int rank = mpi_locality_member(v, k, i - v->first[k]);

			mpi_sched_copy(s, span_slice(sorted, to, counts[rank]),
				span_slice(sum, at[rank], counts[rank]));
			per_cluster[k] += counts[rank];
			to += counts[rank];
		}
	}
	mpi_sched_round(s);
	return sorted;
}

/* At the first rank of a cluster: what belongs to its ranks. */
static struct span
between_first(struct sched *s, struct span sum, const struct work *w)
{
	const struct locality *v = s->c->locality;
	MPI_Count *per_cluster = mpi_sched_scratch(s, (size_t)v->clusters * sizeof(*per_cluster));
	struct span sorted, mine;

	if (per_cluster == NULL)
		return sum;
	sorted = sort(s, sum, w->counts, per_cluster);
	mine = mpi_sched_room(s, per_cluster[v->cluster], sum.type);
	mpi_clusters_tier(s, COLL_REDUCE_SCATTER, (struct work){.out = mine, .in = sorted,
		.counts = per_cluster}, false);
	return mine;
}

static void
reduce_scatter_clusters(struct sched *s, const struct work *w)
{
	const struct locality *v = s->c->locality;
	struct span sum = v->rank == 0 ? mpi_sched_room(s, w->in.count, w->in.type) : w->in;
	MPI_Count *counts = mpi_sched_scratch(s, (size_t)v->ranks * sizeof(*counts));

	for (int i = 0; counts != NULL && i < v->ranks; i++)
		counts[i] = w->counts[mpi_locality_member(v, v->cluster, i)];
	mpi_clusters_tier(s, COLL_REDUCE, (struct work){.out = sum, .in = w->in}, true);
	if (v->rank == 0)
		sum = between_first(s, sum, w);
	mpi_clusters_inside(s);
	if (counts != NULL)
		mpi_sched_deal(s, w->out, sum, counts);
}

const struct algorithm mpi_algorithm_reduce_scatter_clusters =
	{.fits = mpi_clusters_fit_in_order, .write = reduce_scatter_clusters};

/* --- scans ---
 *
 * Scans in two tiers: inside each run of ranks that follow one another in one cluster; among the
 * last ranks of the runs, which then know what lies before theirs; and that into the runs. With
 * consecutive clusters these are the runs. Operands stay in the order of the ranks.
 *
 * Cost: those of the scan and the broadcast that are chosen inside the longest run, and of the
 * exclusive scan between c runs, with as many messages between them as that one has (doubling: c -
 * 1, and c - d for each power of two d < c), and m g; exclusive: a + m b more.
 */

/* After the scan inside the runs: what lies before the own run, at each of its ranks. */
static struct span
before_run(struct sched *s, struct span sum)
{
	struct span before = mpi_sched_room(s, sum.count, sum.type);

	mpi_sched_round(s);
	mpi_clusters_between_runs(s);
	mpi_clusters_part(s, COLL_EXSCAN, &(struct work){.out = before, .in = sum}, false);
	if (mpi_clusters_inside_run(s) > 0)
		mpi_clusters_part(s, COLL_BCAST, &(struct work){.out = before,
			.root = s->size - 1}, true);
	return before;
}

/* The result of the ranks of the run up to this one, or up to the one before it. */
static void
scan_clusters(struct sched *s, const struct work *w)
{
	bool exclusive = w->k->kind == COLL_EXSCAN;
	struct span sum = exclusive ? mpi_sched_room(s, w->in.count, w->in.type) : w->out;
	int run = mpi_clusters_inside_run(s);

	if (exclusive)
		mpi_sched_copy(s, sum, w->in);
	mpi_sched_round(s);
	mpi_clusters_part(s, COLL_SCAN, &(struct work){.out = sum}, true);
	if (exclusive && s->rank > 0)
		mpi_sched_recv(s, w->out, s->rank - 1);
	if (exclusive && s->rank + 1 < s->size)
		mpi_sched_send(s, sum, s->rank + 1);
	if (run >= 0) {
		struct span before = before_run(s, sum);

		if (run > 0 && exclusive && s->rank == 0)
			mpi_sched_copy(s, w->out, before);
		else if (run > 0)
			mpi_sched_reduce(s, before, w->out);
	}
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_scan_clusters =
	{.fits = mpi_clusters_fit_in_runs, .write = scan_clusters};
const struct algorithm mpi_algorithm_exscan_clusters =
	{.fits = mpi_clusters_fit_in_runs, .write = scan_clusters};
