/* SPDX-License-Identifier: MIT
 *
 * Scatter of any blocks among few ranks of one address space. The root lays them into its room and goes; if they do not
 * fit, it shows where they lie, each copies its own at the same time, and the root waits until all have.
 *
 * Cost: a cache line to each rank, and one back if blocks are large; m b on each; no message.
 */
#include <mpi/coll/named.h>

static int
scatter_named_take(struct signs *g, const struct collective *k)
{
	int err;

	mpi_signs_wait(g, k->root);
	err = mpi_named_take_own(g, k->root, mpi_side_block(&k->recv, 0));
	mpi_named_show(g, NULL);
	return err;
}

static int
scatter_named_deal(struct signs *g, const struct collective *k)
{
	struct span own[SIGNS_RANKS_MAX];
	int err = MPI_SUCCESS;
	bool laid;

	for (int i = 0; i < g->n; i++)
		own[i] = mpi_side_block(&k->send, i);
	laid = mpi_named_deal(g, own);
	if (!k->recv.in_place)
		err = mpi_named_copy(mpi_side_block(&k->recv, 0), own[g->me]);
	if (!laid)
		mpi_signs_wait_all(g);
	return err;
}

static bool
scatter_named_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct signs g;

	if (!mpi_named_begin(&g, self, c))
		return false;
	*err = g.me == k->root ? scatter_named_deal(&g, k) : scatter_named_take(&g, k);
	mpi_signs_end(&g);
	return true;
}

const struct algorithm mpi_algorithm_scatter_named = {.run = scatter_named_run};
