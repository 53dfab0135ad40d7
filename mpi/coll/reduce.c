/* SPDX-License-Identifier: MIT
 *
 * Reductions by messages to one rank, to each a block, and of the ranks up to each.
 */
#include <mpi/coll/algorithm.h>

/* --- to a root, binomial tree ---
 *
 * Operands are combined in the order of the ranks if the operation does not commute: the tree then
 * stands on rank 0, which passes the result on to the root.
 *
 * Cost: ceil(log2 n) (a + m b + m g).
 */

/* What is combined so far, and two places that take turns for what arrives. */
struct places {
	struct span sum;
	struct span next;
	struct span other;
};

/* Take in the subtrees. `me` is the position in the tree, `base` the rank at its foot. */
static void
climb(struct sched *s, struct places *p, int me, int base)
{
	for (int bit = 1; bit < s->size && !(me & bit); bit *= 2) {
		struct span sum = p->next;

		if (me + bit >= s->size)
			continue;
		mpi_sched_recv(s, p->next, (me + bit + base) % s->size);
		/* own operands come before those of higher ranks */
		mpi_sched_reduce(s, p->sum, p->next);
		mpi_sched_round(s);
		p->next = p->other;
		p->other = sum;
		p->sum = sum;
	}
}

static int
parent(int me)
{
	return me & (me - 1);
}

static void
reduce_binomial(struct sched *s, const struct work *w)
{
	struct span out = w->out, in = w->in;
	int root = w->root;
	int base = mpi_operation_commutes(&s->op) ? root : 0,
		me = (s->rank - base + s->size) % s->size;
	bool leaf = me % 2 != 0 || me + 1 >= s->size;
	struct places p = {.sum = in};

	if (!leaf) {
		p.next = s->rank == root && base == root && out.at != in.at ? out
			: mpi_sched_room(s, in.count, in.type);
		p.other = mpi_sched_room(s, in.count, in.type);
		climb(s, &p, me, base);
	}
	if (me != 0)
		mpi_sched_send(s, p.sum, (parent(me) + base) % s->size);
	else if (base != root)
		mpi_sched_send(s, p.sum, root);
	else
		mpi_sched_copy(s, out, p.sum);
	if (s->rank == root && base != root)
		mpi_sched_recv(s, out, base);
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_reduce_binomial = {.write = reduce_binomial};

/* --- reduce-scatter, pairwise exchange ---
 *
 * In step i each rank gives the i-th after it that one's block, and combines what
 * it gets. For operations that commute.
 *
 * Cost: (n - 1) (a + m b + m g), m being a block.
 */

static void
reduce_scatter_pairwise(struct sched *s, const struct work *w)
{
	struct span out = w->out, in = w->in;
	const MPI_Count *counts = w->counts;
	int n = s->size;
	MPI_Count *first = mpi_sched_scratch(s, (size_t)n * sizeof(*first));
	struct span sum = mpi_sched_room(s, out.count, in.type),
		theirs = mpi_sched_room(s, out.count, in.type);

	if (first == NULL)
		return;
	for (int i = 0; i < n; i++)
		first[i] = i > 0 ? first[i - 1] + counts[i - 1] : 0;
	mpi_sched_copy(s, sum, span_slice(in, first[s->rank], out.count));
	for (int i = 1; i < n; i++) {
		int to = (s->rank + i) % n;

		mpi_sched_recv(s, theirs, (s->rank - i + n) % n);
		mpi_sched_send(s, span_slice(in, first[to], counts[to]), to);
		mpi_sched_reduce(s, theirs, sum);
		mpi_sched_round(s);
	}
	mpi_sched_copy(s, out, sum);
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_reduce_scatter_pairwise =
	{.fits = mpi_work_commutes, .write = reduce_scatter_pairwise};

/* --- reduce-scatter at one rank ---
 *
 * Rank 0 gets the whole result and deals it out. Any operation.
 *
 * Cost: ceil(log2 n) (a + n m b + n m g) + (n - 1) (a + m b), m being a block.
 */

static void
reduce_scatter_at_root(struct sched *s, const struct work *w)
{
	struct span in = w->in, sum = s->rank == 0 ? mpi_sched_room(s, in.count, in.type) : in;

	reduce_binomial(s, &(struct work){.out = sum, .in = in});
	mpi_sched_deal(s, w->out, sum, w->counts);
}

const struct algorithm mpi_algorithm_reduce_scatter_at_root =
	{.write = reduce_scatter_at_root};

/* --- scans ---
 *
 * In step k each rank hands what it has combined of itself and the ranks just below to the one 2^k
 * above. Operands stay in the order of the ranks.
 *
 * Cost: ceil(log2 n) (a + m b + 2 m g).
 */

/* What leaves is not changed on its way: a round combines when its messages are done. */
static void
scan_doubling(struct sched *s, const struct work *w)
{
	struct span out = w->out;
	struct span theirs = mpi_sched_room(s, out.count, out.type);

	for (int distance = 1; distance < s->size; distance *= 2) {
		if (s->rank >= distance) {
			mpi_sched_recv(s, theirs, s->rank - distance);
			mpi_sched_reduce(s, theirs, out);
		}
		if (s->rank + distance < s->size)
			mpi_sched_send(s, out, s->rank + distance);
		mpi_sched_round(s);
	}
}

/* The scan of all, and then each rank's result goes one further. */
static void
exscan_doubling(struct sched *s, const struct work *w)
{
	struct span out = w->out, sum = mpi_sched_room(s, w->in.count, w->in.type);

	mpi_sched_copy(s, sum, w->in);
	mpi_sched_round(s);
	scan_doubling(s, &(struct work){.out = sum});
	if (s->rank > 0)
		mpi_sched_recv(s, out, s->rank - 1);
	if (s->rank + 1 < s->size)
		mpi_sched_send(s, sum, s->rank + 1);
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_scan_doubling = {.write = scan_doubling};
const struct algorithm mpi_algorithm_exscan_doubling = {.write = exscan_doubling};
