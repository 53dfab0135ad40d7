/* SPDX-License-Identifier: MIT
 *
 * Reduce-scatter of equal blocks among few ranks in one cluster: each lays its operand beside its
 * sign, a part of every block at a time, and combines what all have laid of its own block, in the
 * order of the ranks.
 *
 * Cost: n - 1 reads of lines for each part of n blocks, n m b + (n - 1) m g.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/reduce_parts.h>
#include <mpi/coll/signs.h>

/* As many elements as there may be ranks fit into a room? */
static bool
reduce_scatter_signs_fits(const struct mpi_rank *self, const struct collective *k)
{
	return mpi_parts_fit(self, k) && (size_t)k->recv.type->extent <= mpi_signs_room_of(self) / SIGNS_RANKS_MAX;
}

/* A part: so many bytes of every block, from byte `at` of it on. */
struct cut {
	size_t block;			/* bytes */
	size_t at;
	size_t bytes;
};

static void
lay(struct signs *g, const struct cut *cut, const char *in)
{
	char *room = mpi_signs_room(g, (size_t)g->n * cut->bytes);

	for (int i = 0; i < g->n; i++)
		memcpy(room + (size_t)i * cut->bytes, in + (size_t)i * cut->block + cut->at, cut->bytes);
	mpi_signs_show(g);
}

/* The own operand is on the own sign as well: `out` may be where it was. */
static void
reduce_scatter_signs_combine(struct signs *g, const struct cut *cut, const struct operation *op, char *out)
{
	size_t all = (size_t)g->n * cut->bytes, skip = (size_t)g->me * cut->bytes;

	mpi_signs_wait_all(g);
	memcpy(out, mpi_signs_data(g, g->n - 1, all) + skip, cut->bytes);
	for (int i = g->n - 2; i >= 0; i--)
		mpi_op_apply(op, mpi_signs_data(g, i, all) + skip, out, (MPI_Count)cut->bytes / op->extent);
}

static bool
reduce_scatter_signs_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct cut cut = {.block = mpi_parts_bytes(k)};
	struct operation op;
	struct signs g;
	size_t most;

	if (!k->even || !reduce_scatter_signs_fits(self, k))
		return false;
	if (!mpi_signs_begin(&g, self, c, cut.block * (size_t)c->size))
		return false;
	op = mpi_op_bind(self, k->op, k->recv.datatype);
	most = mpi_signs_bytes(&g) / (size_t)op.extent / (size_t)g.n * (size_t)op.extent;
	for (; cut.at < cut.block; cut.at += cut.bytes) {
		cut.bytes = cut.block - cut.at < most ? cut.block - cut.at : most;
		mpi_signs_next(&g);
		lay(&g, &cut, k->send.in_place ? k->recv.buffer : k->send.buffer);
		reduce_scatter_signs_combine(&g, &cut, &op, (char *)k->recv.buffer + cut.at);
	}
	mpi_signs_end(&g);
	mpi_op_release(&op);
	*err = MPI_SUCCESS;
	return true;
}

const struct algorithm mpi_algorithm_reduce_scatter_signs = {.run = reduce_scatter_signs_run, .straight = true};
