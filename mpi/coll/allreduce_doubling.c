/* SPDX-License-Identifier: MIT
 *
 * Reduction to all: pairs of ranks exchange and combine, at distances 1, 2, 4 ... If n is no power of two, the first ranks fold in pairs
 * before and unfold after. Operands stay in the order of the ranks.
 *
 * Cost: ceil(log2 n) (a + m b + m g), and 2 (a + m b) + m g more if n is no power of two.
 */
#include <mpi/coll/algorithm.h>

/* What is combined so far, and where the partner's operand arrives. */
struct places {
	struct span sum;
	struct span theirs;
};

static void
combine(struct sched *s, struct places *p, int partner)
{
	struct span sum = p->sum;

	if (partner < s->rank || mpi_operation_commutes(&s->op)) {
		mpi_sched_reduce(s, p->theirs, p->sum);
	} else {
		mpi_sched_reduce(s, p->sum, p->theirs);
		p->sum = p->theirs;
		p->theirs = sum;
	}
	mpi_sched_round(s);
}

/* `position` counts the ranks that take part: the odd ones of the folded pairs and all others. */
static void
double_up(struct sched *s, struct places *p, int position, int folded)
{
	for (int distance = 1; distance < s->size - folded; distance *= 2) {
		int other = position ^ distance;
		int partner = other < folded ? 2 * other + 1 : other + folded;

		mpi_sched_recv(s, p->theirs, partner);
		mpi_sched_send(s, p->sum, partner);
		combine(s, p, partner);
	}
}

/* Even ranks of the folding pairs give their operand to the odd one, and get the result. */
static void
stand_aside(struct sched *s, struct span out)
{
	mpi_sched_send(s, out, s->rank + 1);
	mpi_sched_round(s);
	mpi_sched_recv(s, out, s->rank + 1);
	mpi_sched_round(s);
}

void
mpi_allreduce_doubling(struct sched *s, struct span out)
{
	int count = 1, folded;
	struct places p = {.sum = out};

	while (count * 2 <= s->size)
		count *= 2;
	folded = s->size - count;
	if (s->rank < 2 * folded && s->rank % 2 == 0) {
		stand_aside(s, out);
		return;
	}
	p.theirs = mpi_sched_room(s, out.count, out.type);
	if (s->rank < 2 * folded) {
		mpi_sched_recv(s, p.theirs, s->rank - 1);
		combine(s, &p, s->rank - 1);
	}
	double_up(s, &p, s->rank < 2 * folded ? s->rank / 2 : s->rank - folded, folded);
	if (s->rank < 2 * folded)
		mpi_sched_send(s, p.sum, s->rank - 1);
	mpi_sched_copy(s, out, p.sum);
	mpi_sched_round(s);
}

static void
write_it(struct sched *s, const struct work *w)
{
	mpi_allreduce_doubling(s, w->out);
}

const struct algorithm mpi_algorithm_allreduce_doubling = {.write = write_it};
