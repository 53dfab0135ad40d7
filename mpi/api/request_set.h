/* SPDX-License-Identifier: MIT
 *
 * Several requests, as Waitany and its kin take them, resolved once.
 */
#ifndef MPI_API_REQUEST_SET_H
#define MPI_API_REQUEST_SET_H

#include <mpi/api/call.h>
#include <mpi/core/request.h>

#define SET_FEW 64

struct set {
	struct mpi_rank *self;
	MPI_Request *handles;		/* the program's */
	struct request **requests;	/* NULL: none, or not active */
	int count;
	struct request *few[SET_FEW];
	struct comm *failed;		/* of the first request that failed, or NULL */
};

/* Resolve and check all. Error class; on success close it again. */
int set_open(struct set *s, struct mpi_rank *self, const MPI_Request *handles, int count);
void set_close(struct set *s);

/*
 * The active request of a handle; NULL and MPI_SUCCESS for MPI_REQUEST_NULL and for a persistent
 * one that was not started.
 */
int set_find(struct mpi_rank *self, MPI_Request handle, struct request **r);

/* Number of the first request that is done, -1: none yet, count: there is none that is active. */
int set_first_done(const struct set *s);

/*
 * Are all (is one) done? Arguments of mpi_wait_until. One is also if there is none that is active.
 */
bool set_all_done(const void *set);
bool set_any_done(const void *set);

/* The program learns of number i, which is done: status out, freed or inactive. Error class. */
int set_finish(struct set *s, int i, MPI_Status *status);

/*
 * A failure among those that were finished goes to the error handler of its communicator, that of
 * the first if there are several.
 */
void set_raise(const struct set *s, struct call *call);

/* The same for a single request; a failure goes to the error handler of its communicator. */
int set_finish_one(struct call *call, struct request *r, MPI_Request *handle, MPI_Status *status);

#endif
