/* SPDX-License-Identifier: MIT
 *
 * A long message is received before short ones that were sent earlier and lie waiting: neither
 * holds up the other, however the long one travels.
 */
#include "check.h"

#define SHORT 5000
#define SHORTS 3
#define LONG (1 << 20)

/* `count` times two bytes with a gap, so that the data has many pieces. */
static MPI_Datatype
pieces(int count)
{
	MPI_Datatype t;

	MPI_Type_vector(count, 2, 3, MPI_BYTE, &t);
	MPI_Type_commit(&t);
	return t;
}

static void
sender(struct check *c, unsigned char *data, MPI_Datatype type)
{
	unsigned char shorts[SHORTS][SHORT];
	MPI_Request r[SHORTS];

	for (int i = 0; i < SHORTS; i++) {
		check_fill(shorts[i], SHORT, c->rank, i);
		MPI_Isend(shorts[i], SHORT, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &r[i]);
	}
	check_fill(data, LONG, c->rank, 9);
	MPI_Send(data, 1, type, 0, 2, MPI_COMM_WORLD);
	MPI_Waitall(SHORTS, r, MPI_STATUSES_IGNORE);
}

static void
receiver(struct check *c, unsigned char *data, int from, MPI_Datatype type)
{
	unsigned char shorts[SHORT], *expected = malloc(LONG);

	memset(data, 0, LONG);
	check_fill(expected, LONG, from, 9);
	MPI_Recv(data, 1, type, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < LONG / 3; i++)
		CHECK(c, data[3 * i] == expected[3 * i] && data[3 * i + 1] == expected[3 * i + 1] &&
			data[3 * i + 2] == 0);
	for (int i = 0; i < SHORTS; i++) {
		MPI_Recv(shorts, SHORT, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		CHECK(c, check_same(shorts, SHORT, from, i));
	}
	free(expected);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	unsigned char *data = malloc(LONG);
	MPI_Datatype type = pieces(LONG / 3);

	for (int round = 0; round < 3; round++) {
		if (c.rank != 0)
			sender(&c, data, type);
		for (int from = 1; c.rank == 0 && from < c.size; from++)
			receiver(&c, data, from, type);
	}
	MPI_Type_free(&type);
	free(data);
	return check_end(&c);
}
