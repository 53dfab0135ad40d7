/* SPDX-License-Identifier: MIT
 *
 * The steps of which collectives are made: messages in the communicator's second context, where nothing else travels. Messages
 * between two ranks stay in order, so that one tag per collective is enough.
 */
#ifndef MPI_COLL_STEP_H
#define MPI_COLL_STEP_H

#include <stddef.h>
#include <mpi/core/rank.h>

enum coll_tag { TAG_BARRIER, TAG_BCAST, TAG_REDUCE, TAG_ALLREDUCE, TAG_GATHER, TAG_SCATTER, TAG_ALLGATHER, TAG_ALLTOALL };

/* One message out, one in, at the same time. */
struct exchange {
	const void *out;
	size_t out_bytes;
	int to;
	void *in;
	size_t in_bytes;
	int from;
};

/* All return an error class; a message of another length than expected is MPI_ERR_TRUNCATE. */
int step_send(struct mpi_rank *self, struct comm *c, const struct exchange *x, enum coll_tag tag);
int step_recv(struct mpi_rank *self, struct comm *c, const struct exchange *x, enum coll_tag tag);
int step_exchange(struct mpi_rank *self, struct comm *c, const struct exchange *x, enum coll_tag tag);

/* Room for `bytes`: in `small` (of small_bytes) if they fit, else allocated. Give it back by scratch_free. */
void *scratch_take(void *small, size_t small_bytes, size_t bytes);
void scratch_free(void *small, void *block);

#define SCRATCH_SMALL 512	/* what algorithms keep on the stack */

#endif
