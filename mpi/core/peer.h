/* SPDX-License-Identifier: MIT
 *
 * What a rank knows of another rank of the job: flow control (mpi/pt2pt/pt2pt.h) and the sends that
 * wait.
 */
#ifndef MPI_CORE_PEER_H
#define MPI_CORE_PEER_H

#include <stdint.h>
#include <base/list.h>

struct inbox;

/* Zero is the start. */
struct peer {
	uint32_t sent;			/* messages sent to it */
	uint32_t taken;			/* of them, known to be matched */
	uint32_t matched;		/* messages from it that were matched here */
	uint32_t reported;		/* of them, told to it */
	/*
	 * where messages may go straight; NULL: it is far, or not known yet, or sends wait for room
	 */
	struct inbox *direct;
	/* sends that wait for room, in order; next is NULL before the first */
	struct list queue;
	struct list blocked;		/* in mpi_rank.outgoing while the queue is not empty */
};

#endif
