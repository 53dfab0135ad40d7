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

/* on what a handler may be set; predefined ones on all */
enum errhandler_kind { ERRHANDLER_ANY, ERRHANDLER_COMM, ERRHANDLER_WIN, ERRHANDLER_FILE,
	ERRHANDLER_SESSION };

struct errhandler {
	int references;
	/* that the program has; the handle is valid as long as there is one */
	int handles;
	enum errhandler_kind kind;
	void (*function)(void);		/* NULL: predefined. Of the type of its kind */
	uintptr_t handle;		/* 0: none now */
};

/* The error handler of a handle, or NULL. */
struct errhandler *mpi_errhandler_find(struct mpi_rank *self, MPI_Errhandler handle);
struct errhandler *mpi_errhandler_hold(struct errhandler *e);
void mpi_errhandler_release(struct mpi_rank *self, struct errhandler *e);

/* A new one. Error class. */
int mpi_errhandler_new(struct mpi_rank *self, enum errhandler_kind kind, void (*function)(void),
	MPI_Errhandler *handle);

/* The program gets a handle to one, and gives one back. */
int mpi_errhandler_publish(struct mpi_rank *self, struct errhandler *e, MPI_Errhandler *handle);
void mpi_errhandler_forget(struct mpi_rank *self, struct errhandler *e);

/* Put e in place of *at. MPI_ERR_ERRHANDLER: it is for other objects. */
int mpi_errhandler_set(struct mpi_rank *self, struct errhandler **at, struct errhandler *e,
	enum errhandler_kind kind);

/* The predefined one of a name as in the info key "mpi_initial_errhandler"; NULL: there is none. */
struct errhandler *mpi_errhandler_named(struct mpi_rank *self, const char *name);

/* What an error is raised on: a handler, and the handle that it is called with. */
struct raised_on {
	struct errhandler *errhandler;
	uintptr_t handle;
};

/*
 * Report an error of `function`. Returns code if the handler returns; ends the job, and does not
 * return, if it is fatal. MPI_SUCCESS passes through.
 */
int mpi_raise_on(struct mpi_rank *self, struct raised_on where, int code, const char *function);

/*
 * The same on a communicator (NULL: none, the error goes to MPI_COMM_SELF; without it, to the
 * initial handler).
 */
int mpi_raise(struct mpi_rank *self, struct comm *c, int code, const char *function);

/* The text of an error class, and whether there is such a class. */
const char *mpi_error_text(int class);

/* End the job with a message on stderr. */
void mpi_die(struct mpi_rank *self, int status, const char *message) __attribute__((noreturn));

#endif
