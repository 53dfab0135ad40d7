/* SPDX-License-Identifier: MIT
 *
 * Functions of the program that the library calls: operations, error handlers, generalised
 * requests.
 *
 * An operation and an error handler get nothing that tells which function of Fortran is meant. So
 * there is a table of functions, and one function of C for each place in it. A function has one
 * place however often it is handed over, and keeps it: an operation may still run after it was
 * freed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <mpi/fortran/routines.h>

typedef void fortran_function(void);
typedef void fortran_operation(void *in, void *inout, int *len, int *type);
typedef void fortran_handler(int *handle, int *code);

#define PLACES 32
#define FOR_PLACES(X) \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) \
	X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) \
	X(30) X(31)

static fortran_function *operations[PLACES], *comm_handlers[PLACES], *session_handlers[PLACES];

#define OPERATION(i) \
	static void operation_##i(void *in, void *inout, int *len, MPI_Datatype *type) \
	{ \
		int t = MPI_Type_toint(*type); \
		((fortran_operation *)operations[i])(in, inout, len, &t); \
	}
#define COMM_HANDLER(i) \
	static void comm_handler_##i(MPI_Comm *comm, int *code, ...) \
	{ \
		int c = MPI_Comm_toint(*comm); \
		((fortran_handler *)comm_handlers[i])(&c, code); \
	}
#define SESSION_HANDLER(i) \
	static void session_handler_##i(MPI_Session *session, int *code, ...) \
	{ \
		int s = MPI_Session_toint(*session); \
		((fortran_handler *)session_handlers[i])(&s, code); \
	}
FOR_PLACES(OPERATION)
FOR_PLACES(COMM_HANDLER)
FOR_PLACES(SESSION_HANDLER)

#define OPERATION_NAME(i) operation_##i,
#define COMM_HANDLER_NAME(i) comm_handler_##i,
#define SESSION_HANDLER_NAME(i) session_handler_##i,
static MPI_User_function *const operation_of[] = {FOR_PLACES(OPERATION_NAME)};
static MPI_Comm_errhandler_function *const comm_handler_of[] = {FOR_PLACES(COMM_HANDLER_NAME)};
static MPI_Session_errhandler_function *const session_handler_of[] =
	{FOR_PLACES(SESSION_HANDLER_NAME)};

/*
 * The place of a function, or -1: all are taken. Threads may hand functions over at the same time.
 */
static int
place_of(fortran_function **table, fortran_function *f)
{
	for (int i = 0; i < PLACES; i++) {
		fortran_function *seen = NULL;

		if (__atomic_compare_exchange_n(&table[i], &seen, f, 0, __ATOMIC_ACQ_REL,
				__ATOMIC_ACQUIRE) || seen == f)
			return i;
	}
	fprintf(stderr, "atoll: a Fortran program may hand over %d different functions of a kind\n",
		PLACES);
	return -1;
}

FORTRAN_ROUTINE(op_create, (fortran_function *f, const int *commute, int *op, int *ierror))
{
	int i = place_of(operations, f);
	MPI_Op c = MPI_OP_NULL;

	*ierror = i < 0 ? MPI_ERR_NO_MEM : MPI_Op_create(operation_of[i], *commute, &c);
	*op = MPI_Op_toint(c);
}

FORTRAN_ROUTINE(comm_create_errhandler, (fortran_function *f, int *errhandler, int *ierror))
{
	int i = place_of(comm_handlers, f);
	MPI_Errhandler c = MPI_ERRHANDLER_NULL;

	*ierror = i < 0 ? MPI_ERR_NO_MEM : MPI_Comm_create_errhandler(comm_handler_of[i], &c);
	*errhandler = MPI_Errhandler_toint(c);
}

FORTRAN_ROUTINE(session_create_errhandler, (fortran_function *f, int *errhandler, int *ierror))
{
	int i = place_of(session_handlers, f);
	MPI_Errhandler c = MPI_ERRHANDLER_NULL;

	*ierror = i < 0 ? MPI_ERR_NO_MEM : MPI_Session_create_errhandler(session_handler_of[i], &c);
	*errhandler = MPI_Errhandler_toint(c);
}

struct generalised {
	void (*query)(MPI_Aint *state, int *status, int *ierror);
	void (*free)(MPI_Aint *state, int *ierror);
	void (*cancel)(MPI_Aint *state, int *complete, int *ierror);
	MPI_Aint state;
};

static int
generalised_query(void *extra, MPI_Status *status)
{
	struct generalised *g = extra;
	int err = MPI_SUCCESS;

	g->query(&g->state, (int *)status, &err);
	return err;
}

static int
generalised_free(void *extra)
{
	struct generalised *g = extra;
	int err = MPI_SUCCESS;

	g->free(&g->state, &err);
	free(g);
	return err;
}

static int
generalised_cancel(void *extra, int complete)
{
	struct generalised *g = extra;
	int err = MPI_SUCCESS;

	g->cancel(&g->state, &complete, &err);
	return err;
}

FORTRAN_ROUTINE(grequest_start,
    (void (*query)(MPI_Aint *, int *, int *), void (*release)(MPI_Aint *, int *),
	void (*cancel)(MPI_Aint *, int *, int *),
	const MPI_Aint *state, int *request, int *ierror))
{
	struct generalised *g = malloc(sizeof(*g));
	MPI_Request c = MPI_REQUEST_NULL;

	*ierror = MPI_ERR_NO_MEM;
	if (g != NULL) {
		*g = (struct generalised){query, release, cancel, *state};
		*ierror = MPI_Grequest_start(generalised_query, generalised_free,
			generalised_cancel, g, &c);
	}
	if (*ierror != MPI_SUCCESS)
		free(g);
	*request = MPI_Request_toint(c);
}
