/* SPDX-License-Identifier: MIT
 *
 * Which algorithm a collective uses.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi/coll/coll.h>
#include <mpi/core/type.h>
#include <mpi/transport/transport.h>

#define ALLREDUCE_DOUBLING_MAX 16384	/* bytes up to which every rank combines all */
#define ALLGATHER_BCAST_MAX 1024	/* bytes of a block up to which one rank collects */

int
mpi_barrier(struct mpi_rank *self, struct comm *c)
{
	/* two ranks tell each other faster than they meet */
	if (c == &self->world && c->size > 2 && transport_sync(self) != NULL)
		return mpi_barrier_counter(self, c);
	return mpi_barrier_dissemination(self, c);
}

int
mpi_bcast(struct mpi_rank *self, struct comm *c, void *buffer, size_t bytes, int root)
{
	return mpi_bcast_binomial(self, c, buffer, bytes, root);
}

int
mpi_reduce(struct mpi_rank *self, struct comm *c, const struct reduction *r, int root)
{
	return mpi_reduce_binomial(self, c, r, root);
}

int
mpi_allreduce(struct mpi_rank *self, struct comm *c, const struct reduction *r)
{
	size_t bytes = (size_t)r->count * mpi_type_find(r->type)->extent;

	return bytes <= ALLREDUCE_DOUBLING_MAX ? mpi_allreduce_recursive_doubling(self, c, r) :
		mpi_allreduce_reduce_bcast(self, c, r);
}

int
mpi_gather(struct mpi_rank *self, struct comm *c, const struct blocks *b, int root)
{
	return mpi_gather_linear(self, c, b, root);
}

int
mpi_scatter(struct mpi_rank *self, struct comm *c, const struct blocks *b, int root)
{
	return mpi_scatter_linear(self, c, b, root);
}

int
mpi_allgather(struct mpi_rank *self, struct comm *c, const void *in, void *out, size_t bytes)
{
	struct blocks b = {in, out, bytes};
	char *place = (char *)out + (size_t)c->rank * bytes;

	if (in != place && bytes > 0)
		memcpy(place, in, bytes);
	return bytes <= ALLGATHER_BCAST_MAX ? mpi_allgather_gather_bcast(self, c, &b) : mpi_allgather_ring(self, c, &b);
}

int
mpi_alltoall(struct mpi_rank *self, struct comm *c, const struct blocks *b)
{
	char *copy;
	int err;

	if (b->in != b->out)
		return mpi_alltoall_pairwise(self, c, b);
	/* in place: from a copy */
	copy = malloc((size_t)c->size * b->bytes + 1);
	if (copy == NULL)
		return MPI_ERR_NO_MEM;
	memcpy(copy, b->out, (size_t)c->size * b->bytes);
	err = mpi_alltoall_pairwise(self, c, &(struct blocks){copy, b->out, b->bytes});
	free(copy);
	return err;
}
