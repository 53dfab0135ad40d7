/* SPDX-License-Identifier: MIT
 *
 * Allgather in two tiers: the first rank of each cluster collects its blocks, the first ones pass
 * whole clusters' blocks around a ring, and all blocks go into the clusters. Equal blocks of
 * consecutive clusters go straight to their places; others are packed, cluster by cluster, as long
 * as a small cluster has room for it.
 *
 * Cost: a + p m b with p ranks in a cluster, (c - 1) a + (n - p) m b between c clusters, in c (c -
 * 1) messages, and the broadcast of n m that is chosen inside; two copies of n m if packed.
 */
#include <mpi/coll/clusters.h>

static bool
allgather_clusters_fits(const struct sched *s, const struct work *w)
{
	size_t total = 0;

	if (!mpi_clusters_fit(s) || (w->even && s->c->venue->consecutive))
		return mpi_clusters_fit(s);
	for (int i = 0; i < s->size; i++)
		total += mpi_span_size(mpi_side_block(w->get, i));
	return mpi_clusters_have_room(s, total);
}

/* All blocks as they travel: in place, or packed in the order of clusters. */
struct blocks {
	const struct side *all;		/* where they belong */
	struct span whole;
	size_t *at;			/* packed: where in the order each begins, and the end; NULL: in place */
};

static struct blocks
blocks_of(struct sched *s, const struct work *w)
{
	struct blocks b = {.all = w->get, .whole = mpi_side_whole(w->get, s->c->size)};
	size_t total = 0;

	if (w->even && s->c->venue->consecutive)
		return b;
	b.at = mpi_sched_scratch(s, ((size_t)s->c->size + 1) * sizeof(*b.at));
	for (int i = 0; b.at != NULL && i < s->c->size; i++) {
		b.at[i] = total;
		total += mpi_span_size(mpi_side_block(w->get, s->c->venue->order[i]));
	}
	if (b.at != NULL)
		b.at[s->c->size] = total;
	b.whole = span_bytes(mpi_sched_scratch(s, total), total);
	return b;
}

/* Blocks first .. end - 1 in the order of clusters. */
static struct span
range(const struct sched *s, const struct blocks *b, int first, int end)
{
	MPI_Count count = b->all->count;

	if (b->at != NULL)
		return span_slice(b->whole, (MPI_Count)b->at[first], (MPI_Count)(b->at[end] - b->at[first]));
	return span_slice(b->whole, s->c->venue->order[first] * count, (end - first) * count);
}

static void
allgather_clusters_collect(struct sched *s, const struct blocks *b)
{
	const struct venue *v = s->c->venue;
	int first = v->first[v->cluster];

	if (s->rank != 0)
		mpi_sched_send(s, mpi_side_block(b->all, v->members[s->rank]), 0);
	for (int i = 1; s->rank == 0 && i < s->size; i++)
		mpi_sched_recv(s, range(s, b, first + i, first + i + 1), i);
	if (s->rank == 0 && b->at != NULL)
		mpi_sched_copy(s, range(s, b, first, first + 1), mpi_side_block(b->all, v->members[0]));
	mpi_sched_round(s);
}

static struct span
cluster(const struct sched *s, const struct blocks *b, int number)
{
	return range(s, b, s->c->venue->first[number], s->c->venue->first[number + 1]);
}

static void
pass_around(struct sched *s, const struct blocks *b)
{
	int n = s->size, me = s->rank;

	for (int i = 0; me >= 0 && i < n - 1; i++) {
		mpi_sched_recv(s, cluster(s, b, (me - i - 1 + n) % n), (me - 1 + n) % n);
		mpi_sched_send(s, cluster(s, b, (me - i + n) % n), (me + 1) % n);
		mpi_sched_round(s);
	}
}

static void
unpack(struct sched *s, const struct blocks *b)
{
	const int *order = s->c->venue->order;

	mpi_sched_round(s);
	for (int i = 0; b->at != NULL && i < s->c->size; i++)
		if (order[i] != s->c->rank)
			mpi_sched_copy(s, mpi_side_block(b->all, order[i]), range(s, b, i, i + 1));
	mpi_sched_round(s);
}

static void
allgather_clusters_write(struct sched *s, const struct work *w)
{
	struct blocks b = blocks_of(s, w);

	if (s->broken != MPI_SUCCESS)
		return;
	mpi_clusters_inside(s);
	allgather_clusters_collect(s, &b);
	mpi_clusters_between(s);
	pass_around(s, &b);
	mpi_clusters_inside(s);
	mpi_clusters_bcast(s, b.whole, 0, true);
	unpack(s, &b);
	mpi_sched_all(s);
}

const struct algorithm mpi_algorithm_allgather_clusters = {.fits = allgather_clusters_fits,
	.write = allgather_clusters_write};
