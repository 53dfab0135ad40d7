/* SPDX-License-Identifier: MIT
 *
 * One to all and all to one by messages: broadcast, scatter and gather. Scatter and gather are the
 * same in the two directions: down the tree from the root, and up to it.
 */
#include <mpi/coll/algorithm.h>

/*
 * A binomial tree as one position sees it: positions count from the root. Each has a part of `all`
 * for itself, which begins at the part of position `base`; without a size of parts all have it
 * whole.
 */
struct tree {
	int n;
	int me;
	int root;
	int bit;			/* distance of the parent; of the root: n or more */
	struct span all;
	MPI_Count part;
	int base;
};

static struct tree
tree_of(const struct sched *s, int root, struct span all)
{
	struct tree t = {.n = s->size, .me = (s->rank - root + s->size) % s->size, .root = root,
		.bit = 1, .all = all};

	while (t.bit < t.n && !(t.me & t.bit))
		t.bit *= 2;
	return t;
}

/* The parts of a position and of those below it, which are up to `most` in all. */
static struct span
tree_parts(const struct tree *t, int first, int most)
{
	MPI_Count total = t->all.count, n = first + most < t->n ? most : t->n - first,
		begin = (first - t->base) * t->part, end = begin + n * t->part;

	if (t->part == 0)
		return t->all;
	begin = begin < total ? begin : total;
	return span_slice(t->all, begin, (end < total ? end : total) - begin);
}

static void
with_parent(struct sched *s, const struct tree *t, bool sends)
{
	if (t->me != 0)
		mpi_sched_move(s, sends, tree_parts(t, t->me, t->bit),
			(t->me - t->bit + t->root) % t->n);
	mpi_sched_round(s);
}

/* The farthest first. */
static void
with_children(struct sched *s, const struct tree *t, bool sends)
{
	for (int bit = t->bit / 2; bit > 0; bit /= 2)
		if (t->me + bit < t->n)
			mpi_sched_move(s, sends, tree_parts(t, t->me + bit, bit),
				(t->me + bit + t->root) % t->n);
}

/* From the root to all. */
static void
tree_down(struct sched *s, const struct tree *t)
{
	with_parent(s, t, false);
	with_children(s, t, true);
}

/* --- broadcast, binomial tree ---
 *
 * Who has the data passes it on, to the farthest first.
 *
 * Cost: ceil(log2 n) (a + m b).
 */

static void
bcast_binomial(struct sched *s, const struct work *w)
{
	struct tree t = tree_of(s, w->root, w->out);

	tree_down(s, &t);
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_bcast_binomial = {.write = bcast_binomial};

/* --- broadcast, scatter, then a ring ---
 *
 * Broadcast of much data: the root deals it out in n parts along a binomial tree, and the parts
 * travel around a ring, as bytes: data that is not in one piece is packed first (which is one
 * rank's affair: types may differ between ranks).
 *
 * Cost: (ceil(log2 n) + n - 1) a + 2 m b, and a copy of data in several pieces.
 */

static void
bcast_scatter_ring(struct sched *s, const struct work *w)
{
	bool plain = span_is_plain(w->out);
	size_t bytes = span_size(w->out);
	struct tree t = tree_of(s, w->root, span_bytes(plain ? span_first(w->out)
		: mpi_sched_scratch(s, bytes), bytes));

	t.part = (t.all.count + t.n - 1) / t.n;
	if (!plain && t.me == 0)
		mpi_sched_copy(s, t.all, w->out);
	mpi_sched_round(s);
	tree_down(s, &t);
	mpi_sched_round(s);
	for (int i = 0; i < t.n - 1; i++) {
		mpi_sched_recv(s, tree_parts(&t, (t.me - i - 1 + t.n) % t.n, 1),
			(s->rank - 1 + t.n) % t.n);
		mpi_sched_send(s, tree_parts(&t, (t.me - i + t.n) % t.n, 1), (s->rank + 1) % t.n);
		mpi_sched_round(s);
	}
	if (!plain && t.me != 0)
		mpi_sched_copy(s, w->out, t.all);
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_bcast_scatter_ring = {.write = bcast_scatter_ring};

/* --- scatter and gather, linear ---
 *
 * The root sends to all at once, or receives from all. Any blocks.
 *
 * Cost: (n - 1) (a + m b) at the root; a + m b elsewhere.
 */

/* The own block at the root, from one side to the other. */
static void
keep_own(struct sched *s, const struct rooted *r)
{
	if (!r->one->in_place)
		mpi_sched_copy_way(s, r->up, side_block(r->all, s->rank), side_block(r->one, 0));
}

static void
linear(struct sched *s, const struct work *w)
{
	struct rooted r = rooted_of(w->k);

	if (s->rank != w->root)
		mpi_sched_move(s, r.up, side_block(r.one, 0), w->root);
	for (int i = 1; s->rank == w->root && i < s->size; i++) {
		int peer = (s->rank + i) % s->size;

		mpi_sched_move(s, !r.up, side_block(r.all, peer), peer);
	}
	if (s->rank == w->root)
		keep_own(s, &r);
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_scatter_linear = {.write = linear};
const struct algorithm mpi_algorithm_gather_linear = {.write = linear};

/* --- scatter and gather, binomial tree ---
 *
 * Equal blocks travel along a binomial tree, as bytes: each position has those of the positions
 * below it as well, and hands them on.
 *
 * Cost: ceil(log2 n) a + (n - 1) m b.
 */

/* Between the own side and the bytes: the own block; at the root all others, by position. */
static void
wrap(struct sched *s, const struct rooted *r, const struct tree *t)
{
	struct span own = span_slice(t->all, 0, t->part);

	if (t->me != 0) {
		mpi_sched_copy_way(s, !r->up, side_block(r->one, 0), own);
		return;
	}
	for (int i = 1; i < t->n; i++)
		mpi_sched_copy_way(s, r->up, side_block(r->all, (i + s->rank) % t->n),
			span_slice(t->all, i * t->part, t->part));
}

static void
binomial(struct sched *s, const struct work *w)
{
	struct rooted r = rooted_of(w->k);
	bool root = s->rank == w->root;
	struct span mine = root ? side_block(r.all, s->rank) : side_block(r.one, 0);
	struct tree t = tree_of(s, w->root, mine);
	bool leaf = t.bit == 1 || t.me + 1 >= t.n, inner = !root && !leaf;

	if (root)
		keep_own(s, &r);
	if (root || inner) {
		t.part = (MPI_Count)span_size(mine);
		t.base = t.me;
		t.all.count = t.part * (t.bit < t.n - t.me ? t.bit : t.n - t.me);
		t.all = span_bytes(mpi_sched_scratch(s, (size_t)t.all.count), (size_t)t.all.count);
	}
	if (r.up ? inner : root)
		wrap(s, &r, &t);
	mpi_sched_round(s);
	if (r.up) {
		with_children(s, &t, false);
		if (root)
			wrap(s, &r, &t);
		mpi_sched_round(s);
		with_parent(s, &t, true);
	} else {
		tree_down(s, &t);
		if (inner)
			wrap(s, &r, &t);
	}
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_scatter_binomial =
	{.fits = mpi_work_is_even, .write = binomial};
const struct algorithm mpi_algorithm_gather_binomial =
	{.fits = mpi_work_is_even, .write = binomial};
