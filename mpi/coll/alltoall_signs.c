/* SPDX-License-Identifier: MIT
 *
 * Alltoall among few ranks in one cluster: each lays its blocks beside its sign, part by part, and
 * takes its own of the others'. Equal blocks.
 *
 * Cost: n - 1 reads of lines for each part of n blocks, and 2 n m b.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/blocks.h>
#include <mpi/coll/choose.h>

static void
exchange(struct signs *g, const struct blocks *b, const struct side *out, const struct side *in)
{
	size_t all = (size_t)g->n * b->bytes;
	char *room = mpi_signs_room(g, all);

	for (int i = 0; i < g->n; i++)
		if (i != g->me)
			mpi_blocks_lay(b, room + (size_t)i * b->bytes, mpi_side_block(out, i));
	mpi_signs_show(g);
	for (int i = 1; i < g->n; i++) {
		int from = (g->me + i) % g->n;

		mpi_signs_wait(g, from);
		mpi_blocks_take(b, mpi_side_block(in, from), mpi_signs_data(g, from, all) + (size_t)g->me * b->bytes);
	}
	g->v->seen = g->round;
}

static bool
alltoall_signs_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	const struct side *out = k->send.in_place ? &k->recv : &k->send;
	struct blocks b;
	struct signs g;

	if (!k->even || !mpi_signs_begin(&g, self, c, mpi_choose_bytes(c, k) * (size_t)c->size))
		return false;
	b = mpi_blocks(&g, mpi_choose_bytes(c, k), g.n);
	while (mpi_blocks_next(&b, &g))
		exchange(&g, &b, out, &k->recv);
	mpi_signs_end(&g);
	if (!k->send.in_place)
		mpi_blocks_keep(mpi_side_block(&k->recv, g.me), mpi_side_block(out, g.me));
	*err = MPI_SUCCESS;
	return true;
}

const struct algorithm mpi_algorithm_alltoall_signs = {.run = alltoall_signs_run, .straight = true};
