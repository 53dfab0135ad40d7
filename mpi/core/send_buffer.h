/* SPDX-License-Identifier: MIT
 *
 * The buffer of buffered sends, which the program has attached to a communicator or to the rank
 * (api/buffered.h).
 */
#ifndef MPI_CORE_SEND_BUFFER_H
#define MPI_CORE_SEND_BUFFER_H

#include <stdbool.h>
#include <mpi.h>

struct copy;

struct send_buffer {
	bool attached;
	bool automatic;
	void *memory;
	MPI_Count bytes;
	struct copy *copies;		/* that are or were being sent */
};

#endif
