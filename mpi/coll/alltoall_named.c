/* SPDX-License-Identifier: MIT
 *
 * Alltoall of any blocks among few ranks of one address space. Each lays its blocks into its room,
 * or shows where they lie, and takes its own of the others'. If any showed where they lie, they
 * stay until all have them. Not in place.
 *
 * Cost: a cache line from each rank to each, two if blocks are large; n m b on each rank at the same time; no message.
 */
#include <mpi/coll/named.h>

/* `err`: what the own block came to. */
static int
alltoall_named_take(const struct signs *g, const struct collective *k, bool *named, int err)
{
	for (int i = 1; i < g->n; i++) {
		int from = (g->me + i) % g->n, bad = mpi_named_take_own(g, from, mpi_side_block(&k->recv, from));

		*named |= mpi_named_of(g, from)->what != NULL;
		err = bad != MPI_SUCCESS ? bad : err;
	}
	return err;
}

static bool
alltoall_named_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct span own[SIGNS_RANKS_MAX];
	struct signs g;
	bool named;

	if (k->send.in_place || !mpi_named_begin(&g, self, c))
		return false;
	for (int i = 0; i < g.n; i++)
		own[i] = mpi_side_block(&k->send, i);
	named = !mpi_named_deal(&g, own);
	*err = mpi_named_copy(mpi_side_block(&k->recv, g.me), own[g.me]);
	mpi_signs_wait_all(&g);
	*err = alltoall_named_take(&g, k, &named, *err);
	if (named)
		mpi_named_part(&g);
	mpi_signs_end(&g);
	return true;
}

const struct algorithm mpi_algorithm_alltoall_named = {.run = alltoall_named_run};
