/* SPDX-License-Identifier: MIT
 *
 * Recursive halving.
 *
 * Cost: log2 n a + (n - 1) / n (m b + m g), and a + m b + m g more if n is no power of two.
 */
#include <mpi/coll/halves.h>

struct span
mpi_halves_blocks(const struct halves *h, int first, int n)
{
	MPI_Count total = h->sum.count, block = (total + h->count - 1) / h->count;
	MPI_Count begin = first * block, end = (first + n) * block;

	if (begin > total)
		begin = total;
	if (end > total)
		end = total;
	return span_slice(h->sum, begin, end - begin);
}

int
mpi_halves_rank(const struct halves *h, int position)
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
		int partner = mpi_halves_rank(h, h->position ^ half), give = upper ? first : first + half;
		struct span mine, got;

		first = upper ? first + half : first;
		mine = mpi_halves_blocks(h, first, half);
		got = span_slice(theirs, 0, mine.count);
		mpi_sched_recv(s, got, partner);
		mpi_sched_send(s, mpi_halves_blocks(h, give, half), partner);
		mpi_sched_reduce(s, got, mine);
		mpi_sched_round(s);
	}
}

struct halves
mpi_halves_write(struct sched *s, struct span sum)
{
	struct halves h = {.sum = sum, .count = 1};
	struct span theirs = {0};

	while (h.count * 2 <= s->size)
		h.count *= 2;
	h.folded = s->size - h.count;
	h.position = s->rank >= 2 * h.folded ? s->rank - h.folded : s->rank % 2 != 0 ? s->rank / 2 : -1;
	if (h.position >= 0)
		theirs = mpi_sched_room(s, sum.count, sum.type);
	fold(s, &h, theirs);
	if (h.position >= 0)
		halve(s, &h, theirs);
	return h;
}
