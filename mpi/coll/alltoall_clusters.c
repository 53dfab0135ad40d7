/* SPDX-License-Identifier: MIT
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
#include <mpi/coll/clusters.h>

/* What the first rank of a cluster works with. */
struct exchange {
	char *in;
	char *out;
	size_t block;
	size_t vector;			/* bytes of all blocks of a rank */
	int ranks;			/* of the cluster */
};

static bool
alltoall_clusters_fits(const struct sched *s, const struct work *w)
{
	return w->even && mpi_clusters_fit(s) &&
		mpi_clusters_have_room(s, 2 * (size_t)s->size *
		mpi_span_size(mpi_side_block(w->get, 0)));
}

static void
alltoall_clusters_collect(struct sched *s, const struct exchange *x, struct span mine)
{
	const struct venue *v = s->c->venue;

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
				.from_step = x->block, .from_at = v->order});
	mpi_sched_round(s);
}

/* The rows that belong to a cluster follow one another; what comes from it has as many bytes. */
static struct span
part(const struct sched *s, const struct exchange *x, char *memory, int cluster)
{
	size_t unit = (size_t)x->ranks * x->block;

	return span_bytes(memory + (size_t)s->c->venue->first[cluster] * unit,
		(size_t)mpi_clusters_ranks(s, cluster) * unit);
}

static void
swap(struct sched *s, const struct exchange *x)
{
	int n, me;

	mpi_clusters_between(s);
	n = s->size;
	me = s->rank;
	for (int i = 1; i < n; i++) {
		int to = (me + i) % n, from = (me - i + n) % n;

		mpi_sched_recv(s, part(s, x, x->in, from), from);
		mpi_sched_send(s, part(s, x, x->out, to), to);
	}
	mpi_sched_copy(s, part(s, x, x->in, me), part(s, x, x->out, me));
	mpi_sched_round(s);
}

/* From each cluster came a row for each rank of this one, with a place for each rank of that. */
static void
sort(struct sched *s, const struct exchange *x)
{
	const struct venue *v = s->c->venue;

	for (int from = 0; from < v->clusters; from++) {
		const char *rows = mpi_span_first(part(s, x, x->in, from));
		int n = mpi_clusters_ranks(s, from);

		for (int i = 0; i < x->ranks; i++)
			mpi_sched_rows(s, &(struct rows){.to = x->out + (size_t)i * x->vector,
				.from = rows + (size_t)(i * n) * x->block,
				.bytes = x->block, .count = n, .to_step = x->block,
					.to_at = v->order + v->first[from], .from_step = x->block});
	}
	mpi_sched_round(s);
}

static void
write_first(struct sched *s, const struct exchange *x, const struct work *w)
{
	int n = s->c->size;

	alltoall_clusters_collect(s, x, mpi_clusters_whole(w->give, n, x->block));
	swap(s, x);
	sort(s, x);
	mpi_clusters_inside(s);
	for (int i = 1; i < s->size; i++)
		mpi_sched_send(s, span_bytes(x->out + (size_t)i * x->vector, x->vector), i);
	mpi_sched_copy(s, mpi_side_whole(w->get, n), span_bytes(x->out, x->vector));
}

static void
alltoall_clusters_write(struct sched *s, const struct work *w)
{
	struct exchange x = {.block = mpi_span_size(mpi_side_block(w->get, 0)), .ranks = s->c->venue->ranks};
	int n = s->size;

	x.vector = (size_t)n * x.block;
	mpi_clusters_inside(s);
	if (s->rank == 0) {
		x.in = mpi_sched_scratch(s, (size_t)s->size * x.vector);
		x.out = mpi_sched_scratch(s, (size_t)s->size * x.vector);
		if (x.in != NULL && x.out != NULL)
			write_first(s, &x, w);
	} else {
		mpi_sched_send(s, mpi_clusters_whole(w->give, n, x.block), 0);
		mpi_sched_round(s);
		mpi_sched_recv(s, mpi_side_whole(w->get, n), 0);
	}
	mpi_sched_round(s);
	mpi_sched_all(s);
}

const struct algorithm mpi_algorithm_alltoall_clusters = {.fits = alltoall_clusters_fits,
	.write = alltoall_clusters_write};
