/* SPDX-License-Identifier: MIT
 *
 * Collectives whose blocks differ: time per call when all ranks call it again and again. Blocks are
 * of `bytes` bytes and of half as many, in turn. usage: uneven [--rounds N] [--max BYTES]
 * [--multiple 1]
 */
#include "peers.h"

#define ROUND_S 0.002
#define RANKS_MAX 64

static char *out, *in;
static int rank, size;
static int counts[RANKS_MAX], displs[RANKS_MAX], mine[RANKS_MAX];
static MPI_Datatype types[RANKS_MAX];

/* What rank i has of each, or gives each. */
static int
length(int i, int bytes)
{
	return i % 2 ? bytes / 2 : bytes;
}

static void
gatherv(void)
{
	MPI_Gatherv(out, counts[rank], MPI_BYTE, in, counts, displs, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void
scatterv(void)
{
	MPI_Scatterv(out, counts, displs, MPI_BYTE, in, counts[rank], MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void
allgatherv(void)
{
	MPI_Allgatherv(out, counts[rank], MPI_BYTE, in, counts, displs, MPI_BYTE, MPI_COMM_WORLD);
}

static void
alltoallv(void)
{
	MPI_Alltoallv(out, mine, displs, MPI_BYTE, in, counts, displs, MPI_BYTE, MPI_COMM_WORLD);
}

static void
alltoallw(void)
{
	MPI_Alltoallw(out, mine, displs, types, in, counts, displs, types, MPI_COMM_WORLD);
}

static const struct {
	const char *name;
	void (*call)(void);
} all[] = {{"gatherv", gatherv}, {"scatterv", scatterv}, {"allgatherv", allgatherv},
	{"alltoallv", alltoallv}, {"alltoallw", alltoallw}};

static double
fastest(void (*call)(void), int rounds)
{
	double best = 1e9, start;
	int turns;

	call();
	start = MPI_Wtime();
	call();
	turns = turns_for(MPI_Wtime() - start, ROUND_S);
	for (int k = 0; k < rounds; k++) {
		MPI_Barrier(MPI_COMM_WORLD);
		start = MPI_Wtime();
		for (int i = 0; i < turns; i++)
			call();
		start = (MPI_Wtime() - start) / turns;
		best = start < best ? start : best;
	}
	return best;
}

static void
describe(int bytes)
{
	for (int i = 0; i < size; i++) {
		counts[i] = length(i, bytes);
		mine[i] = length(rank, bytes);
		displs[i] = i * bytes;
		types[i] = MPI_BYTE;
	}
}

int
main(int argc, char **argv)
{
	static const long sizes[] = {8, 64, 1024, 16384, 262144, 1 << 20};
	int rounds = (int)number(argc, argv, "--rounds", 20);
	long max = number(argc, argv, "--max", 1 << 20);
	struct self s = begin(&argc, &argv);

	rank = s.rank;
	size = s.size;
	out = calloc((size_t)size, (size_t)max);
	in = calloc((size_t)size, (size_t)max);
	if (out == NULL || in == NULL || size > RANKS_MAX)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]) && sizes[k] <= max; k++) {
		describe((int)sizes[k]);
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
			row(&s, all[i].name, fastest(all[i].call, rounds) * 1e6, "us", sizes[k]);
	}
	MPI_Finalize();
	return 0;
}
