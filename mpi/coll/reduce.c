/* SPDX-License-Identifier: MIT
 *
 * Reduction along a binomial tree. Operands are combined in the order of the ranks if the operation
 * does not commute: the tree then stands on rank 0, which passes the result on to the root.
 *
 * Cost: ceil(log2 n) (a + m b + m g).
 */
#include <mpi/coll/algorithm.h>

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
