/* SPDX-License-Identifier: MIT
 *
 * Gather of equal blocks in two tiers: one rank of each other cluster collects its blocks and sends
 * them to the root as one; in the root's own cluster all send to the root. Where the ranks of a
 * cluster follow one another, their blocks go straight to their places.
 *
 * Only the root knows blocks that differ, so that nobody else could make room for those of a
 * cluster: they have no such form.
 *
 * Cost: a + p m b in the largest cluster of p ranks, and (c - 1) a + (n - p) m b at the root; c - 1
 * messages between c clusters.
 */
#include <mpi/coll/clusters.h>

static bool
gather_clusters_fits(const struct sched *s, const struct work *w)
{
	return w->even && mpi_clusters_fit(s);
}

/* In another cluster: to the one that speaks for it, and from there to the root. */
static void
send(struct sched *s, const struct collective *k)
{
	struct span mine = mpi_side_block(&k->send, 0);
	size_t block = mpi_span_size(mine);
	char *bytes = NULL;

	mpi_clusters_inside(s);
	if (s->rank != 0) {
		mpi_sched_send(s, mine, 0);
		return;
	}
	if (s->size > 1) {
		bytes = mpi_sched_scratch(s, (size_t)s->size * block);
		for (int i = 1; i < s->size; i++)
			mpi_sched_recv(s, span_bytes(bytes + (size_t)i * block, block), i);
		mpi_sched_copy(s, span_bytes(bytes, block), mine);
		mpi_sched_round(s);
		mine = span_bytes(bytes, (size_t)s->size * block);
	}
	mpi_sched_all(s);
	mpi_sched_send(s, mine, k->root);
}

static void
recv_cluster(struct sched *s, const struct collective *k, int cluster)
{
	const struct venue *v = s->c->venue;
	const int *ranks = v->order + v->first[cluster];
	int n = mpi_clusters_ranks(s, cluster);
	size_t block = mpi_span_size(mpi_side_block(&k->recv, 0));
	char *bytes;

	if (mpi_clusters_follow(s, cluster)) {
		mpi_sched_recv(s, span_slice(mpi_side_whole(&k->recv, s->size), ranks[0] *
			k->recv.count, n * k->recv.count), ranks[0]);
		return;
	}
	bytes = mpi_sched_scratch(s, (size_t)n * block);
	mpi_sched_recv(s, span_bytes(bytes, (size_t)n * block), ranks[0]);
	for (int i = 0; i < n; i++)
		mpi_sched_copy(s, mpi_side_block(&k->recv, ranks[i]), span_bytes(bytes + (size_t)i * block, block));
}

static void
gather_clusters_collect(struct sched *s, const struct collective *k)
{
	const struct venue *v = s->c->venue;

	for (int i = 0; i < v->clusters; i++)
		if (i != v->cluster)
			recv_cluster(s, k, i);
	for (int i = 0; i < v->ranks; i++)
		if (i != v->rank)
			mpi_sched_recv(s, mpi_side_block(&k->recv, v->members[i]), v->members[i]);
	if (!k->send.in_place)
		mpi_sched_copy(s, mpi_side_block(&k->recv, s->rank), mpi_side_block(&k->send, 0));
}

static void
gather_clusters_write(struct sched *s, const struct work *w)
{
	const struct collective *k = w->k;

	if (s->rank == k->root)
		gather_clusters_collect(s, k);
	else if (mpi_venue_together(s->self, s->c, s->rank, k->root))
		mpi_sched_send(s, mpi_side_block(&k->send, 0), k->root);
	else
		send(s, k);
	mpi_sched_round(s);
	mpi_sched_all(s);
}

const struct algorithm mpi_algorithm_gather_clusters = {.fits = gather_clusters_fits, .write = gather_clusters_write};
