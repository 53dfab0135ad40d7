/* SPDX-License-Identifier: MIT
 *
 * Error handlers on all that may have one, and classes, codes and texts of the program's own.
 */
#include "check.h"

static int called, last;
static MPI_Comm on;

static void
handler(MPI_Comm *comm, int *code, ...)
{
	called++;
	last = *code;
	on = *comm;
}

static void
file_handler(MPI_File *file, int *code, ...)
{
	called += *file == MPI_FILE_NULL ? 100 : 1000;
	last = *code;
}

static void
inherited(struct check *c)
{
	MPI_Errhandler e, got, stale;
	MPI_Comm a, b;

	MPI_Comm_create_errhandler(handler, &e);
	MPI_Comm_dup(MPI_COMM_WORLD, &a);
	MPI_Comm_set_errhandler(a, e);
	stale = e;
	MPI_Errhandler_free(&e);
	CHECK(c, e == MPI_ERRHANDLER_NULL);
	/* the program has no handle any more, the communicator still has the handler */
	CHECK(c, MPI_Comm_set_errhandler(MPI_COMM_WORLD, stale) == MPI_ERR_ERRHANDLER);
	MPI_Comm_dup(a, &b);
	called = 0;
	CHECK(c, MPI_Send(NULL, 0, MPI_INT, -5, 0, b) == MPI_ERR_RANK);
	CHECK(c, called == 1 && last == MPI_ERR_RANK && on == b);
	MPI_Comm_get_errhandler(b, &got);
	MPI_Comm_free(&a);
	MPI_Comm_free(&b);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, got);
	CHECK(c, MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_TAG) == MPI_SUCCESS);
	CHECK(c, called == 2 && last == MPI_ERR_TAG && on == MPI_COMM_SELF);
	/* an error without a communicator goes there */
	CHECK(c, MPI_Type_size(MPI_DATATYPE_NULL, &last) == MPI_ERR_TYPE && called == 3);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Errhandler_free(&got);
}

static void
files(struct check *c)
{
	MPI_Errhandler e, got;

	MPI_File_get_errhandler(MPI_FILE_NULL, &got);
	CHECK(c, got == MPI_ERRORS_RETURN);
	MPI_File_create_errhandler(file_handler, &e);
	CHECK(c, MPI_Comm_set_errhandler(MPI_COMM_WORLD, e) == MPI_ERR_ERRHANDLER);
	MPI_File_set_errhandler(MPI_FILE_NULL, e);
	called = 0;
	MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO);
	CHECK(c, called == 100 && last == MPI_ERR_IO);
	MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
	MPI_Errhandler_free(&e);
}

static void
codes(struct check *c)
{
	char text[MPI_MAX_ERROR_STRING], longest[MPI_MAX_ERROR_STRING + 8];
	int class, code, got, len;

	MPI_Add_error_class(&class);
	MPI_Add_error_code(class, &code);
	CHECK(c, class > MPI_ERR_LASTCODE && code > class);
	MPI_Error_class(code, &got);
	CHECK(c, got == class);
	MPI_Error_string(code, text, &len);
	CHECK(c, len == 0 && text[0] == '\0');
	MPI_Add_error_string(code, "the coffee is cold");
	MPI_Error_string(code, text, &len);
	CHECK(c, len == 18 && strcmp(text, "the coffee is cold") == 0);
	CHECK(c, MPI_Add_error_string(MPI_ERR_ARG, "x") == MPI_ERR_ARG);
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	CHECK(c, MPI_Add_error_string(code, longest) == MPI_ERR_ARG);
	CHECK(c, MPI_Remove_error_class(class) == MPI_ERR_OTHER);
	CHECK(c, MPI_Remove_error_code(code) == MPI_ERR_OTHER);
	CHECK(c, MPI_Remove_error_code(class) == MPI_ERR_ARG);
	CHECK(c, MPI_Remove_error_string(code) == MPI_SUCCESS);
	CHECK(c, MPI_Remove_error_code(code) == MPI_SUCCESS);
	CHECK(c, MPI_Error_class(code, &got) == MPI_ERR_ARG);
	CHECK(c, MPI_Remove_error_class(class) == MPI_SUCCESS);
	CHECK(c, MPI_Add_error_code(class, &code) == MPI_ERR_ARG);
	CHECK(c, MPI_Error_string(-1, text, &len) == MPI_ERR_ARG);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	inherited(&c);
	files(&c);
	codes(&c);
	return check_end(&c);
}
