/* SPDX-License-Identifier: MIT
 *
 * Chapter errors: classes and handlers.
 */
#include <string.h>
#include <mpi_impl.h>
#include <mpi/core/errcodes.h>

int
impl_Error_class(struct call *call, const struct args_Error_class *a)
{
	int class = mpi_errcode_class(call->self, a->errorcode);

	if (class < 0)
		return MPI_ERR_ARG;
	*a->errorclass = class;
	return MPI_SUCCESS;
}

int
impl_Error_string(struct call *call, const struct args_Error_string *a)
{
	const char *text = mpi_errcode_text(call->self, a->errorcode);

	if (text == NULL)
		return MPI_ERR_ARG;
	strcpy(a->string, text);
	*a->resultlen = (int)strlen(text);
	return MPI_SUCCESS;
}

int
impl_Add_error_class(struct call *call, const struct args_Add_error_class *a)
{
	return mpi_errcode_add_class(call->self, a->errorclass);
}

int
impl_Add_error_code(struct call *call, const struct args_Add_error_code *a)
{
	return mpi_errcode_add(call->self, a->errorclass, a->errorcode);
}

int
impl_Add_error_string(struct call *call, const struct args_Add_error_string *a)
{
	return mpi_errcode_name(call->self, a->errorcode, a->string);
}

int
impl_Remove_error_class(struct call *call, const struct args_Remove_error_class *a)
{
	return mpi_errcode_remove(call->self, a->errorclass, true);
}

int
impl_Remove_error_code(struct call *call, const struct args_Remove_error_code *a)
{
	return mpi_errcode_remove(call->self, a->errorcode, false);
}

int
impl_Remove_error_string(struct call *call, const struct args_Remove_error_string *a)
{
	return mpi_errcode_unname(call->self, a->errorcode);
}

int
impl_Errhandler_free(struct call *call, const struct args_Errhandler_free *a)
{
	struct errhandler *e = mpi_errhandler_find(call->self, *a->errhandler);

	if (e == NULL)
		return MPI_ERR_ERRHANDLER;
	*a->errhandler = MPI_ERRHANDLER_NULL;
	mpi_errhandler_forget(call->self, e);
	return MPI_SUCCESS;
}

int
impl_Comm_create_errhandler(struct call *call, const struct args_Comm_create_errhandler *a)
{
	return mpi_errhandler_new(call->self, ERRHANDLER_COMM,
		(void (*)(void))a->comm_errhandler_fn, a->errhandler);
}

int
impl_Win_create_errhandler(struct call *call, const struct args_Win_create_errhandler *a)
{
	return mpi_errhandler_new(call->self, ERRHANDLER_WIN, (void (*)(void))a->win_errhandler_fn,
		a->errhandler);
}

int
impl_File_create_errhandler(struct call *call, const struct args_File_create_errhandler *a)
{
	return mpi_errhandler_new(call->self, ERRHANDLER_FILE,
		(void (*)(void))a->file_errhandler_fn, a->errhandler);
}

int
impl_Comm_get_errhandler(struct call *call, const struct args_Comm_get_errhandler *a)
{
	return mpi_errhandler_publish(call->self, a->comm->errhandler, a->errhandler);
}

int
impl_Comm_set_errhandler(struct call *call, const struct args_Comm_set_errhandler *a)
{
	return mpi_errhandler_set(call->self, &a->comm->errhandler, a->errhandler, ERRHANDLER_COMM);
}

int
impl_Comm_call_errhandler(struct call *call, const struct args_Comm_call_errhandler *a)
{
	if (mpi_errcode_class(call->self, a->errorcode) < 0)
		return MPI_ERR_ARG;
	mpi_raise(call->self, a->comm, a->errorcode, call->function);
	return MPI_SUCCESS;
}

/* Files have a handler before they are opened: that of MPI_FILE_NULL. */
static int
of_file(MPI_File handle)
{
	return handle == MPI_FILE_NULL ? MPI_SUCCESS : MPI_ERR_FILE;
}

int
impl_File_get_errhandler(struct call *call, const struct args_File_get_errhandler *a)
{
	int err = of_file(a->file);

	return err == MPI_SUCCESS ? mpi_errhandler_publish(call->self, call->self->file_errhandler,
		a->errhandler) : err;
}

int
impl_File_set_errhandler(struct call *call, const struct args_File_set_errhandler *a)
{
	int err = of_file(a->file);

	return err == MPI_SUCCESS ? mpi_errhandler_set(call->self, &call->self->file_errhandler,
		a->errhandler, ERRHANDLER_FILE) : err;
}

int
impl_File_call_errhandler(struct call *call, const struct args_File_call_errhandler *a)
{
	struct raised_on where = {call->self->file_errhandler, (uintptr_t)a->fh};
	int err = of_file(a->fh);

	if (err == MPI_SUCCESS && mpi_errcode_class(call->self, a->errorcode) < 0)
		err = MPI_ERR_ARG;
	if (err == MPI_SUCCESS)
		mpi_raise_on(call->self, where, a->errorcode, call->function);
	return err;
}
