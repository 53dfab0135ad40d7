/* SPDX-License-Identifier: MIT
 *
 * Allgather: gather at rank 0, then broadcast the whole. The own block lies in its place of `out` already.
 *
 * Cost: (n - 1) (a + m b) + ceil(log2 n) (a + n m b); good for small blocks.
 */
#include <mpi/coll/coll.h>

int
mpi_allgather_gather_bcast(struct mpi_rank *self, struct comm *c, const struct blocks *b)
{
	struct blocks mine = {(char *)b->out + (size_t)c->rank * b->bytes, b->out, b->bytes};
	int err = mpi_gather_linear(self, c, &mine, 0);

	return err == MPI_SUCCESS ? mpi_bcast_binomial(self, c, b->out, (size_t)c->size * b->bytes, 0) : err;
}
