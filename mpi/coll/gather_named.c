/* SPDX-License-Identifier: MIT
 *
 * Gather of any blocks among few ranks of one address space. The root shows where it wants them.
 * Who has what fits into its room lays it there and goes; who has more copies it to where the root
 * wants it, at the same time as others, and shows that it is there.
 *
 * Cost: a cache line from each rank; n m b at the root, m b on each for large blocks; no message.
 */
#include <mpi/coll/named.h>

static int
gather_named_put(struct signs *g, const struct collective *k)
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
	mpi_named_show_copied(g, all, err != MPI_SUCCESS);
	return MPI_SUCCESS;
}

/* The block of a rank that has shown something; the error is the root's, whoever copied. */
static int
get(const struct signs *g, int rank, struct span to)
{
	const struct named *n = mpi_named_of(g, rank);

	if (n->what == NULL)
		return mpi_named_take(g, rank, to);
	return n->truncated ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

static int
gather_named_collect(struct signs *g, const struct collective *k)
{
	int err = MPI_SUCCESS;

	mpi_named_show(g, &k->recv);
	if (!k->send.in_place)
		err = mpi_named_copy(mpi_side_block(&k->recv, g->me), mpi_side_block(&k->send, 0));
	for (int i = 0; i < g->n; i++) {
		int bad;

		if (i == g->me)
			continue;
		mpi_signs_wait(g, i);
		bad = get(g, i, mpi_side_block(&k->recv, i));
		err = bad != MPI_SUCCESS ? bad : err;
	}
	g->v->seen = g->round;
	return err;
}

static bool
gather_named_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct signs g;

	if (!mpi_named_begin(&g, self, c))
		return false;
	*err = g.me == k->root ? gather_named_collect(&g, k) : gather_named_put(&g, k);
	mpi_signs_end(&g);
	return true;
}

const struct algorithm mpi_algorithm_gather_named = {.run = gather_named_run};
