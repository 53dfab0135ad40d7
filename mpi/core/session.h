/* SPDX-License-Identifier: MIT
 *
 * Sessions: a use of the library that begins with a group of ranks that has a name, a process set,
 * not with MPI_COMM_WORLD. Groups that come from a session, and communicators that are made of
 * them, know it.
 */
#ifndef MPI_CORE_SESSION_H
#define MPI_CORE_SESSION_H

#include <mpi/core/errhandler.h>
#include <mpi/core/send_buffer.h>

struct mpi_rank;

struct session {
	int references;			/* the handle, and each group and communicator */
	int thread_level;
	struct errhandler *errhandler;
	struct send_buffer buffer;	/* of buffered sends on its communicators that have none */
	uintptr_t handle;
};

/* A new one with a handle. NULL: no memory. */
struct session *mpi_session_new(struct mpi_rank *self, struct errhandler *errhandler);

/* NULL is allowed: what comes from no session. */
struct session *mpi_session_hold(struct session *s);
void mpi_session_release(struct mpi_rank *self, struct session *s);

#endif
