/* SPDX-License-Identifier: MIT
 *
 * Scatter among few ranks in one cluster: the root lays all blocks beside its sign, part by part,
 * and each takes its own. Equal blocks.
 *
 * Cost: a read of a line for each part of n blocks, and n m b at the root.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/blocks.h>
#include <mpi/coll/choose.h>

static void
scatter_signs_deal(struct signs *g, const struct blocks *b, const struct side *all)
{
	char *room = mpi_signs_room(g, (size_t)g->n * b->bytes);

	for (int i = 0; i < g->n; i++)
		if (i != g->me)
			mpi_blocks_lay(b, room + (size_t)i * b->bytes, mpi_side_block(all, i));
	mpi_signs_show(g);
}

static void
scatter_signs_take(struct signs *g, const struct blocks *b, const struct collective *k)
{
	mpi_signs_show(g);
	mpi_signs_wait(g, k->root);
	mpi_blocks_take(b, mpi_side_block(&k->recv, 0), mpi_signs_data(g, k->root, (size_t)g->n *
		b->bytes) + (size_t)g->me * b->bytes);
}

static bool
scatter_signs_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct blocks b;
	struct signs g;

	if (!k->even || !mpi_signs_begin(&g, self, c, mpi_choose_bytes(c, k) * (size_t)c->size))
		return false;
	b = mpi_blocks(&g, mpi_choose_bytes(c, k), g.n);
	while (mpi_blocks_next(&b, &g)) {
		if (g.me == k->root)
			scatter_signs_deal(&g, &b, &k->send);
		else
			scatter_signs_take(&g, &b, k);
	}
	mpi_signs_end(&g);
	if (g.me == k->root && !k->recv.in_place)
		mpi_blocks_keep(mpi_side_block(&k->recv, 0), mpi_side_block(&k->send, g.me));
	*err = MPI_SUCCESS;
	return true;
}

const struct algorithm mpi_algorithm_scatter_signs = {.run = scatter_signs_run, .straight = true};
