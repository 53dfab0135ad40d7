/* SPDX-License-Identifier: MIT
 *
 * Scatter: the root sends to each rank in turn.
 *
 * Cost: (n - 1) (a + m b) at the root; a + m b elsewhere.
 */
#include <string.h>
#include <mpi/coll/coll.h>
#include <mpi/coll/step.h>

int
mpi_scatter_linear(struct mpi_rank *self, struct comm *c, const struct blocks *b, int root)
{
	struct exchange x = {.in = b->out, .in_bytes = b->bytes, .from = root};
	int err = MPI_SUCCESS;

	if (c->rank != root)
		return step_recv(self, c, &x, TAG_SCATTER);
	for (int i = 0; i < c->size && err == MPI_SUCCESS; i++) {
		const char *place = (const char *)b->in + (size_t)i * b->bytes;

		x = (struct exchange){.out = place, .out_bytes = b->bytes, .to = i};
		if (i != root)
			err = step_send(self, c, &x, TAG_SCATTER);
		else if (b->out != place && b->bytes > 0)
			memcpy(b->out, place, b->bytes);
	}
	return err;
}
