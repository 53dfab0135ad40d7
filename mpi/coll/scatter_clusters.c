/* SPDX-License-Identifier: MIT
 *
 * Scatter of equal blocks in two tiers: the root sends to one rank of each other cluster all blocks
 * of that cluster, which deals them out; in its own cluster it deals itself. Where the ranks of a
 * cluster follow one another, their blocks leave from where they are.
 *
 * Only the root knows blocks that differ, so that nobody else could make room for those of a
 * cluster: they have no such form.
 *
 * Cost: (c - 1) a + (n - p) m b at the root, and (p - 1) a + p m b in the largest cluster of p
 * ranks; c - 1 messages between c clusters.
 */
#include <mpi/coll/clusters.h>

static bool
scatter_clusters_fits(const struct sched *s, const struct work *w)
{
	return w->even && mpi_clusters_fit(s);
}

/* In another cluster: from the root to the one that speaks for it, and from there to all. */
static void
recv(struct sched *s, const struct collective *k)
{
	struct span mine = mpi_side_block(&k->recv, 0);
	size_t block = mpi_span_size(mine);
	int n = s->c->venue->ranks;
	char *bytes;

	if (s->c->venue->rank != 0) {
		mpi_sched_recv(s, mine, s->c->venue->members[0]);
		return;
	}
	if (n == 1) {
		mpi_sched_recv(s, mine, k->root);
		return;
	}
	bytes = mpi_sched_scratch(s, (size_t)n * block);
	mpi_sched_recv(s, span_bytes(bytes, (size_t)n * block), k->root);
	mpi_sched_copy(s, mine, span_bytes(bytes, block));
	mpi_sched_round(s);
	mpi_clusters_inside(s);
	for (int i = 1; i < n; i++)
		mpi_sched_send(s, span_bytes(bytes + (size_t)i * block, block), i);
}

/* What a cluster gets, as one: packed now, or it lies so. */
static struct span
blocks_of(struct sched *s, const struct collective *k, int cluster)
{
	const struct venue *v = s->c->venue;
	const int *ranks = v->order + v->first[cluster];
	int n = mpi_clusters_ranks(s, cluster);
	size_t block = mpi_span_size(mpi_side_block(&k->send, 0));
	char *bytes;

	if (mpi_clusters_follow(s, cluster))
		return span_slice(mpi_side_whole(&k->send, s->size), ranks[0] * k->send.count, n * k->send.count);
	bytes = mpi_sched_scratch(s, (size_t)n * block);
	for (int i = 0; i < n; i++)
		mpi_sched_copy(s, span_bytes(bytes + (size_t)i * block, block), mpi_side_block(&k->send, ranks[i]));
	return span_bytes(bytes, (size_t)n * block);
}

static void
scatter_clusters_deal(struct sched *s, const struct collective *k)
{
	const struct venue *v = s->c->venue;
	struct span *blocks = mpi_sched_scratch(s, (size_t)v->clusters * sizeof(*blocks));

	if (blocks == NULL)
		return;
	for (int i = 0; i < v->clusters; i++)
		if (i != v->cluster)
			blocks[i] = blocks_of(s, k, i);
	mpi_sched_round(s);
	for (int i = 0; i < v->clusters; i++)
		if (i != v->cluster)
			mpi_sched_send(s, blocks[i], v->leaders[i]);
	for (int i = 0; i < v->ranks; i++)
		if (i != v->rank)
			mpi_sched_send(s, mpi_side_block(&k->send, v->members[i]), v->members[i]);
	if (!k->recv.in_place)
		mpi_sched_copy(s, mpi_side_block(&k->recv, 0), mpi_side_block(&k->send, s->rank));
}

static void
scatter_clusters_write(struct sched *s, const struct work *w)
{
	const struct collective *k = w->k;

	if (s->rank == k->root)
		scatter_clusters_deal(s, k);
	else if (mpi_venue_together(s->self, s->c, s->rank, k->root))
		mpi_sched_recv(s, mpi_side_block(&k->recv, 0), k->root);
	else
		recv(s, k);
	mpi_sched_round(s);
	mpi_sched_all(s);
}

const struct algorithm mpi_algorithm_scatter_clusters = {.fits = scatter_clusters_fits,
	.write = scatter_clusters_write};
