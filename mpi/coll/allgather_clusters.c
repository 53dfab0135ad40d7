/* SPDX-License-Identifier: MIT
 *
 * Allgather in two tiers: the first rank of each cluster collects its blocks, the first ones pass whole clusters' blocks around a ring, and all
 * blocks go into the clusters. Equal blocks, and ranks of a cluster that follow one another.
 *
 * Cost: a + p m b with p ranks in a cluster, (c - 1) a + (n - p) m b between c clusters, and the broadcast of n m that is chosen inside.
 */
#include <mpi/coll/clusters.h>

static bool
fits(const struct sched *s, const struct work *w)
{
	return w->even && mpi_clusters_fit(s) && s->c->venue->consecutive;
}

static void
collect(struct sched *s, const struct side *all)
{
	const struct venue *v = s->c->venue;

	if (s->rank != 0)
		mpi_sched_send(s, mpi_side_block(all, v->members[s->rank]), 0);
	for (int i = 1; s->rank == 0 && i < s->size; i++)
		mpi_sched_recv(s, mpi_side_block(all, v->members[i]), i);
	mpi_sched_round(s);
}

/* The blocks of a cluster, which follow one another. */
static struct span
blocks_of(const struct sched *s, const struct side *all, int cluster)
{
	const struct venue *v = s->c->venue;
	int first = v->leaders[cluster], next = cluster + 1 < v->clusters ? v->leaders[cluster + 1] : s->c->size;

	return span_slice(mpi_side_whole(all, s->c->size), first * all->count, (next - first) * all->count);
}

static void
pass_around(struct sched *s, const struct side *all)
{
	int n = s->size, me = s->rank;

	for (int i = 0; me >= 0 && i < n - 1; i++) {
		mpi_sched_recv(s, blocks_of(s, all, (me - i - 1 + n) % n), (me - 1 + n) % n);
		mpi_sched_send(s, blocks_of(s, all, (me - i + n) % n), (me + 1) % n);
		mpi_sched_round(s);
	}
}

static void
write_it(struct sched *s, const struct work *w)
{
	mpi_clusters_inside(s);
	collect(s, w->get);
	mpi_clusters_between(s);
	pass_around(s, w->get);
	mpi_clusters_inside(s);
	mpi_clusters_bcast(s, mpi_side_whole(w->get, s->c->size), 0, true);
	mpi_sched_all(s);
}

const struct algorithm mpi_algorithm_allgather_clusters = {.fits = fits, .write = write_it};
