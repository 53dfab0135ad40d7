/* SPDX-License-Identifier: MIT
 *
 * Gather: the root receives from each rank in turn.
 *
 * Cost: (n - 1) (a + m b) at the root; a + m b elsewhere.
 */
#include <string.h>
#include <mpi/coll/coll.h>
#include <mpi/coll/step.h>

int
mpi_gather_linear(struct mpi_rank *self, struct comm *c, const struct blocks *b, int root)
{
	struct exchange x = {.out = b->in, .out_bytes = b->bytes, .to = root};
	int err = MPI_SUCCESS;

	if (c->rank != root)
		return step_send(self, c, &x, TAG_GATHER);
	for (int i = 0; i < c->size && err == MPI_SUCCESS; i++) {
		char *place = (char *)b->out + (size_t)i * b->bytes;

		x = (struct exchange){.in = place, .in_bytes = b->bytes, .from = i};
		if (i != root)
			err = step_recv(self, c, &x, TAG_GATHER);
		else if (b->in != place && b->bytes > 0)
			memcpy(place, b->in, b->bytes);
	}
	return err;
}
