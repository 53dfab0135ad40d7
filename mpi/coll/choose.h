/* SPDX-License-Identifier: MIT
 *
 * Which algorithm a collective uses: by the number of ranks and the size of the data, from a table of what was measured.
 */
#ifndef MPI_COLL_CHOOSE_H
#define MPI_COLL_CHOOSE_H

#include <mpi/coll/coll.h>

void mpi_choose_bcast(struct sched *s, struct span data, int root);
void mpi_choose_gather(struct sched *s, const struct collective *k);
void mpi_choose_scatter(struct sched *s, const struct collective *k);
void mpi_choose_allgather(struct sched *s, const struct collective *k);
void mpi_choose_alltoall(struct sched *s, const struct side *out, const struct side *in, bool even);
void mpi_choose_reduce(struct sched *s, struct span out, struct span in, int root);
void mpi_choose_allreduce(struct sched *s, struct span out);
void mpi_choose_reduce_scatter(struct sched *s, struct span out, struct span in, const MPI_Count *counts);

/* The types of a side with so many blocks live until the schedule is over. */
void mpi_side_hold(struct sched *s, const struct side *side, int blocks);

/* Neighbourhoods have one algorithm. */
void mpi_neighbor_write(struct sched *s, const struct collective *k);

#endif
