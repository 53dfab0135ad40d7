/* SPDX-License-Identifier: MIT
 *
 * Collectives in two tiers that move a block for each rank: gather, scatter, allgather, alltoall.
 */
#include <mpi/coll/clusters.h>

/* --- gather and scatter ---
 *
 * Gather and scatter of equal blocks in two tiers: one rank of each other cluster collects its
 * blocks and sends them to the root as one, or gets them as one and deals them out; in the root's
 * own cluster all do that with the root. Where the ranks of a cluster follow one another, their
 * blocks go straight to their places at the root, or leave from there.
 *
 * Only the root knows blocks that differ, so that nobody else could make room for those of a
 * cluster: they have no such form.
 *
 * Cost: (p - 1) a + p m b in the largest cluster of p ranks, and (c - 1) a + (n - p) m b at the
 * root; c - 1 messages between c clusters.
 */

static bool
rooted_clusters_fits(const struct sched *s, const struct work *w)
{
	return w->even && mpi_clusters_fit(s, w);
}

static void
with_root(struct sched *s, const struct rooted *r, struct span blocks, int root)
{
	mpi_sched_all(s);
	mpi_sched_move(s, r->up, blocks, root);
	mpi_sched_round(s);
	mpi_clusters_inside(s);
}

/* In a cluster without the root: through its leader. */
static void
through_leader(struct sched *s, const struct rooted *r, int root)
{
	struct span mine = side_block(r->one, 0), all = mine;
	MPI_Count block = (MPI_Count)span_size(mine);

	mpi_clusters_inside(s);
	if (s->rank != 0) {
		mpi_sched_move(s, r->up, mine, 0);
		return;
	}
	if (s->size > 1)
		all = span_bytes(mpi_sched_scratch(s, (size_t)(s->size * block)),
			(size_t)(s->size * block));
	if (!r->up)
		with_root(s, r, all, root);
	for (int i = 1; i < s->size; i++)
		mpi_sched_move(s, !r->up, span_slice(all, i * block, block), i);
	if (s->size > 1)
		mpi_sched_copy_way(s, !r->up, mine, span_slice(all, 0, block));
	mpi_sched_round(s);
	if (r->up)
		with_root(s, r, all, root);
}

/* The blocks of a cluster as one: where they are, or in bytes. */
static struct span
cluster_blocks(struct sched *s, const struct rooted *r, int cluster)
{
	int first = s->c->locality->leaders[cluster], n = mpi_clusters_ranks(s, cluster);
	MPI_Count count = r->all->count;
	size_t bytes = (size_t)n * span_size(side_block(r->all, 0));

	if (mpi_clusters_follow(s, cluster))
		return span_slice(side_whole(r->all, s->size), first * count, n * count);
	return span_bytes(mpi_sched_scratch(s, bytes), bytes);
}

/* Between the bytes and their places, of all clusters that have bytes. */
static void
copy_clusters(struct sched *s, const struct rooted *r, const struct span *blocks)
{
	const struct locality *v = s->c->locality;
	MPI_Count block = (MPI_Count)span_size(side_block(r->all, 0));

	for (int k = 0; k < v->clusters; k++)
		for (int i = 0; !mpi_clusters_follow(s, k) && k != v->cluster &&
				i < mpi_clusters_ranks(s, k); i++)
			mpi_sched_copy_way(s, r->up, side_block(r->all, mpi_locality_member(v, k,
				i)), span_slice(blocks[k], i * block, block));
}

static void
at_root(struct sched *s, const struct rooted *r)
{
	const struct locality *v = s->c->locality;
	struct span *blocks = mpi_sched_scratch(s, (size_t)v->clusters * sizeof(*blocks));

	if (blocks == NULL)
		return;
	for (int i = 0; i < v->clusters; i++)
		if (i != v->cluster)
			blocks[i] = cluster_blocks(s, r, i);
	if (!r->up)
		copy_clusters(s, r, blocks);
	mpi_sched_round(s);
	for (int i = 0; i < v->clusters; i++)
		if (i != v->cluster)
			mpi_sched_move(s, !r->up, blocks[i], v->leaders[i]);
	for (int i = 0; i < v->ranks; i++) {
		int peer = mpi_locality_member(v, v->cluster, i);

		if (i != v->rank)
			mpi_sched_move(s, !r->up, side_block(r->all, peer), peer);
	}
	if (r->up)
		copy_clusters(s, r, blocks);
	if (!r->one->in_place)
		mpi_sched_copy_way(s, r->up, side_block(r->all, s->rank), side_block(r->one, 0));
}

static void
rooted_clusters(struct sched *s, const struct work *w)
{
	struct rooted r = rooted_of(w->k);

	if (s->rank == w->root)
		at_root(s, &r);
	else if (mpi_locality_together(s->self, s->c, s->rank, w->root))
		mpi_sched_move(s, r.up, side_block(r.one, 0), w->root);
	else
		through_leader(s, &r, w->root);
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_gather_clusters =
	{.fits = rooted_clusters_fits, .write = rooted_clusters};
const struct algorithm mpi_algorithm_scatter_clusters =
	{.fits = rooted_clusters_fits, .write = rooted_clusters};

/* --- allgather ---
 *
 * Allgather in two tiers: the first rank of each cluster collects its blocks, the first ones pass
 * whole clusters' blocks around a ring, and all blocks go into the clusters. Equal blocks of
 * consecutive clusters go straight to their places; others are packed, cluster by cluster, as long
 * as a small cluster has room for it.
 *
 * Cost: a + p m b with p ranks in a cluster, (c - 1) a + (n - p) m b between c clusters, in c (c -
 * 1) messages, and the broadcast of n m that is chosen inside; two copies of n m if packed.
 */

static bool
allgather_clusters_fits(const struct sched *s, const struct work *w)
{
	size_t total = 0;

	if (!mpi_clusters_fit(s, w) || (w->even && s->c->locality->consecutive))
		return mpi_clusters_fit(s, w);
	for (int i = 0; i < s->size; i++)
		total += span_size(side_block(w->get, i));
	return mpi_clusters_have_room(s, total);
}

/* All blocks as they travel: in place, or packed in the order of clusters. */
struct travel {
	const struct side *all;		/* where they belong */
	struct span whole;
	/* packed: where in the order each begins, and the end; NULL: in place */
	size_t *at;
};

static struct travel
travel_of(struct sched *s, const struct work *w)
{
	struct travel b = {.all = w->get, .whole = side_whole(w->get, s->c->size)};
	size_t total = 0;

	if (w->even && s->c->locality->consecutive)
		return b;
	b.at = mpi_sched_scratch(s, ((size_t)s->c->size + 1) * sizeof(*b.at));
	for (int i = 0; b.at != NULL && i < s->c->size; i++) {
		b.at[i] = total;
		total += span_size(side_block(w->get, mpi_locality_ordered(s->c->locality, i)));
	}
	if (b.at != NULL)
		b.at[s->c->size] = total;
	b.whole = span_bytes(mpi_sched_scratch(s, total), total);
	return b;
}

/* Blocks first .. end - 1 in the order of clusters. */
static struct span
travel_range(const struct sched *s, const struct travel *b, int first, int end)
{
	MPI_Count count = b->all->count;

	if (b->at != NULL)
		return span_slice(b->whole, (MPI_Count)b->at[first],
			(MPI_Count)(b->at[end] - b->at[first]));
	return span_slice(b->whole, mpi_locality_ordered(s->c->locality, first) * count,
		(end - first) * count);
}

static void
allgather_clusters_collect(struct sched *s, const struct travel *b)
{
	const struct locality *v = s->c->locality;
	int first = v->first[v->cluster];

	if (s->rank != 0)
		mpi_sched_send(s, side_block(b->all, mpi_locality_member(v, v->cluster, s->rank)),
			0);
	for (int i = 1; s->rank == 0 && i < s->size; i++)
		mpi_sched_recv(s, travel_range(s, b, first + i, first + i + 1), i);
	if (s->rank == 0 && b->at != NULL)
		mpi_sched_copy(s, travel_range(s, b, first, first + 1),
			side_block(b->all, v->leaders[v->cluster]));
	mpi_sched_round(s);
}

static struct span
travel_cluster(const struct sched *s, const struct travel *b, int number)
{
	return travel_range(s, b, s->c->locality->first[number], s->c->locality->first[number + 1]);
}

static void
pass_around(struct sched *s, const struct travel *b)
{
	int n = s->size, me = s->rank;

	for (int i = 0; me >= 0 && i < n - 1; i++) {
		mpi_sched_recv(s, travel_cluster(s, b, (me - i - 1 + n) % n), (me - 1 + n) % n);
		mpi_sched_send(s, travel_cluster(s, b, (me - i + n) % n), (me + 1) % n);
		mpi_sched_round(s);
	}
}

static void
travel_unpack(struct sched *s, const struct travel *b)
{
	mpi_sched_round(s);
	for (int i = 0; b->at != NULL && i < s->c->size; i++) {
		int rank = mpi_locality_ordered(s->c->locality, i);

		if (rank != s->c->rank)
			mpi_sched_copy(s, side_block(b->all, rank), travel_range(s, b, i, i + 1));
	}
	mpi_sched_round(s);
}

static void
allgather_clusters_write(struct sched *s, const struct work *w)
{
	struct travel b = travel_of(s, w);

	if (s->broken != MPI_SUCCESS)
		return;
	mpi_clusters_inside(s);
	allgather_clusters_collect(s, &b);
	mpi_clusters_between(s, 0);
	pass_around(s, &b);
	mpi_clusters_tier(s, COLL_BCAST, (struct work){.out = b.whole}, true);
	travel_unpack(s, &b);
}

const struct algorithm mpi_algorithm_allgather_clusters = {.fits = allgather_clusters_fits,
	.write = allgather_clusters_write};

/* --- alltoall ---
 *
 * Alltoall of equal blocks in two tiers: the first rank of each cluster collects all blocks of its
 * cluster, sorts them by the cluster that they go to, exchanges them with the first ranks of the
 * others, and deals out what came. As bytes, in 2 p n m of memory at each first rank; no more than
 * a small cluster has.
 *
 * Only pairs of ranks know blocks that differ: they have no such form.
 *
 * Cost: 2 (p - 1) (a + n m b) in a cluster of p ranks, (c - 1) a + p (n - p) m b between c
 * clusters, with c (c - 1) messages in all, and three copies of p n m.
 */

/* What the first rank of a cluster works with. */
struct exchange {
	char *in;
	char *out;
	size_t block;
	size_t vector;			/* bytes of all blocks of a rank */
	int ranks;			/* of the cluster */
	const int *order;		/* of all ranks */
};

static bool
alltoall_clusters_fits(const struct sched *s, const struct work *w)
{
	return w->even && mpi_clusters_fit(s, w) &&
		mpi_clusters_have_room(s, 2 * (size_t)s->size *
		span_size(side_block(w->get, 0)));
}

static void
alltoall_clusters_collect(struct sched *s, const struct exchange *x, struct span mine)
{
	mpi_clusters_inside(s);
	for (int i = 1; i < s->size; i++)
		mpi_sched_recv(s, span_bytes(x->in + (size_t)i * x->vector, x->vector), i);
	mpi_sched_copy(s, span_bytes(x->in, x->vector), mine);
	/*
	 * block q of the ranks in the order of clusters goes to row q, which has a place for each
	 * rank of this cluster
	 */
	for (int i = 0; i < s->size; i++)
		mpi_sched_rows(s, &(struct rows){.to = x->out + (size_t)i * x->block,
			.from = x->in + (size_t)i * x->vector, .bytes = x->block,
			.count = s->c->size, .to_step = (size_t)s->size * x->block,
				.from_step = x->block, .from_at = x->order});
	mpi_sched_round(s);
}

/* The rows that belong to a cluster follow one another; what comes from it has as many bytes. */
static struct span
exchange_part(const struct sched *s, const struct exchange *x, char *memory, int cluster)
{
	size_t unit = (size_t)x->ranks * x->block;

	return span_bytes(memory + (size_t)s->c->locality->first[cluster] * unit,
		(size_t)mpi_clusters_ranks(s, cluster) * unit);
}

static void
exchange_swap(struct sched *s, const struct exchange *x)
{
	int n, me;

	mpi_clusters_between(s, 0);
	n = s->size;
	me = s->rank;
	for (int i = 1; i < n; i++) {
		int to = (me + i) % n, from = (me - i + n) % n;

		mpi_sched_recv(s, exchange_part(s, x, x->in, from), from);
		mpi_sched_send(s, exchange_part(s, x, x->out, to), to);
	}
	mpi_sched_copy(s, exchange_part(s, x, x->in, me), exchange_part(s, x, x->out, me));
	mpi_sched_round(s);
}

/* From each cluster came a row for each rank of this one, with a place for each rank of that. */
static void
exchange_sort(struct sched *s, const struct exchange *x)
{
	const struct locality *v = s->c->locality;

	for (int from = 0; from < v->clusters; from++) {
		const char *rows = span_first(exchange_part(s, x, x->in, from));
		int n = mpi_clusters_ranks(s, from);

		for (int i = 0; i < x->ranks; i++)
			mpi_sched_rows(s, &(struct rows){.to = x->out + (size_t)i * x->vector,
				.from = rows + (size_t)(i * n) * x->block,
				.bytes = x->block, .count = n, .to_step = x->block,
					.to_at = x->order + v->first[from], .from_step = x->block});
	}
	mpi_sched_round(s);
}

static void
exchange_write_first(struct sched *s, const struct exchange *x, const struct work *w)
{
	int n = s->c->size;

	alltoall_clusters_collect(s, x, mpi_clusters_whole(w->give, n, x->block));
	exchange_swap(s, x);
	exchange_sort(s, x);
	mpi_clusters_inside(s);
	for (int i = 1; i < s->size; i++)
		mpi_sched_send(s, span_bytes(x->out + (size_t)i * x->vector, x->vector), i);
	mpi_sched_copy(s, side_whole(w->get, n), span_bytes(x->out, x->vector));
}

static void
alltoall_clusters_write(struct sched *s, const struct work *w)
{
	struct exchange x = {.block = span_size(side_block(w->get, 0)),
		.ranks = s->c->locality->ranks};
	int n = s->size;

	x.vector = (size_t)n * x.block;
	mpi_clusters_inside(s);
	if (s->rank == 0) {
		x.in = mpi_sched_scratch(s, (size_t)s->size * x.vector);
		x.out = mpi_sched_scratch(s, (size_t)s->size * x.vector);
		x.order = mpi_clusters_order(s);
		if (x.in != NULL && x.out != NULL && x.order != NULL)
			exchange_write_first(s, &x, w);
	} else {
		mpi_sched_send(s, mpi_clusters_whole(w->give, n, x.block), 0);
		mpi_sched_round(s);
		mpi_sched_recv(s, side_whole(w->get, n), 0);
	}
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_alltoall_clusters = {.fits = alltoall_clusters_fits,
	.write = alltoall_clusters_write};
