/* SPDX-License-Identifier: MIT
 *
 * Every rank floods rank 0 with messages that it has not asked for, while rank 0 first exchanges
 * others with the last rank. Nothing is lost, nothing stops, everything is right.
 *
 * usage: flood [MESSAGES]
 */
#include "check.h"

#define TALKS 50

static int messages = 3000;		/* of each rank that floods */

static int
size_of(int i)
{
	return i % 50 == 0 ? 6000 : i % 7 == 0 ? 200 : 8;
}

static void
flood(struct check *c)
{
	unsigned char buffer[6000];

	for (int i = 0; i < messages; i++) {
		check_fill(buffer, (size_t)size_of(i), c->rank, i);
		MPI_Send(buffer, size_of(i), MPI_BYTE, 0, 1, MPI_COMM_WORLD);
	}
}

static void
drain(struct check *c)
{
	unsigned char buffer[6000];
	int *next = calloc((size_t)c->size, sizeof(int));

	for (int n = 0; n < messages * (c->size - 2); n++) {
		MPI_Status status;
		int count, i, from;

		MPI_Recv(buffer, 6000, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
		MPI_Get_count(&status, MPI_BYTE, &count);
		from = status.MPI_SOURCE;
		i = next[from]++;
		CHECK(c, count == size_of(i) && check_same(buffer, (size_t)count, from, i));
	}
	free(next);
}

/* Rank 0 and the last one talk while the flood stands before the door. */
static void
talk(struct check *c, int peer)
{
	for (int i = 0; i < TALKS; i++) {
		int mine = c->rank * 1000 + i, theirs = -1;

		MPI_Sendrecv(&mine, 1, MPI_INT, peer, 2, &theirs, 1, MPI_INT, peer, 2,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		CHECK(c, theirs == peer * 1000 + i);
	}
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);

	if (argc > 1)
		messages = atoi(argv[1]);
	if (c.rank == 0 && c.size > 1)
		talk(&c, c.size - 1);
	if (c.rank == 0)
		drain(&c);
	else if (c.rank == c.size - 1)
		talk(&c, 0);
	else
		flood(&c);
	return check_end(&c);
}
