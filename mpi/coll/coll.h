/* SPDX-License-Identifier: MIT
 *
 * Collectives below the API: arguments are right, MPI_IN_PLACE is resolved, types are bytes where nothing is computed. Each algorithm
 * is a file of its own, coll/<collective>_<algorithm>.c, with its cost at its head; coll/choose.c decides.
 *
 * Costs: n ranks, m bytes per rank, a = time of one message, b = time per byte, g = time to combine a byte.
 */
#ifndef MPI_COLL_COLL_H
#define MPI_COLL_COLL_H

#include <stddef.h>
#include <mpi/core/rank.h>

/* What a reduction combines. `in` may be `out`. */
struct reduction {
	const void *in;
	void *out;
	int count;
	MPI_Datatype type;
	MPI_Op op;
};

/* Every rank's block is `bytes` long; block i of the side that has all of them starts at i * bytes. */
struct blocks {
	const void *in;
	void *out;
	size_t bytes;
};

/* All return an error class. */
int mpi_barrier(struct mpi_rank *self, struct comm *c);
int mpi_bcast(struct mpi_rank *self, struct comm *c, void *buffer, size_t bytes, int root);
int mpi_reduce(struct mpi_rank *self, struct comm *c, const struct reduction *r, int root);
int mpi_allreduce(struct mpi_rank *self, struct comm *c, const struct reduction *r);
int mpi_gather(struct mpi_rank *self, struct comm *c, const struct blocks *b, int root);
int mpi_scatter(struct mpi_rank *self, struct comm *c, const struct blocks *b, int root);
int mpi_allgather(struct mpi_rank *self, struct comm *c, const void *in, void *out, size_t bytes);
int mpi_alltoall(struct mpi_rank *self, struct comm *c, const struct blocks *b);

/* The algorithms. */
int mpi_barrier_counter(struct mpi_rank *self, struct comm *c);
int mpi_barrier_dissemination(struct mpi_rank *self, struct comm *c);
int mpi_bcast_binomial(struct mpi_rank *self, struct comm *c, void *buffer, size_t bytes, int root);
int mpi_reduce_binomial(struct mpi_rank *self, struct comm *c, const struct reduction *r, int root);
int mpi_allreduce_recursive_doubling(struct mpi_rank *self, struct comm *c, const struct reduction *r);
int mpi_allreduce_reduce_bcast(struct mpi_rank *self, struct comm *c, const struct reduction *r);
int mpi_gather_linear(struct mpi_rank *self, struct comm *c, const struct blocks *b, int root);
int mpi_scatter_linear(struct mpi_rank *self, struct comm *c, const struct blocks *b, int root);
int mpi_allgather_ring(struct mpi_rank *self, struct comm *c, const struct blocks *b);
int mpi_allgather_gather_bcast(struct mpi_rank *self, struct comm *c, const struct blocks *b);
int mpi_alltoall_pairwise(struct mpi_rank *self, struct comm *c, const struct blocks *b);

#endif
