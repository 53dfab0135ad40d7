/* SPDX-License-Identifier: MIT
 *
 * Chapter errors: classes and handlers.
 */
#include <stdlib.h>
#include <string.h>
#include <mpi_impl.h>

int
impl_Error_class(struct call *call, const struct args_Error_class *a)
{
	(void)call;
	if (mpi_error_text(a->errorcode) == NULL)
		return MPI_ERR_ARG;
	*a->errorclass = a->errorcode;
	return MPI_SUCCESS;
}

int
impl_Error_string(struct call *call, const struct args_Error_string *a)
{
	const char *text = mpi_error_text(a->errorcode);

	(void)call;
	if (text == NULL)
		return MPI_ERR_ARG;
	strcpy(a->string, text);
	*a->resultlen = (int)strlen(text);
	return MPI_SUCCESS;
}

int
impl_Errhandler_free(struct call *call, const struct args_Errhandler_free *a)
{
	struct errhandler *e = mpi_errhandler_find(call->self, *a->errhandler);

	if (e == NULL)
		return MPI_ERR_ERRHANDLER;
	*a->errhandler = MPI_ERRHANDLER_NULL;
	mpi_errhandler_release(call->self, e);
	return MPI_SUCCESS;
}

int
impl_Comm_create_errhandler(struct call *call, const struct args_Comm_create_errhandler *a)
{
	struct errhandler *e = a->comm_errhandler_fn ? malloc(sizeof(*e)) : NULL;

	if (e == NULL)
		return a->comm_errhandler_fn ? MPI_ERR_NO_MEM : MPI_ERR_ARG;
	*e = (struct errhandler){.references = 1, .function = a->comm_errhandler_fn};
	e->handle = mpi_handle_new(&call->self->tables[HANDLE_ERRHANDLER], e);
	if (e->handle == 0) {
		free(e);
		return MPI_ERR_NO_MEM;
	}
	*a->errhandler = (MPI_Errhandler)e->handle;
	return MPI_SUCCESS;
}

int
impl_Comm_get_errhandler(struct call *call, const struct args_Comm_get_errhandler *a)
{
	(void)call;
	*a->errhandler = (MPI_Errhandler)mpi_errhandler_hold(a->comm->errhandler)->handle;
	return MPI_SUCCESS;
}

int
impl_Comm_set_errhandler(struct call *call, const struct args_Comm_set_errhandler *a)
{
	struct comm *c = a->comm;

	mpi_errhandler_hold(a->errhandler);
	mpi_errhandler_release(call->self, c->errhandler);
	c->errhandler = a->errhandler;
	return MPI_SUCCESS;
}

int
impl_Comm_call_errhandler(struct call *call, const struct args_Comm_call_errhandler *a)
{
	if (mpi_error_text(a->errorcode) == NULL)
		return MPI_ERR_ARG;
	mpi_raise(call->self, a->comm, a->errorcode, call->function);
	return MPI_SUCCESS;
}
