/* SPDX-License-Identifier: MIT
 *
 * An MPI job that mpiexec starts at a shell's prompt, and that ends as its arguments say:
 *
 *	sum ROUNDS		ranks exchange messages, short and long ones, with all others
 *	abort RANK STATUS	a rank calls MPI_Abort while the others wait for it
 *	crash RANK		a rank writes to a bad address
 *	leave RANK STATUS	a rank ends without MPI_Finalize
 *	return RANK STATUS	a rank returns a status, the others 0
 *	wait			all ranks wait for ever
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG (40 * 1024)		/* bytes of a message that goes in pieces */

static int rank, ranks;

/* What a rank sends to another one in a round. */
static unsigned char
mark(int from, int to, int round)
{
	return (unsigned char)(from * 31 + to * 7 + round);
}

static bool
is_filled(const unsigned char *at, int bytes, unsigned char with)
{
	for (int i = 0; i < bytes; i++)
		if (at[i] != with)
			return false;
	return true;
}

/* With each other rank, at the distance of a step to both sides. */
static void
exchange(int round)
{
	static unsigned char out[LONG], in[LONG];

	for (int step = 1; step < ranks; step++) {
		int to = (rank + step) % ranks, from = (rank + ranks - step) % ranks;
		int bytes = step % 2 == 0 ? LONG : 16;

		memset(out, mark(rank, to, round), (size_t)bytes);
		MPI_Sendrecv(out, bytes, MPI_BYTE, to, round, in, bytes, MPI_BYTE, from, round,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (!is_filled(in, bytes, mark(from, rank, round))) {
			printf("rank %d: what came from %d is of another job\n", rank, from);
			MPI_Abort(MPI_COMM_WORLD, 99);
		}
	}
}

static void
sum(int rounds)
{
	int mine = rank + 1, all = 0;

	for (int i = 0; i < rounds; i++)
		exchange(i);
	MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d ranks: sum %d\n", ranks, all);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int who = argc > 2 ? atoi(argv[2]) : 0, status = argc > 3 ? atoi(argv[3]) : 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (strcmp(what, "sum") == 0) {
		sum(who);
	} else if (strcmp(what, "return") != 0) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == who && strcmp(what, "abort") == 0)
			MPI_Abort(MPI_COMM_WORLD, status);
		if (rank == who && strcmp(what, "crash") == 0)
			*(volatile char *)8 = 1;
		if (rank == who && strcmp(what, "leave") == 0)
			exit(status);
		MPI_Recv(&who, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return rank == who && strcmp(what, "return") == 0 ? status : 0;
}
