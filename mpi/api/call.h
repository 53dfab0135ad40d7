/* SPDX-License-Identifier: MIT
 *
 * What the generated bindings stand on: entering and leaving the library, and the checks of
 * arguments. A check returns an error class; those that take a handle also resolve it. What a
 * binding has checked, the implementation need not check again.
 *
 * Every check is made before anything is changed.
 */
#ifndef MPI_API_CALL_H
#define MPI_API_CALL_H

#include <limits.h>
#include <mpi/core/numbers.h>
#include <mpi/core/rank.h>
#include <mpi/core/type.h>

struct info;
struct window;
struct file;
struct session;

/*
 * PMPI_X is also MPI_X, for programs that bring none of their own. Seen from outside as mpi.h
 * declares it, which clang's `#pragma weak` forgets.
 */
#define ALSO_AS_MPI(name) extern __typeof__(PMPI_##name) MPI_##name __attribute__((weak, \
	alias("PMPI_" #name)))

/* One call of the program. */
struct call {
	struct mpi_rank *self;
	/* whose error handler gets an error; NULL: that of MPI_COMM_SELF */
	struct comm *comm;
	struct comm *held;		/* the same, if only this call may still know it */
	const char *function;		/* its name, for messages */
	bool large;			/* the twin with counts of type MPI_Count */
	bool locked;
	/* where an error goes instead, if there is an error handler in it */
	struct raised_on raised_on;
};

/*
 * The library is not open: a message that names the function and says what is to be done ends the
 * job, or MPI_ERR_OTHER, if the initial error handler is the one that returns. Nobody else gets
 * this error.
 */
int call_refuse(struct call *call);

/* Enter the library. `any_time`: also before MPI_Init and after MPI_Finalize. */
static inline int
call_enter(struct call *call, const char *function, bool any_time)
{
	call->self = mpi_self();
	call->comm = call->held = NULL;
	call->function = function;
	call->raised_on.errhandler = NULL;
	call->locked = call->self->thread_level == MPI_THREAD_MULTIPLE;
	if (call->locked)
		mpi_rank_lock(call->self);
	if (!any_time)
		return __builtin_expect(call->self->state == RANK_RUNNING, 1) ? MPI_SUCCESS :
			call_refuse(call);
	if (!call->self->prepared)
		mpi_rank_init(call->self);
	return MPI_SUCCESS;
}

/* Errors of files go to the handler of MPI_FILE_NULL, as long as there is no file. */
static inline void
call_for_files(struct call *call)
{
	if (call->raised_on.errhandler != NULL)
		return;
	call->raised_on = (struct raised_on){call->self->file_errhandler, (uintptr_t)MPI_FILE_NULL};
}

/*
 * There are no files: MPI_ERR_UNSUPPORTED_OPERATION. Their handler returns unless the program sets
 * another one, and few programs look: the first such call is named on stderr.
 */
int call_without_files(struct call *call);

/*
 * The communicator whose request has failed gets the error, even if the program has freed it:
 * `call` takes over a reference.
 */
static inline void
call_failed_on(struct call *call, struct comm *c)
{
	call->comm = call->held = c;
}

/* An error goes to call->held, which is let go then. */
int call_raise_on_held(struct call *call, int err);

/* Leave it; an error goes through the error handler. Returns what the program gets. */
static inline int
call_leave(struct call *call, int err)
{
	if (call->locked)
		mpi_rank_unlock(call->self);
	if (err != MPI_SUCCESS && call->raised_on.errhandler != NULL)
		return mpi_raise_on(call->self, call->raised_on, err, call->function);
	if (err == MPI_SUCCESS)
		return err;
	return call->held != NULL ? call_raise_on_held(call, err)
		: mpi_raise(call->self, call->comm, err, call->function);
}

/* Handles. The first communicator is the one whose error handler counts. */
static inline int
call_comm(struct call *call, MPI_Comm handle, struct comm **c)
{
	*c = mpi_comm_find(call->self, handle);
	if (*c != NULL && call->comm == NULL)
		call->comm = *c;
	return *c ? MPI_SUCCESS : MPI_ERR_COMM;
}

int call_group(struct call *call, MPI_Group handle, struct group **g);
int call_errhandler(struct call *call, MPI_Errhandler handle, struct errhandler **e);
/* The one that also gets the errors of this call; it must be one for such objects. */
int call_raises(struct call *call, enum errhandler_kind kind, MPI_Errhandler handle,
	struct errhandler **e);
int call_type(struct call *call, MPI_Datatype handle, struct type **t);
int call_committed(struct call *call, MPI_Datatype handle, struct type **t);
int call_op(struct call *call, MPI_Op op);
/* MPI_INFO_NULL: NULL */
int call_info(struct call *call, MPI_Info handle, struct info **i);
/* MPI_INFO_NULL is an error */
int call_info_given(struct call *call, MPI_Info handle, struct info **i);
int call_window(struct call *call, MPI_Win handle, struct window **w);
int call_file(struct call *call, MPI_File handle, struct file **f);
int call_session(struct call *call, MPI_Session handle, struct session **s);

/* Handles as integers, for Fortran: the low 32 bits; the rest comes back from the table. */
int call_toint(uintptr_t handle);
uintptr_t call_fromint(enum handle_kind kind, int number);

static inline int
call_count(MPI_Count count)
{
	return count >= 0 ? MPI_SUCCESS : MPI_ERR_COUNT;
}

/* An argument that must not be NULL. */
static inline int
call_pointer(const void *pointer)
{
	return pointer != NULL ? MPI_SUCCESS : MPI_ERR_ARG;
}

/* An array with that many elements. */
static inline int
call_array(MPI_Count count, const void *array)
{
	return count <= 0 || array != NULL ? MPI_SUCCESS : MPI_ERR_ARG;
}

/*
 * A buffer of the program's, whose bytes can be counted; MPI_BOTTOM is NULL, so that only a type
 * with small displacements tells that it is missing.
 */
static inline int
call_buffer(const void *buffer, MPI_Count count, const struct type *t)
{
	MPI_Count bytes;

	if (!mpi_type_bytes(t, count, &bytes))
		return MPI_ERR_COUNT;
	return buffer == NULL && count > 0 && mpi_type_needs_buffer(t) ? MPI_ERR_BUFFER :
		MPI_SUCCESS;
}

/* Ranks of the communicator that messages go to and come from. */
static inline int
call_dest(const struct comm *c, int rank)
{
	return (rank >= 0 && rank < mpi_comm_peers(c)) || rank == MPI_PROC_NULL ? MPI_SUCCESS :
		MPI_ERR_RANK;
}

static inline int
call_source(const struct comm *c, int rank)
{
	return rank == MPI_ANY_SOURCE ? MPI_SUCCESS : call_dest(c, rank);
}

/* A member of the communicator itself. */
static inline int
call_rank(const struct comm *c, int rank)
{
	return rank >= 0 && rank < c->size ? MPI_SUCCESS : MPI_ERR_RANK;
}

static inline int
call_send_tag(int tag)
{
	return tag >= 0 ? MPI_SUCCESS : MPI_ERR_TAG;
}

static inline int
call_recv_tag(int tag)
{
	return tag >= 0 || tag == MPI_ANY_TAG ? MPI_SUCCESS : MPI_ERR_TAG;
}

/* A root; between two groups also MPI_ROOT and MPI_PROC_NULL. */
int call_root(const struct comm *c, int root);

/* Outputs of the functions with narrow counts: MPI_UNDEFINED where the value does not fit. */
static inline int
narrow_int(MPI_Count value)
{
	return value >= INT_MIN && value <= INT_MAX ? (int)value : MPI_UNDEFINED;
}

static inline MPI_Aint
narrow_aint(MPI_Count value)
{
	return value >= INTPTR_MIN && value <= INTPTR_MAX ? (MPI_Aint)value : MPI_UNDEFINED;
}

#endif
