/* SPDX-License-Identifier: MIT
 *
 * Small messages that are sent or received at once, among all else that may be under way: the ways
 * cross, order and data stay. Each part is a round between this rank and its neighbours, in which
 * the right one is sent to and the left one received from (with one rank, itself).
 */
#include "check.h"

#define LARGEST 5000
#define MANY 70			/* more than fit into an inbox */

static int left, right;

static void
send(struct check *c, int bytes, int which, int tag)
{
	unsigned char data[LARGEST];

	check_fill(data, (size_t)bytes, c->rank, which);
	MPI_Send(data, bytes, MPI_BYTE, right, tag, MPI_COMM_WORLD);
}

static void
receive(struct check *c, int bytes, int which, int tag)
{
	unsigned char data[LARGEST];
	MPI_Status status;
	int count;

	MPI_Recv(data, LARGEST, MPI_BYTE, left, tag, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_BYTE, &count);
	CHECK(c, count == bytes && status.MPI_SOURCE == left &&
		check_same(data, (size_t)bytes, left, which));
}

/* Every length at which copying changes its way. */
static void
lengths(struct check *c)
{
	static const int sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 95, 96, 97,
		1000, 4095, 4096, 4097};

	for (int i = 0; i < (int)(sizeof(sizes) / sizeof(sizes[0])); i++) {
		MPI_Request r;
		unsigned char data[LARGEST];

		/* above a limit of the library, a send may wait for its receive */
		check_fill(data, (size_t)sizes[i], c->rank, i);
		MPI_Isend(data, sizes[i], MPI_BYTE, right, 5, MPI_COMM_WORLD, &r);
		receive(c, sizes[i], i, MPI_ANY_TAG);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		CHECK(c, r == MPI_REQUEST_NULL);
	}
}

/* A message belongs to the receive that was posted first, though a later one asks at once. */
static void
posted_before(struct check *c)
{
	int early = -1, late = -1, one = 1, two = 2;
	MPI_Request r;
	MPI_Status status;

	MPI_Irecv(&early, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Send(&one, 1, MPI_INT, right, 3, MPI_COMM_WORLD);
	MPI_Send(&two, 1, MPI_INT, right, 3, MPI_COMM_WORLD);
	MPI_Recv(&late, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&r, &status);
	CHECK(c, early == 1 && late == 2 && status.MPI_SOURCE == left && status.MPI_TAG == 3);
}

/* Messages that were passed over come before later ones. */
static void
passed_over(struct check *c)
{
	for (int i = 0; i < 3; i++)
		send(c, 8, i, 1);
	send(c, 8, 7, 2);
	receive(c, 8, 7, 2);
	send(c, 8, 3, 1);
	for (int i = 0; i < 4; i++)
		receive(c, 8, i, 1);
}

/* A send that was done at once has a request like all others. */
static void
handles(struct check *c)
{
	MPI_Request r[4], kept;
	MPI_Status status;
	int flag = -1, indices[4], count = -1, value = 4;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	for (int i = 0; i < 4; i++)
		MPI_Isend(&value, 1, MPI_INT, right, i, MPI_COMM_WORLD, &r[i]);
	CHECK(c, r[0] != r[1] && r[1] != r[2]);
	kept = r[0];
	MPI_Request_get_status(r[0], &flag, &status);
	CHECK(c, r[0] != MPI_REQUEST_NULL);
	MPI_Cancel(&r[0]);
	CHECK(c, MPI_Wait(&r[0], &status) == MPI_SUCCESS && r[0] == MPI_REQUEST_NULL);
	MPI_Test_cancelled(&status, &flag);
	MPI_Get_count(&status, MPI_INT, &count);
	CHECK(c, !flag && count == 0);
	CHECK(c, check_class(MPI_Wait(&kept, MPI_STATUS_IGNORE)) == MPI_ERR_REQUEST);
	MPI_Request_free(&r[1]);
	CHECK(c, r[1] == MPI_REQUEST_NULL);
	for (int done = 0; done < 2; done += count) {
		MPI_Waitsome(4, r, &count, indices, MPI_STATUSES_IGNORE);
		CHECK(c, count >= 1 && indices[0] >= 2 && r[indices[0]] == MPI_REQUEST_NULL);
	}
	MPI_Waitsome(4, r, &count, indices, MPI_STATUSES_IGNORE);
	CHECK(c, count == MPI_UNDEFINED);
	for (int i = 3; i >= 0; i--) {
		MPI_Recv(&value, 1, MPI_INT, left, i, MPI_COMM_WORLD, &status);
		CHECK(c, value == 4 && status.MPI_TAG == i);
	}
}

/* What does not fit is an error, and is received. */
static void
truncated(struct check *c)
{
	int two[2] = {1, 2}, one[2] = {0, 7};
	MPI_Status status;

	MPI_Send(two, 2, MPI_INT, right, 0, MPI_COMM_WORLD);
	MPI_Send(two, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
	CHECK(c, check_class(MPI_Recv(one, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &status)) ==
		MPI_ERR_TRUNCATE && one[1] == 7);
	CHECK(c, MPI_Recv(one, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
}

/*
 * More than there is room for, then all of it, while a collective goes on that nobody waits for
 * yet.
 */
static void
beside_others(struct check *c)
{
	MPI_Request r[MANY], barrier;
	int out[MANY], value;

	MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
	for (int i = 0; i < MANY; i++) {
		out[i] = i;
		MPI_Isend(&out[i], 1, MPI_INT, right, 9, MPI_COMM_WORLD, &r[i]);
	}
	for (int i = 0; i < MANY; i++) {
		MPI_Recv(&value, 1, MPI_INT, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		CHECK(c, value == i);
	}
	MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
	MPI_Wait(&barrier, MPI_STATUS_IGNORE);
}

/* Equal messages in two communicators. */
static void
two_communicators(struct check *c)
{
	MPI_Comm other;
	int value = 1;

	MPI_Comm_dup(MPI_COMM_WORLD, &other);
	MPI_Send(&value, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
	value = 2;
	MPI_Send(&value, 1, MPI_INT, right, 0, other);
	MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, other, MPI_STATUS_IGNORE);
	CHECK(c, value == 2);
	MPI_Recv(&value, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CHECK(c, value == 1);
	MPI_Comm_free(&other);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);

	right = (c.rank + 1) % c.size;
	left = (c.rank + c.size - 1) % c.size;
	for (int i = 0; i < 20; i++) {
		lengths(&c);
		posted_before(&c);
		passed_over(&c);
		handles(&c);
		truncated(&c);
		beside_others(&c);
		two_communicators(&c);
	}
	return check_end(&c);
}
