/* SPDX-License-Identifier: MIT
 *
 * Recursive halving (Rabenseifner): reductions of much data, to a root and to all.
 */
#include <mpi/coll/algorithm.h>

/* --- recursive halving ---
 *
 * The operands of a power of two of positions are cut in as many blocks; after it, position i holds
 * the result of block i. For operations that commute.
 *
 * It takes log2 n a + (n - 1) / n (m b + m g), and a + m b + m g more if n is no power of two.
 */

struct halves {
	struct span sum;		/* what is combined; all blocks */
	int count;			/* positions: the largest power of two within the ranks */
	/* pairs of the first ranks in which the odd one stands for both */
	int folded;
	int position;			/* own, or -1: the partner stands for this rank */
};

/* Blocks first .. first + n - 1 of the whole. */
static struct span
halves_blocks(const struct halves *h, int first, int n)
{
	MPI_Count total = h->sum.count, block = (total + h->count - 1) / h->count;
	MPI_Count begin = first * block, end = (first + n) * block;

	if (begin > total)
		begin = total;
	if (end > total)
		end = total;
	return span_slice(h->sum, begin, end - begin);
}

/* The rank at a position. */
static int
halves_rank(const struct halves *h, int position)
{
	return position < h->folded ? 2 * position + 1 : position + h->folded;
}

static void
fold(struct sched *s, struct halves *h, struct span theirs)
{
	if (s->rank >= 2 * h->folded)
		return;
	if (s->rank % 2 == 0) {
		mpi_sched_send(s, h->sum, s->rank + 1);
	} else {
		mpi_sched_recv(s, theirs, s->rank - 1);
		mpi_sched_reduce(s, theirs, h->sum);
	}
	mpi_sched_round(s);
}

/* In each step the half of the blocks that the partner is responsible for goes to it. */
static void
halve(struct sched *s, const struct halves *h, struct span theirs)
{
	int first = 0;

	for (int half = h->count / 2; half > 0; half /= 2) {
		bool upper = h->position & half;
		int partner = halves_rank(h, h->position ^ half),
			give = upper ? first : first + half;
		struct span mine, got;

		first = upper ? first + half : first;
		mine = halves_blocks(h, first, half);
		got = span_slice(theirs, 0, mine.count);
		mpi_sched_recv(s, got, partner);
		mpi_sched_send(s, halves_blocks(h, give, half), partner);
		mpi_sched_reduce(s, got, mine);
		mpi_sched_round(s);
	}
}

/* Write the folding and the halving for the operand in `sum`, which is overwritten. */
static struct halves
halves_write(struct sched *s, struct span sum)
{
	struct halves h = {.sum = sum, .count = 1};
	struct span theirs = {0};

	while (h.count * 2 <= s->size)
		h.count *= 2;
	h.folded = s->size - h.count;
	h.position = s->rank >= 2 * h.folded ? s->rank - h.folded : s->rank % 2 != 0 ? s->rank / 2 :
		-1;
	if (h.position >= 0)
		theirs = mpi_sched_room(s, sum.count, sum.type);
	fold(s, &h, theirs);
	if (h.position >= 0)
		halve(s, &h, theirs);
	return h;
}

/* --- reduction to a root ---
 *
 * Reduction of much data to a root (Rabenseifner): recursive halving leaves each position with a
 * block of the result, and the root collects the blocks. For predefined operations.
 *
 * Cost: (log2 n + n) a + 2 m b + m g, and a + m b + m g more if n is no power of two.
 */

static void
reduce_halving_collect(struct sched *s, const struct halves *h, struct span out)
{
	for (int i = 0; i < h->count; i++) {
		struct span block = halves_blocks(h, i, 1);
		MPI_Count first = (MPI_Count)((char *)block.at - (char *)h->sum.at) /
			(MPI_Count)block.type->extent;
		struct span place = span_slice(out, first, block.count);

		if (block.count == 0)
			continue;
		if (i == h->position)
			mpi_sched_copy(s, place, block);
		else
			mpi_sched_recv(s, place, halves_rank(h, i));
	}
}

static void
reduce_halving(struct sched *s, const struct work *w)
{
	struct span out = w->out, in = w->in;
	int root = w->root;
	struct span sum = s->rank == root ? out : mpi_sched_room(s, in.count, in.type);
	struct halves h;

	mpi_sched_copy(s, sum, in);
	mpi_sched_round(s);
	h = halves_write(s, sum);
	if (s->rank == root)
		reduce_halving_collect(s, &h, out);
	else if (h.position >= 0 && halves_blocks(&h, h.position, 1).count > 0)
		mpi_sched_send(s, halves_blocks(&h, h.position, 1), root);
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_reduce_halving =
	{.fits = mpi_work_may_be_cut, .write = reduce_halving};

/* --- reduction to all ---
 *
 * Reduction of much data to all (Rabenseifner): recursive halving leaves each position with a block
 * of the result, recursive doubling brings the blocks to all. For predefined operations.
 *
 * Cost: 2 log2 n a + 2 (n - 1) / n m b + (n - 1) / n m g, and 2 (a + m b) + m g more if n is no
 * power of two.
 */

static void
allreduce_halving_collect(struct sched *s, const struct halves *h)
{
	int first = h->position;

	for (int n = 1; n < h->count; n *= 2) {
		int partner = halves_rank(h, h->position ^ n), theirs = first ^ n;

		mpi_sched_recv(s, halves_blocks(h, theirs, n), partner);
		mpi_sched_send(s, halves_blocks(h, first, n), partner);
		mpi_sched_round(s);
		first &= ~n;
	}
}

static void
allreduce_halving(struct sched *s, const struct work *w)
{
	struct span out = w->out;
	struct halves h;

	mpi_sched_copy(s, out, w->in);
	mpi_sched_round(s);
	h = halves_write(s, out);
	if (h.position >= 0)
		allreduce_halving_collect(s, &h);
	if (s->rank >= 2 * h.folded)
		return;
	if (h.position >= 0)
		mpi_sched_send(s, out, s->rank - 1);
	else
		mpi_sched_recv(s, out, s->rank + 1);
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_allreduce_halving = {.fits = mpi_work_may_be_cut,
	.write = allreduce_halving};
