/* SPDX-License-Identifier: MIT
 *
 * Error handlers, and the one way in which an error reaches the program.
 */
#ifndef MPI_CORE_ERRHANDLER_H
#define MPI_CORE_ERRHANDLER_H

#include <stdint.h>
#include <mpi.h>

struct mpi_rank;
struct comm;

struct errhandler {
	int references;
	MPI_Comm_errhandler_function *function;	/* NULL: predefined */
	uintptr_t handle;
};

/* The error handler of a handle, or NULL. */
struct errhandler *mpi_errhandler_find(struct mpi_rank *self, MPI_Errhandler handle);
struct errhandler *mpi_errhandler_hold(struct errhandler *e);
void mpi_errhandler_release(struct mpi_rank *self, struct errhandler *e);

/*
 * Report an error of `function` on a communicator (NULL: none, the error goes to MPI_COMM_SELF). Returns code if the handler returns;
 * ends the job, and does not return, if it is fatal. MPI_SUCCESS passes through.
 */
int mpi_raise(struct mpi_rank *self, struct comm *c, int code, const char *function);

/* The text of an error class, and whether there is such a class. */
const char *mpi_error_text(int class);

/* End the job with a message on stderr. */
void mpi_die(struct mpi_rank *self, int status, const char *message) __attribute__((noreturn));

#endif
