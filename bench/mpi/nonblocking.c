/* SPDX-License-Identifier: MIT
 *
 * What a collective that is started and waited for takes, beside the same one that blocks:
 * microseconds per call of both, measured in turns, and the one divided by the other. usage:
 * nonblocking [--rounds N] [--max BYTES] [--multiple 1]
 */
#include "peers.h"

#define ROUND_S 0.002

static char *out, *in;

static void
bcast(int bytes)
{
	MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void
ibcast(int bytes)
{
	MPI_Request r;

	MPI_Ibcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void
allreduce(int bytes)
{
	MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void
iallreduce(int bytes)
{
	MPI_Request r;

	MPI_Iallreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void
alltoall(int bytes)
{
	MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void
ialltoall(int bytes)
{
	MPI_Request r;

	MPI_Ialltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static const struct pair {
	const char *name;
	const char *started;
	void (*call)(int bytes);
	void (*start)(int bytes);
} all[] = {
	{"bcast", "ibcast", bcast, ibcast},
	{"allreduce", "iallreduce", allreduce, iallreduce},
	{"alltoall", "ialltoall", alltoall, ialltoall},
};

static double
one_round(void (*call)(int bytes), int bytes, int turns)
{
	double start;

	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	for (int i = 0; i < turns; i++)
		call(bytes);
	return (MPI_Wtime() - start) / turns;
}

static void
compare(const struct self *s, const struct pair *p, int bytes, int rounds)
{
	double once, best[2] = {1e9, 1e9};
	int turns;

	p->call(bytes);
	p->start(bytes);
	once = one_round(p->start, bytes, 10);
	turns = turns_for(once, ROUND_S);
	for (int k = 0; k < 2 * rounds; k++) {
		double t = one_round(k % 2 ? p->start : p->call, bytes, turns);

		best[k % 2] = t < best[k % 2] ? t : best[k % 2];
	}
	row(s, p->name, best[0] * 1e6, "us", bytes);
	row(s, p->started, best[1] * 1e6, "us", bytes);
	if (s->rank == 0)
		printf("row %s/%s %.2f times bytes=%d\n", p->started, p->name, best[1] / best[0],
			bytes);
}

int
main(int argc, char **argv)
{
	static const long sizes[] = {8, 64, 512, 1024, 4096, 16384, 65536};
	int rounds = (int)number(argc, argv, "--rounds", 20);
	long max = number(argc, argv, "--max", 65536);
	struct self s = begin(&argc, &argv);

	out = calloc((size_t)s.size, (size_t)max);
	in = calloc((size_t)s.size, (size_t)max);
	if (out == NULL || in == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]) && sizes[k] <= max; k++)
			compare(&s, &all[i], (int)sizes[k], rounds);
	MPI_Finalize();
	return 0;
}
