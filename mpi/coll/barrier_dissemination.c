/* SPDX-License-Identifier: MIT
 *
 * Barrier: in round k each rank tells the one 2^k after it and hears from the one 2^k before it.
 *
 * Cost: ceil(log2 n) a.
 */
#include <mpi/coll/coll.h>
#include <mpi/coll/step.h>

int
mpi_barrier_dissemination(struct mpi_rank *self, struct comm *c)
{
	int err = MPI_SUCCESS;

	for (int distance = 1; distance < c->size && err == MPI_SUCCESS; distance *= 2) {
		struct exchange x = {
			.to = (c->rank + distance) % c->size, .from = (c->rank - distance + c->size) % c->size};

		err = step_exchange(self, c, &x, TAG_BARRIER);
	}
	return err;
}
