/* SPDX-License-Identifier: MIT
 *
 * Error handlers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <mpi/core/errcodes.h>
#include <mpi/core/rank.h>
#include <mpi/transport/transport.h>

struct errhandler *
mpi_errhandler_find(struct mpi_rank *self, MPI_Errhandler handle)
{
	uintptr_t first = (uintptr_t)MPI_ERRORS_ARE_FATAL, h = (uintptr_t)handle;

	if (h >= first && h < first + ERRORS_PREDEFINED)
		return &self->errhandlers[h - first];
	return mpi_handle_find(&self->tables[HANDLE_ERRHANDLER], h);
}

struct errhandler *
mpi_errhandler_hold(struct errhandler *e)
{
	e->references++;
	return e;
}

static bool
is_predefined(const struct errhandler *e)
{
	return e->function == NULL;
}

void
mpi_errhandler_release(struct mpi_rank *self, struct errhandler *e)
{
	(void)self;
	if (--e->references == 0 && !is_predefined(e))
		free(e);
}

int
mpi_errhandler_publish(struct mpi_rank *self, struct errhandler *e, MPI_Errhandler *handle)
{
	if (e->handle == 0)
		e->handle = mpi_handle_new(&self->tables[HANDLE_ERRHANDLER], e);
	if (e->handle == 0)
		return MPI_ERR_NO_MEM;
	e->handles++;
	mpi_errhandler_hold(e);
	*handle = (MPI_Errhandler)e->handle;
	return MPI_SUCCESS;
}

void
mpi_errhandler_forget(struct mpi_rank *self, struct errhandler *e)
{
	if (is_predefined(e))
		return;
	if (--e->handles == 0) {
		mpi_handle_drop(&self->tables[HANDLE_ERRHANDLER], e->handle);
		e->handle = 0;
	}
	mpi_errhandler_release(self, e);
}

int
mpi_errhandler_new(struct mpi_rank *self, enum errhandler_kind kind, void (*function)(void),
	MPI_Errhandler *handle)
{
	struct errhandler *e = function ? malloc(sizeof(*e)) : NULL;
	int err;

	if (e == NULL)
		return function ? MPI_ERR_NO_MEM : MPI_ERR_ARG;
	*e = (struct errhandler){.references = 1, .kind = kind, .function = function};
	err = mpi_errhandler_publish(self, e, handle);
	mpi_errhandler_release(self, e);
	return err;
}

int
mpi_errhandler_set(struct mpi_rank *self, struct errhandler **at, struct errhandler *e,
	enum errhandler_kind kind)
{
	if (e->kind != ERRHANDLER_ANY && e->kind != kind)
		return MPI_ERR_ERRHANDLER;
	mpi_errhandler_hold(e);
	mpi_errhandler_release(self, *at);
	*at = e;
	return MPI_SUCCESS;
}

struct errhandler *
mpi_errhandler_named(struct mpi_rank *self, const char *name)
{
	static const char *const names[ERRORS_PREDEFINED] = {"mpi_errors_are_fatal",
		"mpi_errors_abort", "mpi_errors_return"};

	for (int i = 0; name != NULL && i < ERRORS_PREDEFINED; i++)
		if (strcmp(name, names[i]) == 0)
			return &self->errhandlers[i];
	return NULL;
}

void
mpi_die(struct mpi_rank *self, int status, const char *message)
{
	char line[MPI_MAX_ERROR_STRING + 128];
	int len = snprintf(line, sizeof(line), "MPI rank %d: %s\n", self->world_rank, message);

	transport_flush();
	/* not by the stream, which another thread may hold */
	if (write(STDERR_FILENO, line, (size_t)len < sizeof(line) ? (size_t)len :
		sizeof(line) - 1) < 0)
		status = status != 0 ? status : 1;
	transport_abort(self, status);
}

static void
die_of(struct mpi_rank *self, int code, const char *function)
{
	char message[MPI_MAX_ERROR_STRING + 64];
	const char *text = mpi_errcode_text(self, code);

	if (code == MPI_ERR_PROC_ABORTED && self->lost_cluster)
		transport_abort(self, 1);
	snprintf(message, sizeof(message), "%s: %s", function, text ? text : "error");
	mpi_die(self, 1, message);
}

static void
call(const struct errhandler *e, uintptr_t handle, int code)
{
	switch (e->kind) {
	case ERRHANDLER_WIN:
		((MPI_Win_errhandler_function *)e->function)((MPI_Win *)&handle, &code);
		break;
	case ERRHANDLER_FILE:
		((MPI_File_errhandler_function *)e->function)((MPI_File *)&handle, &code);
		break;
	case ERRHANDLER_SESSION:
		((MPI_Session_errhandler_function *)e->function)((MPI_Session *)&handle, &code);
		break;
	case ERRHANDLER_ANY:
	case ERRHANDLER_COMM:
	default:
		((MPI_Comm_errhandler_function *)e->function)((MPI_Comm *)&handle, &code);
		break;
	}
}

int
mpi_raise_on(struct mpi_rank *self, struct raised_on where, int code, const char *function)
{
	struct errhandler *e = where.errhandler;

	if (code == MPI_SUCCESS)
		return code;
	if (e == &self->errhandlers[ERRORS_ARE_FATAL] || e == &self->errhandlers[ERRORS_ABORT])
		die_of(self, code, function);
	if (e->function != NULL) {
		mpi_errhandler_hold(e);		/* the function may free it */
		call(e, where.handle, code);
		mpi_errhandler_release(self, e);
	}
	return code;
}

int
mpi_raise(struct mpi_rank *self, struct comm *c, int code, const char *function)
{
	if (code == MPI_SUCCESS)
		return code;
	if (c == NULL && self->world_state == RANK_RUNNING)
		c = &self->self;
	if (c == NULL)
		return mpi_raise_on(self, (struct raised_on){self->initial, 0}, code, function);
	return mpi_raise_on(self, (struct raised_on){c->errhandler, (uintptr_t)mpi_comm_handle(c)},
		code, function);
}
