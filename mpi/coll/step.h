/* SPDX-License-Identifier: MIT
 *
 * The steps of a schedule; seen by the engine only.
 */
#ifndef MPI_COLL_STEP_H
#define MPI_COLL_STEP_H

#include <stdbool.h>
#include <stdint.h>
#include <mpi/coll/span.h>

/*
 * tags: the number of the collective; of a persistent one, which may be started in any order;
 * within the own group of two
 */
#define TAG_NUMBER 0x1fffffff
#define TAG_LOCAL 0x20000000
#define TAG_PERSISTENT 0x40000000

enum step_kind { STEP_SEND, STEP_RECV, STEP_COPY, STEP_ROWS, STEP_REDUCE };

struct step {
	uint8_t kind;
	bool last;			/* of its round */
	bool local;			/* the peer is in the own group */
	int peer;
	struct span span;		/* what is sent, or the target */
	/* copy and reduce: the source; rows: where they are described */
	struct span from;
};

#endif
