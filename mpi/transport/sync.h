/* SPDX-License-Identifier: MIT
 *
 * Where all ranks of a job that lives in one cluster meet, in their shared area. Zero is the start.
 */
#ifndef MPI_TRANSPORT_SYNC_H
#define MPI_TRANSPORT_SYNC_H

#include <mpi/core/shared.h>

struct sync {
	_Alignas(CACHE_LINE) uint32_t arrived;	/* ranks that have come to the present meeting */
	_Alignas(CACHE_LINE) uint32_t epoch;	/* meetings that are over; changed by the last one to come */
	uint32_t drowsy;			/* somebody is about to sleep: the last one must wake */
};

#endif
