/* SPDX-License-Identifier: MIT
 *
 * Sessions before, beside and after the world; their process sets, their communicators, their error
 * handlers and buffers.
 */
#include "check.h"
#include <strings.h>

static MPI_Session raised_on;
static int raised;

static void
remember(MPI_Session *session, int *code, ...)
{
	raised_on = *session;
	raised = check_class(*code);
}

static MPI_Session
open_session(struct check *c)
{
	MPI_Session s = MPI_SESSION_NULL;

	CHECK(c, MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s) == MPI_SUCCESS &&
		s != MPI_SESSION_NULL);
	return s;
}

static MPI_Group
group_of(struct check *c, MPI_Session s, const char *name)
{
	MPI_Group g = MPI_GROUP_NULL;

	CHECK(c, MPI_Group_from_session_pset(s, name, &g) == MPI_SUCCESS);
	MPI_Group_size(g, &c->size);
	MPI_Group_rank(g, &c->rank);
	return g;
}

/* All ranks, in one communicator; each knows the others. */
static MPI_Comm
comm_of(struct check *c, MPI_Group g, const char *tag)
{
	MPI_Comm comm = MPI_COMM_NULL;
	int sum = -1, rank = -1, size = -1;

	CHECK(c, MPI_Comm_create_from_group(g, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
		MPI_SUCCESS);
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
	CHECK(c, sum == size * (size - 1) / 2);
	return comm;
}

static void
process_sets(struct check *c, MPI_Session s)
{
	char name[MPI_MAX_PSET_NAME_LEN], value[16], shorter[4] = "???";
	int n = 0, len, flag, found = 0;
	MPI_Info info;

	MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n);
	CHECK(c, n >= 2);
	for (int i = 0; i < n; i++) {
		len = 0;
		MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &len, NULL);
		CHECK(c, len > 6 && len <= MPI_MAX_PSET_NAME_LEN);
		MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &len, name);
		CHECK(c, (int)strlen(name) + 1 == len);
		found += strcasecmp(name, "mpi://WORLD") == 0 ? 1 :
			strcasecmp(name, "mpi://SELF") == 0 ? 2 : 0;
	}
	CHECK(c, found == 3);
	len = sizeof(shorter);
	MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 0, &len, shorter);
	CHECK(c, strcmp(shorter, "mpi") == 0 && len > 6);
	CHECK(c, check_class(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, n, &len, name)) ==
		MPI_ERR_ARG);
	MPI_Session_get_pset_info(s, "mpi://SELF", &info);
	MPI_Info_get(info, "mpi_size", sizeof(value) - 1, value, &flag);
	CHECK(c, flag && strcmp(value, "1") == 0);
	MPI_Info_free(&info);
	CHECK(c, check_class(MPI_Session_get_pset_info(s, "mpi://NOBODY", &info)) == MPI_ERR_ARG);
}

/* The level that a session asks for and has, under the key's name now and in MPI 4.0. */
static void
thread_level(struct check *c, const char *key)
{
	char value[32] = "";
	MPI_Info wish, info;
	MPI_Session s;
	int flag = 0;

	MPI_Info_create(&wish);
	MPI_Info_set(wish, key, "MPI_THREAD_FUNNELED");
	MPI_Session_init(wish, MPI_ERRORS_RETURN, &s);
	MPI_Info_free(&wish);
	MPI_Session_get_info(s, &info);
	MPI_Info_get(info, key, sizeof(value) - 1, value, &flag);
	CHECK(c, flag && strcmp(value, "MPI_THREAD_FUNNELED") == 0);
	MPI_Info_free(&info);
	MPI_Session_finalize(&s);
	CHECK(c, s == MPI_SESSION_NULL);
}

/* A session that asks for no level has that of the others. */
static void
same_level(struct check *c)
{
	char outer[32] = "", inner[32] = "other";
	MPI_Info wish, info;
	MPI_Session first, second;
	int flag;

	MPI_Info_create(&wish);
	MPI_Info_set(wish, "thread_level", "MPI_THREAD_MULTIPLE");
	MPI_Session_init(wish, MPI_ERRORS_RETURN, &first);
	MPI_Info_free(&wish);
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second);
	MPI_Session_get_info(first, &info);
	MPI_Info_get(info, "thread_level", sizeof(outer) - 1, outer, &flag);
	MPI_Info_free(&info);
	MPI_Session_get_info(second, &info);
	MPI_Info_get(info, "thread_level", sizeof(inner) - 1, inner, &flag);
	MPI_Info_free(&info);
	CHECK(c, strcmp(inner, outer) == 0);
	MPI_Session_finalize(&second);
	MPI_Session_finalize(&first);
}

/* The errors of a session go to its handler. */
static void
handlers(struct check *c, MPI_Session s)
{
	MPI_Errhandler mine, now;
	MPI_Group g;

	MPI_Session_create_errhandler(remember, &mine);
	MPI_Session_set_errhandler(s, mine);
	MPI_Session_get_errhandler(s, &now);
	CHECK(c, now == mine);
	MPI_Errhandler_free(&now);
	CHECK(c, check_class(MPI_Group_from_session_pset(s, "nothing", &g)) == MPI_ERR_ARG);
	CHECK(c, raised == MPI_ERR_ARG && raised_on == s);
	MPI_Session_call_errhandler(s, MPI_ERR_INTERN);
	CHECK(c, raised == MPI_ERR_INTERN);
	MPI_Errhandler_free(&mine);
	MPI_Session_set_errhandler(s, MPI_ERRORS_RETURN);
}

/* A buffered send on a communicator of a session uses the session's buffer. */
static void
buffers(struct check *c, MPI_Session s, MPI_Comm comm)
{
	int rank, size, in = -1;
	static char room[1000 + MPI_BSEND_OVERHEAD];
	MPI_Request request;
	MPI_Comm copy;
	void *back;

	MPI_Comm_dup(comm, &copy);
	MPI_Comm_rank(copy, &rank);
	MPI_Comm_size(copy, &size);
	CHECK(c, check_class(MPI_Bsend(&rank, 1, MPI_INT, (rank + 1) % size, 5, copy)) ==
		MPI_ERR_BUFFER);
	MPI_Session_attach_buffer(s, room, sizeof(room));
	CHECK(c, MPI_Bsend(&rank, 1, MPI_INT, (rank + 1) % size, 5, copy) == MPI_SUCCESS);
	MPI_Session_iflush_buffer(s, &request);
	MPI_Recv(&in, 1, MPI_INT, (rank + size - 1) % size, 5, copy, MPI_STATUS_IGNORE);
	CHECK(c, in == (rank + size - 1) % size);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Session_flush_buffer(s);
	MPI_Session_detach_buffer(s, &back, &in);
	CHECK(c, back == room && in == (int)sizeof(room));
	MPI_Comm_free(&copy);
}

/* Even and odd ranks make communicators of their own at the same time, under one text. */
static void
halves(struct check *c, MPI_Group all)
{
	int range[1][3] = {{c->rank % 2, c->size - 1, 2}}, size, mine[2] = {c->rank, 1}, sum[2];
	MPI_Group half;
	MPI_Comm comm;

	MPI_Group_range_incl(all, 1, range, &half);
	MPI_Comm_create_from_group(half, "half", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
	MPI_Comm_size(comm, &size);
	MPI_Allreduce(mine, sum, 2, MPI_INT, MPI_SUM, comm);
	CHECK(c, sum[1] == size && (sum[0] - size * (c->rank % 2)) % 2 == 0);
	MPI_Comm_free(&comm);
	if (c->rank % 2 == 0 && c->size > 1) {
		range[0][0] = 1;
		MPI_Group_free(&half);
		MPI_Group_range_incl(all, 1, range, &half);
		CHECK(c, check_class(MPI_Comm_create_from_group(half, "half", MPI_INFO_NULL,
			MPI_ERRORS_RETURN, &comm)) == MPI_ERR_GROUP);
	}
	MPI_Group_free(&half);
	CHECK(c, MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "none", MPI_INFO_NULL,
		MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
	CHECK(c, comm == MPI_COMM_NULL);
}

static void
between(struct check *c, MPI_Group all)
{
	int low = c->size / 2, in_low = c->rank < low,
		range[2][1][3] = {{{0, low - 1, 1}}, {{low, c->size - 1, 1}}}, sum = 0, wanted = 0;
	MPI_Group part[2];
	MPI_Comm comm;

	if (c->size < 2)
		return;
	for (int i = 0; i < 2; i++)
		MPI_Group_range_incl(all, 1, range[i], &part[i]);
	/*
	 * the leader of the lower half is its last rank, that of the upper one its first; the rest
	 * need not know the other group
	 */
	MPI_Intercomm_create_from_groups(part[!in_low], in_low ? low - 1 : 0, c->rank == low - 1 ||
		c->rank == low ? part[in_low] : MPI_GROUP_EMPTY,
		in_low ? 0 : low - 1, "between", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
	MPI_Allreduce(&c->rank, &sum, 1, MPI_INT, MPI_SUM, comm);
	for (int i = 0; i < c->size; i++)
		wanted += (i < low) != in_low ? i : 0;
	CHECK(c, sum == wanted);
	MPI_Comm_free(&comm);
	MPI_Group_free(&part[0]);
	MPI_Group_free(&part[1]);
}

/* Without MPI_Init: the program has no MPI_COMM_WORLD. */
static void
before(struct check *c)
{
	MPI_Session s = open_session(c), other = open_session(c);
	MPI_Group all = group_of(c, s, "mpi://world");
	MPI_Comm comm = comm_of(c, all, "before");
	int flag = -1;

	MPI_Initialized(&flag);
	CHECK(c, flag == 0);
	CHECK(c, s != other);
	MPI_Session_finalize(&other);
	process_sets(c, s);
	handlers(c, s);
	buffers(c, s, comm);
	halves(c, all);
	between(c, all);
	MPI_Group_free(&all);
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&s);
}

/* A session goes on while the world comes and goes. */
static void
beside(struct check *c)
{
	MPI_Session s = open_session(c);
	MPI_Group all = group_of(c, s, "mpi://WORLD"), me = group_of(c, s, "mpi://SELF"), world;
	MPI_Comm comm = comm_of(c, all, "beside"), alone = comm_of(c, me, "alone");
	int flag = -1, result = -1;

	CHECK(c, c->size == 1 && c->rank == 0);
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &c->size);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_compare(world, all, &result);
	CHECK(c, result == MPI_IDENT);
	MPI_Group_free(&world);
	thread_level(c, "mpi_thread_support_level");
	thread_level(c, "thread_level");
	same_level(c);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	CHECK(c, check_class(MPI_Session_finalize(&(MPI_Session){MPI_SESSION_NULL})) ==
		MPI_ERR_SESSION);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	MPI_Finalized(&flag);
	CHECK(c, flag == 1);
	MPI_Barrier(comm);
	MPI_Group_free(&all);
	MPI_Group_free(&me);
	MPI_Comm_free(&comm);
	MPI_Comm_free(&alone);
	MPI_Session_finalize(&s);
}

/* Once more, when everything seems to be over. */
static int
after(struct check *c)
{
	MPI_Session s = open_session(c);
	MPI_Group all = group_of(c, s, "mpi://WORLD");
	MPI_Comm comm = comm_of(c, all, "after");
	int errors = 0;

	MPI_Allreduce(&c->errors, &errors, 1, MPI_INT, MPI_SUM, comm);
	MPI_Group_free(&all);
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&s);
	return errors;
}

int
main(void)
{
	struct check c = {0};
	int errors;

	before(&c);
	beside(&c);
	errors = after(&c);
	if (c.rank == 0 && errors == 0)
		printf("No errors\n");
	else if (c.rank == 0)
		printf("%d errors\n", errors);
	return errors != 0;
}
