/* SPDX-License-Identifier: MIT
 *
 * Gather among few ranks in one cluster: each lays its block beside its sign, part by part, and the
 * root takes them. Equal blocks.
 *
 * Cost: n - 1 reads of lines for each part, and n m b at the root.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/blocks.h>
#include <mpi/coll/choose.h>

static void
gather_signs_collect(struct signs *g, const struct blocks *b, const struct side *all)
{
	mpi_signs_show(g);
	for (int i = 1; i < g->n; i++) {
		int from = (g->me + i) % g->n;

		mpi_signs_wait(g, from);
		mpi_blocks_take(b, mpi_side_block(all, from), mpi_signs_data(g, from, b->bytes));
	}
	g->v->seen = g->round;
}

static bool
gather_signs_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct blocks b;
	struct signs g;

	if (!k->even || !mpi_signs_begin(&g, self, c, mpi_choose_bytes(c, k)))
		return false;
	b = mpi_blocks(&g, mpi_choose_bytes(c, k), 1);
	while (mpi_blocks_next(&b, &g)) {
		if (g.me == k->root) {
			gather_signs_collect(&g, &b, &k->recv);
			continue;
		}
		mpi_blocks_lay(&b, mpi_signs_room(&g, b.bytes), mpi_side_block(&k->send, 0));
		mpi_signs_show(&g);
	}
	mpi_signs_end(&g);
	if (g.me == k->root && !k->send.in_place)
		mpi_blocks_keep(mpi_side_block(&k->recv, g.me), mpi_side_block(&k->send, 0));
	*err = MPI_SUCCESS;
	return true;
}

const struct algorithm mpi_algorithm_gather_signs = {.run = gather_signs_run, .straight = true};
