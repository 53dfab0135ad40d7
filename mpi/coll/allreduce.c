/* SPDX-License-Identifier: MIT
 *
 * Reductions in which pairs of ranks work, at distances that double or halve, to all and to a root;
 * and around a ring.
 */
#include <mpi/coll/algorithm.h>

/*
 * Positions: a power of two of them. If the ranks are more, the first ones fold in pairs before, in
 * which the odd one stands for both, and unfold after.
 */
struct positions {
	int count;			/* the largest power of two within the ranks */
	int folded;			/* pairs */
	int own;			/* or -1: the partner stands for this rank */
};

static struct positions
positions_of(const struct sched *s)
{
	struct positions p = {.count = 1};

	while (p.count * 2 <= s->size)
		p.count *= 2;
	p.folded = s->size - p.count;
	p.own = s->rank >= 2 * p.folded ? s->rank - p.folded : s->rank % 2 != 0 ? s->rank / 2 : -1;
	return p;
}

static int
rank_at(const struct positions *p, int position)
{
	return position < p->folded ? 2 * position + 1 : position + p->folded;
}

/* --- recursive doubling ---
 *
 * Reduction to all: pairs of ranks exchange and combine, at distances 1, 2, 4 ... If n is no power
 * of two, the first ranks fold in pairs before and unfold after. Operands stay in the order of the
 * ranks, so that both of a pair come to the same bits.
 *
 * Cost: ceil(log2 n) (a + m b + m g), and 2 (a + m b) + m g more if n is no power of two.
 */

/*
 * What is combined so far, where the partner's operand arrives, and where the next one's does if
 * the sum is there then.
 */
struct places {
	struct span sum;
	struct span theirs;
	struct span spare;
};

static void
allreduce_doubling_combine(struct sched *s, struct places *p, int partner)
{
	if (partner < s->rank) {
		mpi_sched_reduce(s, p->theirs, p->sum);
	} else {
		mpi_sched_reduce(s, p->sum, p->theirs);
		*p = (struct places){.sum = p->theirs, .theirs = p->spare, .spare = p->theirs};
	}
	mpi_sched_round(s);
}

/*
 * The places are chosen so that the sum ends in `out` without another copy: with each partner of a
 * higher rank it goes to the other place. Whose first partner has a higher rank only reads its own
 * operand where that is.
 */
static struct places
allreduce_doubling_begin(struct sched *s, struct span out, struct span in,
	const struct positions *at)
{
	struct span room = mpi_sched_room(s, out.count, out.type);
	bool reads_only = s->rank >= 2 * at->folded && at->own % 2 == 0 && s->size > 1, odd = false;
	struct span first, second;

	for (int distance = 1; distance < at->count; distance *= 2)
		odd ^= (at->own & distance) == 0;
	if (in.at == out.at)
		return (struct places){.sum = out, .theirs = room, .spare = out};
	first = odd ? room : out;
	second = odd ? out : room;
	if (reads_only)
		return (struct places){.sum = in, .theirs = second, .spare = first};
	mpi_sched_copy(s, first, in);
	mpi_sched_round(s);
	return (struct places){.sum = first, .theirs = second, .spare = first};
}

/* Even ranks of the folding pairs give their operand to the odd one, and get the result. */
static void
stand_aside(struct sched *s, struct span out, struct span in)
{
	mpi_sched_send(s, in, s->rank + 1);
	mpi_sched_round(s);
	mpi_sched_recv(s, out, s->rank + 1);
	mpi_sched_round(s);
}

static void
allreduce_doubling(struct sched *s, const struct work *w)
{
	struct span out = w->out, in = w->in;
	struct positions at = positions_of(s);
	struct places p;

	if (at.own < 0) {
		stand_aside(s, out, in);
		return;
	}
	p = allreduce_doubling_begin(s, out, in, &at);
	if (s->rank < 2 * at.folded) {
		mpi_sched_recv(s, p.theirs, s->rank - 1);
		allreduce_doubling_combine(s, &p, s->rank - 1);
	}
	for (int distance = 1; distance < at.count; distance *= 2) {
		int partner = rank_at(&at, at.own ^ distance);

		mpi_sched_recv(s, p.theirs, partner);
		mpi_sched_send(s, p.sum, partner);
		allreduce_doubling_combine(s, &p, partner);
	}
	if (s->rank < 2 * at.folded)
		mpi_sched_send(s, p.sum, s->rank - 1);
	mpi_sched_copy(s, out, p.sum);
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_allreduce_doubling = {.write = allreduce_doubling};

/* --- recursive halving ---
 *
 * The operands of a power of two of positions are cut in as many blocks; after it, position i holds
 * the result of block i. For operations that commute.
 *
 * It takes log2 n a + (n - 1) / n (m b + m g), and a + m b + m g more if n is no power of two.
 */

struct halves {
	struct span sum;		/* what is combined; all blocks */
	struct positions at;
};

/* Blocks first .. first + n - 1 of the whole. */
static struct span
halves_blocks(const struct halves *h, int first, int n)
{
	MPI_Count total = h->sum.count, block = (total + h->at.count - 1) / h->at.count;
	MPI_Count begin = first * block, end = (first + n) * block;

	if (begin > total)
		begin = total;
	if (end > total)
		end = total;
	return span_slice(h->sum, begin, end - begin);
}

static void
fold(struct sched *s, struct halves *h, struct span theirs)
{
	if (s->rank >= 2 * h->at.folded)
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

	for (int half = h->at.count / 2; half > 0; half /= 2) {
		bool upper = h->at.own & half;
		int partner = rank_at(&h->at, h->at.own ^ half),
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
	struct halves h = {.sum = sum, .at = positions_of(s)};
	struct span theirs = {0};

	if (h.at.own >= 0)
		theirs = mpi_sched_room(s, sum.count, sum.type);
	fold(s, &h, theirs);
	if (h.at.own >= 0)
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
	for (int i = 0; i < h->at.count; i++) {
		struct span block = halves_blocks(h, i, 1);
		MPI_Count first = (MPI_Count)((char *)block.at - (char *)h->sum.at) /
			(MPI_Count)block.type->extent;
		struct span place = span_slice(out, first, block.count);

		if (block.count == 0)
			continue;
		if (i == h->at.own)
			mpi_sched_copy(s, place, block);
		else
			mpi_sched_recv(s, place, rank_at(&h->at, i));
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
	else if (h.at.own >= 0 && halves_blocks(&h, h.at.own, 1).count > 0)
		mpi_sched_send(s, halves_blocks(&h, h.at.own, 1), root);
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
	int first = h->at.own;

	for (int n = 1; n < h->at.count; n *= 2) {
		int partner = rank_at(&h->at, h->at.own ^ n), theirs = first ^ n;

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
	if (h.at.own >= 0)
		allreduce_halving_collect(s, &h);
	if (s->rank >= 2 * h.at.folded)
		return;
	if (h.at.own >= 0)
		mpi_sched_send(s, out, s->rank - 1);
	else
		mpi_sched_recv(s, out, s->rank + 1);
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_allreduce_halving = {.fits = mpi_work_may_be_cut,
	.write = allreduce_halving};

/* --- ring ---
 *
 * Reduction of much data to all around a ring: n - 1 steps in which each rank adds its own to a
 * block and passes it on, then n - 1 in which the finished blocks travel on. For predefined
 * operations.
 *
 * Cost: 2 (n - 1) (a + m / n b) + (n - 1) / n m g.
 */

static struct span
block_of(const struct sched *s, struct span all, int i)
{
	MPI_Count n = s->size, block = (all.count + n - 1) / n, begin, end;

	i = (i % s->size + s->size) % s->size;
	begin = i * block < all.count ? i * block : all.count;
	end = begin + block < all.count ? begin + block : all.count;
	return span_slice(all, begin, end - begin);
}

static void
allreduce_ring(struct sched *s, const struct work *w)
{
	struct span out = w->out;
	int n = s->size, next = (s->rank + 1) % n, previous = (s->rank - 1 + n) % n;
	struct span theirs = mpi_sched_room(s, (out.count + n - 1) / n, out.type);

	mpi_sched_copy(s, out, w->in);
	mpi_sched_round(s);
	for (int i = 0; i < n - 1; i++) {
		struct span mine = block_of(s, out, s->rank - i - 1),
			got = span_slice(theirs, 0, mine.count);

		mpi_sched_recv(s, got, previous);
		mpi_sched_send(s, block_of(s, out, s->rank - i), next);
		mpi_sched_reduce(s, got, mine);
		mpi_sched_round(s);
	}
	for (int i = 0; i < n - 1; i++) {
		mpi_sched_recv(s, block_of(s, out, s->rank - i), previous);
		mpi_sched_send(s, block_of(s, out, s->rank + 1 - i), next);
		mpi_sched_round(s);
	}
}

const struct algorithm mpi_algorithm_allreduce_ring =
	{.fits = mpi_work_may_be_cut, .write = allreduce_ring};
