/* SPDX-License-Identifier: MIT
 *
 * Allgather around a ring: each rank passes on the block that it got last. The own block lies in its place of `out` already.
 *
 * Cost: (n - 1) (a + m b).
 */
#include <mpi/coll/coll.h>
#include <mpi/coll/step.h>

int
mpi_allgather_ring(struct mpi_rank *self, struct comm *c, const struct blocks *b)
{
	int next = (c->rank + 1) % c->size, previous = (c->rank - 1 + c->size) % c->size, err = MPI_SUCCESS;
	char *out = b->out;

	for (int i = 0; i < c->size - 1 && err == MPI_SUCCESS; i++) {
		int give = (c->rank - i + c->size) % c->size, take = (previous - i + c->size) % c->size;
		struct exchange x = {.out = out + (size_t)give * b->bytes, .out_bytes = b->bytes, .to = next,
			.in = out + (size_t)take * b->bytes, .in_bytes = b->bytes, .from = previous};

		err = step_exchange(self, c, &x, TAG_ALLGATHER);
	}
	return err;
}
