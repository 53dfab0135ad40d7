/* SPDX-License-Identifier: MIT
 *
 * Non-blocking collectives with flags (coll/flags.h), on a board of their own: as several may be on
 * their way, a rank that shows a round there need not be over with the ones before it. So each rank
 * also shows before which round all are over with it, and that is when their room may be written
 * again.
 *
 * A call has its rounds from its start on, and a rank shows its rounds in order; what a step needs,
 * flags of others or room, it does not wait for: progress goes on with it when that is there.
 */
#ifndef MPI_COLL_STARTED_H
#define MPI_COLL_STARTED_H

#include <mpi/coll/coll.h>

/*
 * How a call can be started: not at all; laid beside the flags; or, an allreduce of ranks of one
 * address space, shown where it is. A number in struct algorithm, as each rank has addresses of its
 * own.
 */
enum starts { STARTS_NOT, STARTS_LAID, STARTS_ZEROCOPY };

/*
 * Start a call; `outer` is complete when it is over, perhaps on return. False, on all ranks: there
 * are no flags yet, or this is not for them.
 */
bool mpi_started(struct mpi_rank *self, struct comm *c, const struct collective *k, enum starts how,
	struct request *outer);

#endif
