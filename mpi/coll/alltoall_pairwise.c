/* SPDX-License-Identifier: MIT
 *
 * Alltoall: in step i each rank sends to the i-th after it and receives from the i-th before it.
 *
 * Cost: (n - 1) (a + m b).
 */
#include <string.h>
#include <mpi/coll/coll.h>
#include <mpi/coll/step.h>

int
mpi_alltoall_pairwise(struct mpi_rank *self, struct comm *c, const struct blocks *b)
{
	const char *in = b->in;
	char *out = b->out;
	int err = MPI_SUCCESS;

	if (b->bytes > 0)
		memcpy(out + (size_t)c->rank * b->bytes, in + (size_t)c->rank * b->bytes, b->bytes);
	for (int i = 1; i < c->size && err == MPI_SUCCESS; i++) {
		int to = (c->rank + i) % c->size, from = (c->rank - i + c->size) % c->size;
		struct exchange x = {.out = in + (size_t)to * b->bytes, .out_bytes = b->bytes, .to = to,
			.in = out + (size_t)from * b->bytes, .in_bytes = b->bytes, .from = from};

		err = step_exchange(self, c, &x, TAG_ALLTOALL);
	}
	return err;
}
