/* SPDX-License-Identifier: MIT
 *
 * Where ranks of one cluster meet. Zero is the start. Ranks that share a core (transport_lane) are
 * counted first among themselves, on a line that does not leave their core.
 */
#ifndef MPI_TRANSPORT_SYNC_H
#define MPI_TRANSPORT_SYNC_H

#include <mpi/transport/shared.h>

#define LANES_MAX 16
#define BRIEF_BYTES 32

struct sync {
	_Alignas(CACHE_LINE) uint32_t arrived;	/* lanes, or ranks, that have come to the present meeting */
	_Alignas(CACHE_LINE) uint32_t epoch;	/* meetings that are over; changed by the last one to come */
	uint32_t drowsy;			/* somebody is about to sleep: the last one must wake */
	int32_t error;				/* class: what the one that opens met with, before its doors open */
	_Alignas(16) char result[BRIEF_BYTES];	/* of a brief meeting (coll/brief.h), before its doors open */
	struct {
		_Alignas(CACHE_LINE) uint32_t arrived;
	} lane[LANES_MAX];
};

#endif
