/* SPDX-License-Identifier: MIT
 *
 * Reduction to all by messages; Rabenseifner's algorithm is in halving.c.
 */
#include <mpi/coll/algorithm.h>

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

/* `position` counts the ranks that take part: the odd ones of the folded pairs and all others. */
static int
partner_of(int position, int distance, int folded)
{
	int other = position ^ distance;

	return other < folded ? 2 * other + 1 : other + folded;
}

/*
 * The places are chosen so that the sum ends in `out` without another copy: with each partner of a
 * higher rank it goes to the other place. Whose first partner has a higher rank only reads its own
 * operand where that is.
 */
static struct places
allreduce_doubling_begin(struct sched *s, struct span out, struct span in, int position, int folded)
{
	struct span room = mpi_sched_room(s, out.count, out.type);
	bool reads_only = s->rank >= 2 * folded && position % 2 == 0 && s->size > 1, odd = false;
	struct span first, second;

	for (int distance = 1; distance < s->size - folded; distance *= 2)
		odd ^= (position & distance) == 0;
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
	int count = 1, folded, position;
	struct places p;

	while (count * 2 <= s->size)
		count *= 2;
	folded = s->size - count;
	if (s->rank < 2 * folded && s->rank % 2 == 0) {
		stand_aside(s, out, in);
		return;
	}
	position = s->rank < 2 * folded ? s->rank / 2 : s->rank - folded;
	p = allreduce_doubling_begin(s, out, in, position, folded);
	if (s->rank < 2 * folded) {
		mpi_sched_recv(s, p.theirs, s->rank - 1);
		allreduce_doubling_combine(s, &p, s->rank - 1);
	}
	for (int distance = 1; distance < count; distance *= 2) {
		int partner = partner_of(position, distance, folded);

		mpi_sched_recv(s, p.theirs, partner);
		mpi_sched_send(s, p.sum, partner);
		allreduce_doubling_combine(s, &p, partner);
	}
	if (s->rank < 2 * folded)
		mpi_sched_send(s, p.sum, s->rank - 1);
	mpi_sched_copy(s, out, p.sum);
	mpi_sched_round(s);
}

const struct algorithm mpi_algorithm_allreduce_doubling = {.write = allreduce_doubling};

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
