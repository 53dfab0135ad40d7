/* SPDX-License-Identifier: MIT
 *
 * Every function with one wrong argument at a time returns the class that the standard names,
 * through the error handler: one that returns, one of the program's, and ("fatal N": the call at N
 * percent) the one that ends the job. The calls are generated from the function table.
 */
#include "check.h"

#define GARBAGE ((uintptr_t)0x12345678)
#define ROOM 4096

struct wrong {
	const char *function;
	const char *what;
	int class;
	int (*call)(void);
};

/* What calls may refer to. */
static struct {
	MPI_Group group, stale_group;
	MPI_Comm stale_comm, cart, graph, dist;
	MPI_Op stale_op;
	MPI_Info info, stale_info;
	MPI_Errhandler stale_errhandler;
	MPI_Errhandler handler, session_handler;	/* that get the errors now */
	MPI_Session session, stale_session;
	int keyval;
	int ones[4];
	MPI_Count wide_ones[4];
	MPI_Datatype types[4];
	_Alignas(64) char room[16][ROOM];	/* an area for each parameter */
} w;

static void
nothing(void)
{
}

#include <mpi_wrong.h>

static int called, code;

static void
own_handler(MPI_Comm *comm, int *error, ...)
{
	(void)comm;
	called++;
	code = *error;
}

static void
own_file_handler(MPI_File *file, int *error, ...)
{
	(void)file;
	called++;
	code = *error;
}

static void
own_session_handler(MPI_Session *session, int *error, ...)
{
	(void)session;
	called++;
	code = *error;
}

static void
add_up(void *in, void *inout, int *len, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *len; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static void
prepare_stale(void)
{
	MPI_Comm c;
	MPI_Group g;
	MPI_Op o;
	MPI_Info i;
	MPI_Errhandler e;
	MPI_Session s;

	MPI_Comm_dup(MPI_COMM_SELF, &c);
	w.stale_comm = c;
	MPI_Comm_free(&c);
	MPI_Comm_group(MPI_COMM_WORLD, &g);
	w.stale_group = g;
	MPI_Group_free(&g);
	MPI_Op_create(add_up, 1, &o);
	w.stale_op = o;
	MPI_Op_free(&o);
	MPI_Info_create(&i);
	w.stale_info = i;
	MPI_Info_free(&i);
	MPI_Comm_create_errhandler(own_handler, &e);
	w.stale_errhandler = e;
	MPI_Errhandler_free(&e);
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
	w.stale_session = s;
	MPI_Session_finalize(&s);
}

static void
prepare(void)
{
	int one = 1, zero = 0;

	prepare_stale();
	w.ones[0] = 1;
	w.wide_ones[0] = 1;
	w.types[0] = MPI_INT;
	MPI_Comm_group(MPI_COMM_SELF, &w.group);
	MPI_Info_create(&w.info);
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &w.session);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &w.keyval, NULL);
	MPI_Cart_create(MPI_COMM_SELF, 1, &one, &zero, 0, &w.cart);
	MPI_Graph_create(MPI_COMM_SELF, 1, &zero, &zero, 0, &w.graph);
	MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 0, NULL, MPI_UNWEIGHTED, 0, NULL,
		MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &w.dist);
}

static void
handle_by(MPI_Errhandler e, MPI_Errhandler files, MPI_Errhandler sessions)
{
	w.handler = e;
	w.session_handler = sessions;
	MPI_Session_set_errhandler(w.session, sessions);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, e);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, e);
	MPI_Comm_set_errhandler(w.cart, e);
	MPI_Comm_set_errhandler(w.graph, e);
	MPI_Comm_set_errhandler(w.dist, e);
	MPI_File_set_errhandler(MPI_FILE_NULL, files);
}

/* All calls; a handler of the program's must be called once each. */
static void
all(struct check *c, int own)
{
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		const struct wrong *x = &wrongs[i];
		int result, class;

		called = 0;
		if (getenv("WRONG_VERBOSE") != NULL)
			fprintf(stderr, "%zu %s, %s\n", i, x->function, x->what);
		result = x->call();
		MPI_Error_class(result, &class);
		if (class != x->class)
			check_fail(c, "%zu: %s, %s: class %d instead of %d", i, x->function,
				x->what, class, x->class);
		else if (own && (called != 1 || code != result))
			check_fail(c, "%zu: %s, %s: the handler was called %d times, with %d", i,
				x->function, x->what, called, code);
	}
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	MPI_Errhandler own, own_file, own_session;

	prepare();
	MPI_Comm_create_errhandler(own_handler, &own);
	MPI_File_create_errhandler(own_file_handler, &own_file);
	MPI_Session_create_errhandler(own_session_handler, &own_session);
	if (argc > 2 && strcmp(argv[1], "fatal") == 0) {
		size_t n = sizeof(wrongs) / sizeof(wrongs[0]), i = n * (size_t)atoi(argv[2]) / 100;

		handle_by(MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ARE_FATAL);
		wrongs[i].call();
		printf("%s, %s: went on\n", wrongs[i].function, wrongs[i].what);
		return 0;
	}
	handle_by(MPI_ERRORS_RETURN, MPI_ERRORS_RETURN, MPI_ERRORS_RETURN);
	all(&c, 0);
	handle_by(own, own_file, own_session);
	all(&c, 1);
	handle_by(MPI_ERRORS_RETURN, MPI_ERRORS_RETURN, MPI_ERRORS_RETURN);
	MPI_Session_finalize(&w.session);
	return check_end(&c);
}
