/* SPDX-License-Identifier: MIT
 *
 * The words of a central barrier. Zero is the start. Ranks are counted in lanes first: those that
 * share a core, on a line that does not leave it; of ranks with a core each as many as there are
 * lanes, and each lane then has a line of its own on which it sees that all have come
 * (coll/central.h).
 */
#ifndef MPI_TRANSPORT_SYNC_H
#define MPI_TRANSPORT_SYNC_H

#include <mpi/transport/shared.h>

#define LANES_MAX 16
#define FAST_BYTES 32

/* The line on which ranks see that they may leave a central barrier. */
struct release {
	_Alignas(CACHE_LINE) uint32_t epoch;	/* central barriers that are over */
	/* of `all` only: somebody is about to sleep, the last one must wake */
	uint32_t has_sleepers;
	/* class: what the releasing rank found; of `all` only */
	int32_t error;
	/* of a fast central barrier (coll/central_fast.h) */
	_Alignas(16) char result[FAST_BYTES];
};

struct sync {
	_Alignas(CACHE_LINE) uint32_t arrived;	/* lanes, or ranks, that have arrived */
	struct release all;			/* of all ranks, unless lanes have their own */
	struct {
		_Alignas(CACHE_LINE) uint32_t arrived;
		struct release release;
	} lane[LANES_MAX];
};

#endif
