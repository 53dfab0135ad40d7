/* SPDX-License-Identifier: MIT
 *
 * How two groups become an intercommunicator.
 */
#ifndef MPI_API_INTERCOMM_H
#define MPI_API_INTERCOMM_H

#include <mpi.h>

struct mpi_rank;
struct comm;

/* The two groups that meet, and where. */
struct meeting {
	struct mpi_rank *self;
	struct comm *local;
	int leader;
	struct comm *peer;		/* at the leader */
	int remote_leader;
	int tag;
};

/* All ranks of both groups call it. Error class. */
int intercomm_create(const struct meeting *m, MPI_Comm *newcomm);

#endif
