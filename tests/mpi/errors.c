/* SPDX-License-Identifier: MIT
 *
 * Wrong arguments give the error class that the standard names, and leave no trace.
 */
#include "check.h"

static int a[4], b[4];

static void
send_arguments(struct check *c)
{
	MPI_Comm w = MPI_COMM_WORLD;
	MPI_Request r;

	CHECK(c, MPI_Send(a, 1, MPI_INT, c->size, 0, w) == MPI_ERR_RANK);
	CHECK(c, MPI_Send(a, 1, MPI_INT, -7, 0, w) == MPI_ERR_RANK);
	CHECK(c, MPI_Send(a, 1, MPI_INT, MPI_ANY_SOURCE, 0, w) == MPI_ERR_RANK);
	CHECK(c, MPI_Send(a, 1, MPI_INT, 0, -1, w) == MPI_ERR_TAG);
	CHECK(c, MPI_Send(a, 1, MPI_INT, 0, MPI_ANY_TAG, w) == MPI_ERR_TAG);
	CHECK(c, MPI_Send(a, -1, MPI_INT, 0, 0, w) == MPI_ERR_COUNT);
	CHECK(c, MPI_Send(a, 1, MPI_DATATYPE_NULL, 0, 0, w) == MPI_ERR_TYPE);
	CHECK(c, MPI_Send(NULL, 1, MPI_INT, 0, 0, w) == MPI_ERR_BUFFER);
	CHECK(c, MPI_Send(a, 1, MPI_INT, 0, 0, MPI_COMM_NULL) == MPI_ERR_COMM);
	CHECK(c, MPI_Send(a, 1, MPI_INT, 0, 0, (MPI_Comm)0x12345678) == MPI_ERR_COMM);
	CHECK(c, MPI_Ssend(a, -1, MPI_INT, 0, 0, w) == MPI_ERR_COUNT);
	CHECK(c, MPI_Isend(a, -1, MPI_INT, 0, 0, w, &r) == MPI_ERR_COUNT);
	CHECK(c, MPI_Isend(a, 1, MPI_INT, 0, 0, w, NULL) == MPI_ERR_ARG);
}

static void
recv_arguments(struct check *c)
{
	MPI_Comm w = MPI_COMM_WORLD;
	MPI_Status s;
	MPI_Request r;

	CHECK(c, MPI_Recv(a, 1, MPI_INT, c->size, 0, w, &s) == MPI_ERR_RANK);
	CHECK(c, MPI_Recv(a, 1, MPI_INT, MPI_ROOT, 0, w, &s) == MPI_ERR_RANK);
	CHECK(c, MPI_Recv(a, 1, MPI_INT, 0, -5, w, &s) == MPI_ERR_TAG);
	CHECK(c, MPI_Recv(a, -3, MPI_INT, 0, 0, w, &s) == MPI_ERR_COUNT);
	CHECK(c, MPI_Recv(a, 1, (MPI_Datatype)0x777, 0, 0, w, &s) == MPI_ERR_TYPE);
	CHECK(c, MPI_Recv(NULL, 1, MPI_INT, 0, 0, w, &s) == MPI_ERR_BUFFER);
	CHECK(c, MPI_Irecv(a, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &r) == MPI_ERR_COMM);
	CHECK(c, MPI_Probe(c->size + 3, 0, w, &s) == MPI_ERR_RANK);
	CHECK(c, MPI_Sendrecv(a, 1, MPI_INT, 0, 0, b, 1, MPI_INT, 0, -9, w, &s) == MPI_ERR_TAG);
	CHECK(c, MPI_Recv(a, 1, MPI_INT, MPI_PROC_NULL, 3, w, &s) == MPI_SUCCESS);
	CHECK(c, s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG);
}

static void
truncation(struct check *c)
{
	MPI_Comm w = MPI_COMM_WORLD;
	unsigned char *out = malloc(100000), *in = malloc(100000);
	static const int sizes[] = {64, 96, 200, 4096, 100000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		MPI_Request r;
		MPI_Status s;
		int n = sizes[i], count = 0, peer = (c->rank + 1) % c->size,
			from = (c->rank - 1 + c->size) % c->size;

		check_fill(out, (size_t)n, c->rank, n);
		memset(in, 0x55, 100000);
		MPI_Isend(out, n, MPI_BYTE, peer, 0, w, &r);
		CHECK(c, MPI_Recv(in, n / 2, MPI_BYTE, from, 0, w, &s) == MPI_ERR_TRUNCATE);
		MPI_Get_count(&s, MPI_BYTE, &count);
		CHECK(c, count == n / 2 && check_same(in, (size_t)n / 2, from, n) &&
			in[n / 2] == 0x55);
		CHECK(c, MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
	}
	free(in);
	free(out);
}

static void
requests(struct check *c)
{
	MPI_Request r, stale;
	int x = 1, y = 0, flag, index;

	MPI_Irecv(&y, 1, MPI_INT, c->rank, 4, MPI_COMM_WORLD, &r);
	stale = r;
	MPI_Send(&x, 1, MPI_INT, c->rank, 4, MPI_COMM_WORLD);
	CHECK(c, MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS && y == 1 && r == MPI_REQUEST_NULL);
	CHECK(c, MPI_Wait(&stale, MPI_STATUS_IGNORE) == MPI_ERR_REQUEST);
	CHECK(c, MPI_Test(&stale, &flag, MPI_STATUS_IGNORE) == MPI_ERR_REQUEST);
	CHECK(c, MPI_Wait(NULL, MPI_STATUS_IGNORE) == MPI_ERR_ARG);
	CHECK(c, MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
	CHECK(c, MPI_Waitall(-1, &r, MPI_STATUSES_IGNORE) == MPI_ERR_COUNT);
	CHECK(c, MPI_Waitany(1, &r, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
		index == MPI_UNDEFINED);
	CHECK(c, MPI_Request_free(&r) == MPI_ERR_REQUEST);
}

static void
collectives(struct check *c)
{
	MPI_Comm w = MPI_COMM_WORLD;

	CHECK(c, MPI_Barrier(MPI_COMM_NULL) == MPI_ERR_COMM);
	CHECK(c, MPI_Bcast(a, 1, MPI_INT, c->size, w) == MPI_ERR_ROOT);
	CHECK(c, MPI_Bcast(a, -1, MPI_INT, 0, w) == MPI_ERR_COUNT);
	CHECK(c, MPI_Reduce(a, b, 1, MPI_INT, MPI_OP_NULL, 0, w) == MPI_ERR_OP);
	CHECK(c, MPI_Reduce(a, b, 1, MPI_FLOAT, MPI_BAND, 0, w) == MPI_ERR_OP);
	CHECK(c, MPI_Reduce(a, b, 1, MPI_INT, MPI_MAXLOC, 0, w) == MPI_ERR_OP);
	CHECK(c, MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, -1, w) == MPI_ERR_ROOT);
	CHECK(c, MPI_Allreduce(a, b, 1, MPI_BYTE, MPI_SUM, w) == MPI_ERR_OP);
	CHECK(c, MPI_Allreduce(a, b, -1, MPI_INT, MPI_SUM, w) == MPI_ERR_COUNT);
	CHECK(c, MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, 99999, w) == MPI_ERR_ROOT);
	CHECK(c, MPI_Reduce_local(MPI_IN_PLACE, a, 1, MPI_INT, MPI_SUM) == MPI_ERR_BUFFER);
	CHECK(c, MPI_Reduce_local(a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM) == MPI_ERR_BUFFER);
}

static void
objects(struct check *c)
{
	MPI_Group g, stale;
	MPI_Errhandler e = MPI_ERRHANDLER_NULL;
	int x;

	CHECK(c, MPI_Comm_rank(MPI_COMM_NULL, &x) == MPI_ERR_COMM);
	CHECK(c, MPI_Comm_rank(MPI_COMM_WORLD, NULL) == MPI_ERR_ARG);
	CHECK(c, MPI_Group_size(MPI_GROUP_NULL, &x) == MPI_ERR_GROUP);
	MPI_Comm_group(MPI_COMM_WORLD, &g);
	stale = g;
	CHECK(c, MPI_Group_rank(g, &x) == MPI_SUCCESS && x == c->rank);
	CHECK(c, MPI_Group_size(g, &x) == MPI_SUCCESS && x == c->size);
	CHECK(c, MPI_Group_free(&g) == MPI_SUCCESS && g == MPI_GROUP_NULL);
	CHECK(c, MPI_Group_rank(stale, &x) == MPI_ERR_GROUP);
	CHECK(c, MPI_Group_size(MPI_GROUP_EMPTY, &x) == MPI_SUCCESS && x == 0);
	CHECK(c, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL) ==
		MPI_ERR_ERRHANDLER);
	CHECK(c, MPI_Errhandler_free(&e) == MPI_ERR_ERRHANDLER);
	CHECK(c, MPI_Comm_get_errhandler(MPI_COMM_WORLD, &e) == MPI_SUCCESS &&
		e == MPI_ERRORS_RETURN);
	CHECK(c, MPI_Errhandler_free(&e) == MPI_SUCCESS && e == MPI_ERRHANDLER_NULL);
	CHECK(c, MPI_Type_size(MPI_DATATYPE_NULL, &x) == MPI_ERR_TYPE);
}

static void
own_handler(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	a[3] = *code;
}

/* Of several requests one fails: that goes to the handler of its communicator. */
static void
handler_of_sets(struct check *c)
{
	MPI_Request r[3];
	MPI_Status s[3];
	MPI_Comm d;
	MPI_Errhandler e;
	int index[3], n, flag;

	MPI_Comm_dup(MPI_COMM_SELF, &d);
	MPI_Comm_create_errhandler(own_handler, &e);
	MPI_Comm_set_errhandler(d, e);
	MPI_Errhandler_free(&e);
	for (int way = 0; way < 4; way++) {
		int err = MPI_SUCCESS, out[2] = {1, 2}, in[2] = {0, 0};

		a[3] = flag = n = 0;
		MPI_Irecv(in, 1, MPI_INT, 0, way, d, &r[0]);
		MPI_Irecv(in + 1, 1, MPI_INT, 0, way + 10, MPI_COMM_SELF, &r[1]);
		MPI_Isend(out, 1, MPI_INT, 0, way + 10, MPI_COMM_SELF, &r[2]);
		MPI_Send(out, 2, MPI_INT, 0, way, d);
		switch (way) {
		case 0:
			err = MPI_Waitall(3, r, s);
			break;
		case 1:
			while (!flag)
				err = MPI_Testall(3, r, &flag, s);
			break;
		case 2:
			MPI_Waitall(2, r + 1, s + 1);
			err = MPI_Waitsome(1, r, &n, index, s);
			break;
		case 3:
			MPI_Waitall(2, r + 1, s + 1);
			while (n == 0)
				err = MPI_Testsome(1, r, &n, index, s);
			break;
		}
		CHECK(c, err == MPI_ERR_IN_STATUS && a[3] == MPI_ERR_IN_STATUS &&
			s[0].MPI_ERROR == MPI_ERR_TRUNCATE);
	}
	MPI_Comm_free(&d);
}

/* A request that fails after its communicator was freed still has its error handler. */
static void
failed_later(struct check *c)
{
	for (int way = 0; way < 3; way++) {
		MPI_Errhandler e;
		MPI_Status s;
		MPI_Request r;
		MPI_Comm d;
		int in, flag = 0, err = MPI_SUCCESS;

		MPI_Comm_dup(MPI_COMM_SELF, &d);
		MPI_Comm_create_errhandler(own_handler, &e);
		MPI_Comm_set_errhandler(d, e);
		MPI_Errhandler_free(&e);
		a[3] = 0;
		MPI_Irecv(&in, 1, MPI_INT, 0, way, d, &r);
		MPI_Send(b, 2, MPI_INT, 0, way, d);
		MPI_Comm_free(&d);
		if (way == 0)
			err = MPI_Wait(&r, &s);
		else if (way == 1)
			err = MPI_Waitall(1, &r, &s);
		while (way == 2 && !flag)
			err = MPI_Test(&r, &flag, &s);
		CHECK(c, err != MPI_SUCCESS && err == a[3] && r == MPI_REQUEST_NULL);
	}
}

static void
handlers(struct check *c)
{
	MPI_Errhandler e;
	char text[MPI_MAX_ERROR_STRING];
	int len = 0, class;

	CHECK(c, MPI_Comm_create_errhandler(own_handler, &e) == MPI_SUCCESS);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, e);
	MPI_Errhandler_free(&e);
	CHECK(c, MPI_Send(a, 1, MPI_INT, 0, -1, MPI_COMM_WORLD) == MPI_ERR_TAG &&
		a[3] == MPI_ERR_TAG);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	CHECK(c, MPI_Error_string(MPI_ERR_TAG, text, &len) == MPI_SUCCESS &&
		len == (int)strlen(text) && len > 0);
	CHECK(c, MPI_Error_class(MPI_ERR_TAG, &class) == MPI_SUCCESS && class == MPI_ERR_TAG);
	CHECK(c, MPI_Error_class(-4, &class) == MPI_ERR_ARG);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	/* errors without a communicator go to this one */
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	send_arguments(&c);
	recv_arguments(&c);
	truncation(&c);
	requests(&c);
	collectives(&c);
	objects(&c);
	handlers(&c);
	handler_of_sets(&c);
	failed_later(&c);
	return check_end(&c);
}
