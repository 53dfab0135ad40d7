/* SPDX-License-Identifier: MIT
 *
 * A message takes the oldest posted receive that fits it, exact or wildcard.
 */
#include "check.h"

enum { EXACT, ANY_TAG, ANY_SOURCE, ANY_BOTH, LAST, RECEIVES };

static void
receiver(struct check *c)
{
	int got[RECEIVES];
	MPI_Request r[RECEIVES];
	MPI_Status s[RECEIVES];

	MPI_Irecv(&got[EXACT], 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &r[EXACT]);
	MPI_Irecv(&got[ANY_SOURCE], 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &r[ANY_SOURCE]);
	MPI_Irecv(&got[ANY_TAG], 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &r[ANY_TAG]);
	MPI_Irecv(&got[ANY_BOTH], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
		&r[ANY_BOTH]);
	MPI_Irecv(&got[LAST], 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &r[LAST]);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Waitall(RECEIVES, r, s);
	/* sent: 0 tag 6, then 1, 2, 3, 4 with tag 5 */
	CHECK(c, got[ANY_TAG] == 0 && s[ANY_TAG].MPI_TAG == 6);
	CHECK(c, got[EXACT] == 1 && s[EXACT].MPI_TAG == 5);
	CHECK(c, got[ANY_SOURCE] == 2 && s[ANY_SOURCE].MPI_SOURCE == 1);
	CHECK(c, got[ANY_BOTH] == 3 && s[ANY_BOTH].MPI_TAG == 5);
	CHECK(c, got[LAST] == 4);
}

static void
sender(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < RECEIVES; i++)
		MPI_Send(&i, 1, MPI_INT, 0, i == 0 ? 6 : 5, MPI_COMM_WORLD);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);

	for (int i = 0; i < 100; i++)
		if (c.rank == 0)
			receiver(&c);
		else if (c.rank == 1)
			sender();
		else
			MPI_Barrier(MPI_COMM_WORLD);
	return check_end(&c);
}
