/* SPDX-License-Identifier: MIT
 *
 * Allgather among few ranks in one cluster: each lays its block beside its sign, part by part, and
 * takes the others'. Equal blocks.
 *
 * Cost: n - 1 reads of lines for each part, and n m b.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/blocks.h>
#include <mpi/coll/choose.h>

static bool
allgather_signs_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct span mine = k->send.in_place ? mpi_side_block(&k->recv, c->rank) : mpi_side_block(&k->send, 0);
	size_t bytes = mpi_choose_bytes(c, k);
	struct blocks b;
	struct signs g;

	if (!k->even || !mpi_signs_begin(&g, self, c, bytes))
		return false;
	b = mpi_blocks(&g, bytes, 1);
	while (mpi_blocks_next(&b, &g)) {
		mpi_blocks_lay(&b, mpi_signs_room(&g, b.bytes), mine);
		mpi_signs_show(&g);
		for (int i = 1; i < g.n; i++) {
			int from = (g.me + i) % g.n;

			mpi_signs_wait(&g, from);
			mpi_blocks_take(&b, mpi_side_block(&k->recv, from), mpi_signs_data(&g, from, b.bytes));
		}
		g.v->seen = g.round;
	}
	mpi_signs_end(&g);
	if (!k->send.in_place)
		mpi_blocks_keep(mpi_side_block(&k->recv, g.me), mine);
	*err = MPI_SUCCESS;
	return true;
}

const struct algorithm mpi_algorithm_allgather_signs = {.run = allgather_signs_run, .straight = true};
