/* SPDX-License-Identifier: MIT
 *
 * Gather of any blocks among few ranks of one address space. The root shows where it wants them. Who has what fits into its room lays
 * it there and goes; who has more copies it to where the root wants it, at the same time as others, and shows that it is there.
 *
 * Cost: a cache line from each rank; n m b at the root, m b on each for large blocks; no message.
 */
#include <mpi/coll/named.h>

static int
put(struct signs *g, const struct collective *k)
{
	struct span own = mpi_side_block(&k->send, 0);
	const struct side *all;
	int err;

	if (mpi_named_fits(g, mpi_span_size(own))) {
		mpi_named_give(g, &own);
		return MPI_SUCCESS;
	}
	mpi_signs_wait(g, k->root);
	all = mpi_named_of(g, k->root)->what;
	err = mpi_named_copy(mpi_side_block(all, g->me), own);
	mpi_named_show(g, all);
	return err;
}

static int
collect(struct signs *g, const struct collective *k)
{
	mpi_named_show(g, &k->recv);
	if (!k->send.in_place)
		mpi_span_copy(mpi_side_block(&k->recv, g->me), mpi_side_block(&k->send, 0));
	for (int i = 0; i < g->n; i++) {
		if (i == g->me)
			continue;
		mpi_signs_wait(g, i);
		if (mpi_named_of(g, i)->what == NULL)
			mpi_named_take(g, i, mpi_side_block(&k->recv, i));
	}
	g->v->seen = g->round;
	return MPI_SUCCESS;
}

static bool
run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct signs g;

	if (!mpi_named_begin(&g, self, c))
		return false;
	*err = g.me == k->root ? collect(&g, k) : put(&g, k);
	mpi_signs_end(&g);
	return true;
}

const struct algorithm mpi_algorithm_gather_named = {.run = run};
