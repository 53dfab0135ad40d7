/* SPDX-License-Identifier: MIT
 *
 * What the transport of process ranks knows; seen by this folder only.
 */
#ifndef MPI_TRANSPORT_PROCESS_STATE_H
#define MPI_TRANSPORT_PROCESS_STATE_H

#include <mpi/core/rank.h>
#include <mpi/transport/inbox.h>
#include <mpi/transport/process/heap.h>
#include <mpi/transport/process/segment.h>

/* How long messages travel: ATOLL_MPI_FETCH=yes|no, or as it is faster. */
enum fetch {
	FETCH_AS_FASTER,
	FETCH_ALWAYS,
	FETCH_NEVER			/* also when the system has refused once */
};

struct transport {
	struct segment *segment;
	uint32_t rank;
	uint32_t ranks;
	uint32_t cells;
	uint32_t claimed;		/* position of the packet that is being filled */
	struct inbox_reader inbox;
	struct heap heap;		/* this rank's part of the segment */
	uint32_t *opened;		/* HEAP_UNITs of each peer's heap that can be looked at */
	bool *proven;			/* per peer: the process of its number is it */
	uint64_t token;			/* segment_rank.token */
	int32_t tid;			/* of the thread that started */
	enum fetch fetch;
	/* how to wait, in steps */
	unsigned polls;
	unsigned yields;
	uint32_t relaxed;		/* of several threads at a time */
};

/* The segment: given by the launcher, or made for a single rank. Error class. */
int transport_attach(struct mpi_rank *self);
void transport_detach(struct transport *t);

/* Choose how to wait. */
void transport_wait_init(struct transport *t);

/* Name of the MPI function that the program has called and that calls this; NULL: unknown. */
const char *transport_function(void);

/* Wake the owner of an inbox if it sleeps. */
void transport_wake_owner(struct inbox *box);

#endif
