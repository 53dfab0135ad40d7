/* SPDX-License-Identifier: MIT
 *
 * Reduction to all: to rank 0, and from there to all.
 *
 * Cost: 2 ceil(log2 n) (a + m b) + ceil(log2 n) m g; half the data in flight of recursive doubling.
 */
#include <mpi/coll/coll.h>
#include <mpi/core/type.h>

int
mpi_allreduce_reduce_bcast(struct mpi_rank *self, struct comm *c, const struct reduction *r)
{
	int err = mpi_reduce_binomial(self, c, r, 0);

	if (err != MPI_SUCCESS)
		return err;
	return mpi_bcast_binomial(self, c, r->out, (size_t)r->count * mpi_type_find(r->type)->extent, 0);
}
