/* SPDX-License-Identifier: MIT
 *
 * The queues of matching, as a rank holds them. What is done with them is in mpi/pt2pt/match.h.
 */
#ifndef MPI_CORE_MATCHER_H
#define MPI_CORE_MATCHER_H

#include <stdint.h>
#include <base/list.h>
#include <mpi/transport/packet.h>

#define MATCH_BINS 32

/* a message that arrived before its receive */
struct unexpected {
	struct list bin;
	struct list all;
	struct packet packet;
};

struct matcher {
	struct list posted[MATCH_BINS];
	struct list posted_any;
	struct list unexpected[MATCH_BINS];
	struct list unexpected_all;
	uint64_t order;
	unsigned posted_count;
	unsigned unexpected_count;
	struct list spare;		/* unexpected entries to use again */
};

/* Nothing has come, and nobody waits. */
void mpi_match_init(struct matcher *m);

#endif
