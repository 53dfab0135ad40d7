/* SPDX-License-Identifier: MIT
 *
 * Allgather of any blocks among few ranks of one address space. Each lays its block into its room,
 * or shows where it lies, and takes the others'. If any showed where it lies, they stay until all
 * have it.
 *
 * Cost: a cache line from each rank to each, two if blocks are large; n m b on each rank at the same time; no message.
 */
#include <mpi/coll/named.h>

/* `err`: what the own block came to. */
static int
allgather_named_take(const struct signs *g, const struct collective *k, bool *named, int err)
{
	for (int i = 1; i < g->n; i++) {
		int from = (g->me + i) % g->n, bad = mpi_named_take(g, from, mpi_side_block(&k->recv, from));

		*named |= mpi_named_of(g, from)->what != NULL;
		err = bad != MPI_SUCCESS ? bad : err;
	}
	return err;
}

static bool
allgather_named_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct span own = k->send.in_place ? mpi_side_block(&k->recv, c->rank) : mpi_side_block(&k->send, 0);
	struct signs g;
	bool named;

	if (!mpi_named_begin(&g, self, c))
		return false;
	named = !mpi_named_give(&g, &own);
	*err = k->send.in_place ? MPI_SUCCESS : mpi_named_copy(mpi_side_block(&k->recv, g.me), own);
	mpi_signs_wait_all(&g);
	*err = allgather_named_take(&g, k, &named, *err);
	if (named)
		mpi_named_part(&g);
	mpi_signs_end(&g);
	return true;
}

const struct algorithm mpi_algorithm_allgather_named = {.run = allgather_named_run};
