/* SPDX-License-Identifier: MIT
 *
 * How the functions that make communicators end: each rank has made its part, or has failed to; the
 * members agree on a number; all have the communicator, or nobody.
 */
#ifndef MPI_API_NEWCOMM_H
#define MPI_API_NEWCOMM_H

#include <mpi/api/call.h>
#include <mpi/pt2pt/agree.h>

/* What a rank brings. */
struct newcomm {
	struct comm *made;		/* NULL: this rank is no member of it */
	/* class; not MPI_SUCCESS: there is nothing to make it of (`made` is NULL) */
	int err;
};

/*
 * Agree with all of the circle; *handle is MPI_COMM_NULL where the rank is no member. Error class;
 * `made` is gone then.
 */
int newcomm_agree(struct mpi_rank *self, struct circle circle, struct newcomm n, MPI_Comm *handle);

/* The same with all ranks of c. */
int newcomm_of(struct mpi_rank *self, struct comm *c, struct newcomm n, MPI_Comm *handle);

/* A communicator of the group (taken over; NULL: out of memory). */
struct newcomm newcomm_group(struct mpi_rank *self, struct comm *like, struct group *g);

/* A copy of c; info (or NULL) has the hints. Copy functions of attributes run here. */
struct newcomm newcomm_copy(struct mpi_rank *self, struct comm *c, const struct info *info);

/* The handle is of no use: nobody will have the communicator. */
void newcomm_abandon(struct mpi_rank *self, struct comm *made);

/* Split as MPI_Comm_split does; color may be MPI_UNDEFINED. */
int newcomm_split(struct mpi_rank *self, struct comm *c, int color, int key, MPI_Comm *newcomm);

/* The hints of `from` that the library knows. NULL: none (also if there is no memory). */
struct info *newcomm_hints(const struct info *from);

#endif
