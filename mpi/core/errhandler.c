/* SPDX-License-Identifier: MIT
 *
 * Error handlers.
 */
#include <stdio.h>
#include <stdlib.h>
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

void
mpi_errhandler_release(struct mpi_rank *self, struct errhandler *e)
{
	bool predefined = e >= self->errhandlers && e < self->errhandlers + ERRORS_PREDEFINED;

	if (--e->references > 0 || predefined)
		return;
	mpi_handle_drop(&self->tables[HANDLE_ERRHANDLER], e->handle);
	free(e);
}

void
mpi_die(struct mpi_rank *self, int status, const char *message)
{
	fprintf(stderr, "MPI rank %d: %s\n", self->world_rank, message);
	transport_abort(self, status);
}

static void
die_of(struct mpi_rank *self, int code, const char *function)
{
	char message[160];

	if (code == MPI_ERR_PROC_ABORTED && self->lost_cluster)
		transport_abort(self, 1);
	snprintf(message, sizeof(message), "%s: %s", function, mpi_error_text(code));
	mpi_die(self, 1, message);
}

int
mpi_raise(struct mpi_rank *self, struct comm *c, int code, const char *function)
{
	struct errhandler *e;
	MPI_Comm handle;

	if (code == MPI_SUCCESS)
		return code;
	if (self->state != RANK_RUNNING)
		die_of(self, code, function);
	if (c == NULL)
		c = &self->self;
	e = c->errhandler;
	if (e == &self->errhandlers[ERRORS_ARE_FATAL] || e == &self->errhandlers[ERRORS_ABORT])
		die_of(self, code, function);
	if (e->function != NULL) {
		handle = mpi_comm_handle(c);
		e->function(&handle, &code);
	}
	return code;
}
