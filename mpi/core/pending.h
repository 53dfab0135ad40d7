/* SPDX-License-Identifier: MIT
 *
 * Operations that go on beside the program and are more than one message: progress drives them.
 */
#ifndef MPI_CORE_PENDING_H
#define MPI_CORE_PENDING_H

#include <stdbool.h>
#include <base/list.h>

struct pending {
	struct list link;					/* in mpi_rank.pending */
	/* go on as far as possible; true if something moved. May free *p */
	bool (*advance)(struct pending *p);
	/* would it? Asked before the rank sleeps */
	bool (*can_move)(const struct pending *p);
	/*
	 * The rank has begun to wait for this one, which request.pending names: look a few
	 * turns at what it needs, and at nothing else, and go on. May free *p.
	 */
	void (*spin)(struct pending *p);
};

#endif
