/* SPDX-License-Identifier: MIT
 *
 * Half round trip times between ranks 0 and 1 (argument: round trips per size), and of barrier and
 * allreduce over all. A test only in that it must end; the figures are for people.
 */
#include "check.h"

static const int sizes[] = {0, 8, 64, 96, 97, 1024, 4096, 8192, 65536, 1048576};
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))
#define LARGEST 1048576
#define ROUNDS 25

static double
round_trips(struct check *c, char *buffer, int len, int n)
{
	double t;

	MPI_Barrier(MPI_COMM_WORLD);
	t = MPI_Wtime();
	for (int i = 0; i < n && c->rank < 2; i++) {
		if (c->rank == 0)
			MPI_Send(buffer, len, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(buffer, len, MPI_BYTE, 1 - c->rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (c->rank == 1)
			MPI_Send(buffer, len, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
	}
	return (MPI_Wtime() - t) / n / 2 * 1e9;
}

static void
pairs(struct check *c, int n)
{
	char *buffer = calloc(1, LARGEST);

	for (int i = 0; i < SIZES; i++) {
		double best = 1e18;

		for (int round = 0; round < ROUNDS; round++) {
			double t = round_trips(c, buffer, sizes[i], sizes[i] > 8192 ? n / 20 + 1 :
				n);

			best = t < best ? t : best;
		}
		if (c->rank == 0)
			printf("%8d B %12.0f ns\n", sizes[i], best);
	}
	free(buffer);
}

static void
together(struct check *c, int n)
{
	double t, x = 1, sum;

	MPI_Barrier(MPI_COMM_WORLD);
	t = MPI_Wtime();
	for (int i = 0; i < n; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	if (c->rank == 0)
		printf(" barrier   %12.0f ns\n", (MPI_Wtime() - t) / n * 1e9);
	t = MPI_Wtime();
	for (int i = 0; i < n; i++)
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	CHECK(c, sum == c->size);
	if (c->rank == 0)
		printf(" allreduce %12.0f ns\n", (MPI_Wtime() - t) / n * 1e9);
}

int
main(int argc, char **argv)
{
	struct check c = check_begin(&argc, &argv);
	int n = argc > 1 ? atoi(argv[1]) : 100;

	if (c.size > 1)
		pairs(&c, n);
	together(&c, n);
	return check_end(&c);
}
