/* SPDX-License-Identifier: MIT
 *
 * Chapter errors.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi/api/check.h>
#include <mpi_twins_error.h>

int
PMPI_Error_class(int errorcode, int *errorclass)
{
	if (errorclass == NULL || mpi_error_text(errorcode) == NULL)
		return mpi_raise(mpi_self(), NULL, MPI_ERR_ARG, "MPI_Error_class");
	*errorclass = errorcode;
	return MPI_SUCCESS;
}

int
PMPI_Error_string(int errorcode, char *string, int *resultlen)
{
	const char *text = mpi_error_text(errorcode);

	if (text == NULL || string == NULL || resultlen == NULL)
		return mpi_raise(mpi_self(), NULL, MPI_ERR_ARG, "MPI_Error_string");
	strcpy(string, text);
	*resultlen = (int)strlen(text);
	return MPI_SUCCESS;
}

int
PMPI_Errhandler_free(MPI_Errhandler *errhandler)
{
	struct mpi_rank *self = mpi_self();
	int err = check_pointer(errhandler);
	struct errhandler *e = err == MPI_SUCCESS ? mpi_errhandler_find(self, *errhandler) : NULL;

	if (err == MPI_SUCCESS && e == NULL)
		err = MPI_ERR_ERRHANDLER;
	if (err != MPI_SUCCESS)
		return mpi_raise(self, NULL, err, "MPI_Errhandler_free");
	*errhandler = MPI_ERRHANDLER_NULL;
	mpi_errhandler_release(self, e);
	return MPI_SUCCESS;
}

static int
create(struct mpi_rank *self, MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler)
{
	struct errhandler *e = malloc(sizeof(*e));

	if (e == NULL)
		return MPI_ERR_NO_MEM;
	*e = (struct errhandler){.references = 1, .function = function};
	e->handle = mpi_handle_new(&self->tables[HANDLE_ERRHANDLER], e);
	if (e->handle == 0) {
		free(e);
		return MPI_ERR_NO_MEM;
	}
	*errhandler = (MPI_Errhandler)e->handle;
	return MPI_SUCCESS;
}

int
PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler)
{
	struct mpi_rank *self = mpi_self();
	int err = check_running(self);

	if (err == MPI_SUCCESS && (comm_errhandler_fn == NULL || errhandler == NULL))
		err = MPI_ERR_ARG;
	if (err == MPI_SUCCESS)
		err = create(self, comm_errhandler_fn, errhandler);
	return mpi_raise(self, NULL, err, "MPI_Comm_create_errhandler");
}

int
PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
	struct mpi_rank *self = mpi_self();
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS)
		err = check_pointer(errhandler);
	if (err == MPI_SUCCESS)
		*errhandler = (MPI_Errhandler)mpi_errhandler_hold(c->errhandler)->handle;
	return mpi_raise(self, c, err, "MPI_Comm_get_errhandler");
}

int
PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
	struct mpi_rank *self = mpi_self();
	struct comm *c;
	int err = check_comm(self, comm, &c);
	struct errhandler *e = err == MPI_SUCCESS ? mpi_errhandler_find(self, errhandler) : NULL;

	if (err == MPI_SUCCESS && e == NULL)
		err = MPI_ERR_ERRHANDLER;
	if (err == MPI_SUCCESS) {
		mpi_errhandler_hold(e);
		mpi_errhandler_release(self, c->errhandler);
		c->errhandler = e;
	}
	return mpi_raise(self, c, err, "MPI_Comm_set_errhandler");
}

int
PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
	struct mpi_rank *self = mpi_self();
	struct comm *c;
	int err = check_comm(self, comm, &c);

	if (err == MPI_SUCCESS && mpi_error_text(errorcode) == NULL)
		err = MPI_ERR_ARG;
	if (err != MPI_SUCCESS)
		return mpi_raise(self, c, err, "MPI_Comm_call_errhandler");
	mpi_raise(self, c, errorcode, "MPI_Comm_call_errhandler");
	return MPI_SUCCESS;
}
