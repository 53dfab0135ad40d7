/* SPDX-License-Identifier: MIT
 *
 * Broadcast along a binomial tree: who has the data passes it on, to the farthest first.
 *
 * Cost: ceil(log2 n) (a + m b).
 */
#include <mpi/coll/coll.h>
#include <mpi/coll/step.h>

int
mpi_bcast_binomial(struct mpi_rank *self, struct comm *c, void *buffer, size_t bytes, int root)
{
	int me = (c->rank - root + c->size) % c->size, bit = 1, err = MPI_SUCCESS;

	while (bit < c->size && !(me & bit))
		bit *= 2;
	if (me != 0) {
		struct exchange x = {.in = buffer, .in_bytes = bytes, .from = (me - bit + root) % c->size};

		err = step_recv(self, c, &x, TAG_BCAST);
	}
	for (bit /= 2; bit > 0 && err == MPI_SUCCESS; bit /= 2) {
		struct exchange x = {.out = buffer, .out_bytes = bytes, .to = (me + bit + root) % c->size};

		if (me + bit < c->size)
			err = step_send(self, c, &x, TAG_BCAST);
	}
	return err;
}
