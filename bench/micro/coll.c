/* SPDX-License-Identifier: MIT
 *
 * Every collective over the size of its data. usage: coll [--rounds N] [--most BYTES] [--total
 * BYTES]
 *
 * Sizes are of the block or operand of a rank; --total bounds what a rank holds. A figure is the
 * mean time of a call on rank 0, of calls one after the other, with a barrier before the first.
 */
#include <mpi.h>
#include "micro.h"

struct bench {
	int ranks;
	int bytes;
	char *in;
	char *out;
};

static void
barrier(const struct bench *b)
{
	(void)b;
	MPI_Barrier(MPI_COMM_WORLD);
}

static void
bcast(const struct bench *b)
{
	MPI_Bcast(b->in, b->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void
gather(const struct bench *b)
{
	MPI_Gather(b->in, b->bytes, MPI_BYTE, b->out, b->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void
scatter(const struct bench *b)
{
	MPI_Scatter(b->in, b->bytes, MPI_BYTE, b->out, b->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void
allgather(const struct bench *b)
{
	MPI_Allgather(b->in, b->bytes, MPI_BYTE, b->out, b->bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void
alltoall(const struct bench *b)
{
	MPI_Alltoall(b->in, b->bytes, MPI_BYTE, b->out, b->bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void
reduce(const struct bench *b)
{
	MPI_Reduce(b->in, b->out, b->bytes / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void
allreduce(const struct bench *b)
{
	MPI_Allreduce(b->in, b->out, b->bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void
reduce_scatter(const struct bench *b)
{
	MPI_Reduce_scatter_block(b->in, b->out, b->bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void
scan(const struct bench *b)
{
	MPI_Scan(b->in, b->out, b->bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void
iallreduce(const struct bench *b)
{
	MPI_Request r;

	MPI_Iallreduce(b->in, b->out, b->bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static const struct {
	const char *name;
	void (*call)(const struct bench *b);
	int blocks;			/* does a rank hold a block for each rank? */
} benches[] = {
	{"barrier", barrier, 0}, {"bcast", bcast, 0}, {"gather", gather, 1},
		{"scatter", scatter, 1}, {"allgather", allgather, 1},
	{"alltoall", alltoall, 1}, {"reduce", reduce, 0}, {"allreduce", allreduce, 0},
		{"reduce_scatter", reduce_scatter, 1},
	{"scan", scan, 0}, {"iallreduce", iallreduce, 0},
};

#define BENCHES ((int)(sizeof(benches) / sizeof(benches[0])))

static double
measure(int which, const struct bench *b, long rounds)
{
	double start;

	for (int i = 0; i < 2; i++)
		benches[which].call(b);
	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	for (long i = 0; i < rounds; i++)
		benches[which].call(b);
	return (MPI_Wtime() - start) / (double)rounds;
}

int
main(int argc, char **argv)
{
	long rounds = number(argc, argv, "--rounds", 200),
		most = number(argc, argv, "--most", 65536);
	long total = number(argc, argv, "--total", 4194304);
	struct bench b;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
	if (most * b.ranks < total)
		total = most * b.ranks;
	b.in = calloc(1, (size_t)(total > most ? total : most));
	b.out = calloc(1, (size_t)(total > most ? total : most));
	for (int which = 0; which < BENCHES; which++) {
		for (b.bytes = 8; b.bytes <= most; b.bytes *= 8) {
			long n = rounds * 64 / (64 + b.bytes / 64) + 1;
			double t;
			char params[32];

			if (benches[which].blocks && (long)b.bytes * b.ranks > total)
				break;
			t = measure(which, &b, n);
			snprintf(params, sizeof(params), "bytes=%d", which == 0 ? 0 : b.bytes);
			if (rank == 0)
				row(benches[which].name, t * 1e6, "us", params);
			if (which == 0)
				break;
		}
	}
	MPI_Finalize();
	free(b.in);
	free(b.out);
	return 0;
}
