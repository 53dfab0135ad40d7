/* SPDX-License-Identifier: MIT
 *
 * Every collective with small and larger data: seconds per call when all ranks call it again and
 * again. usage: collectives [--rounds N] [--only-small 1] [--multiple 1]
 */
#include "peers.h"

#define MOST 65536
#define ROUND_S 0.002

static char *out, *in;
static int size;

static void
barrier(int bytes)
{
	(void)bytes;
	MPI_Barrier(MPI_COMM_WORLD);
}

static void
bcast(int bytes)
{
	MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void
reduce(int bytes)
{
	MPI_Reduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void
allreduce(int bytes)
{
	MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void
gather(int bytes)
{
	MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void
scatter(int bytes)
{
	MPI_Scatter(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void
allgather(int bytes)
{
	MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void
alltoall(int bytes)
{
	MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void
reduce_scatter(int bytes)
{
	MPI_Reduce_scatter_block(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void
scan(int bytes)
{
	MPI_Scan(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void
exscan(int bytes)
{
	MPI_Exscan(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static const struct {
	const char *name;
	void (*call)(int bytes);
} all[] = {
	{"barrier", barrier}, {"allreduce", allreduce}, {"bcast", bcast}, {"reduce", reduce},
		{"gather", gather}, {"scatter", scatter},
	{"allgather", allgather}, {"alltoall", alltoall}, {"reduce_scatter", reduce_scatter},
		{"scan", scan}, {"exscan", exscan},
};

static double
fastest(void (*call)(int bytes), int bytes, int rounds)
{
	double best = 1e9, start;
	int turns;

	call(bytes);
	start = MPI_Wtime();
	call(bytes);
	turns = turns_for(MPI_Wtime() - start, ROUND_S);
	for (int k = 0; k < rounds; k++) {
		MPI_Barrier(MPI_COMM_WORLD);
		start = MPI_Wtime();
		for (int i = 0; i < turns; i++)
			call(bytes);
		start = (MPI_Wtime() - start) / turns;
		best = start < best ? start : best;
	}
	return best;
}

int
main(int argc, char **argv)
{
	int rounds = (int)number(argc, argv, "--rounds", 30),
		small = (int)number(argc, argv, "--only-small", 0);
	struct self s = begin(&argc, &argv);

	size = s.size;
	out = calloc((size_t)size, MOST);
	in = calloc((size_t)size, MOST);
	if (out == NULL || in == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (size_t i = 0; i < (small ? 2 : sizeof(all) / sizeof(all[0])); i++) {
		row(&s, all[i].name, fastest(all[i].call, 8, rounds) * 1e6, "us", i == 0 ? 0 : 8);
		if (i > 0 && !small) {
			row(&s, all[i].name, fastest(all[i].call, 1024, rounds) * 1e6, "us", 1024);
			row(&s, all[i].name, fastest(all[i].call, MOST, rounds) * 1e6, "us", MOST);
		}
	}
	MPI_Finalize();
	return 0;
}
