/* SPDX-License-Identifier: MIT
 *
 * The queues of matching, as a rank holds them. What is done with them is in mpi/pt2pt/match.h.
 */
#ifndef MPI_CORE_MATCHER_H
#define MPI_CORE_MATCHER_H

#include <stdint.h>
#include <mpi/core/list.h>
#include <mpi/transport/packet.h>

#define MATCH_BINS 32

/* a message that arrived before its receive */
struct unexpected {
	struct link bin;
	struct link all;
	struct packet packet;
};

struct matcher {
	struct link posted[MATCH_BINS];
	struct link posted_any;
	struct link unexpected[MATCH_BINS];
	struct link unexpected_all;
	uint64_t order;
	unsigned posted_count;
	unsigned unexpected_count;
	struct link spare;		/* unexpected entries to use again */
};

/* Nothing has come, and nobody waits. */
void mpi_match_init(struct matcher *m);

#endif
