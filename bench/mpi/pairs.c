/* SPDX-License-Identifier: MIT
 *
 * Two ranks: half of a round trip with reused and with written buffers, streams of messages from
 * distinct buffers, and the rate of small ones. usage: pairs [--rounds N] [--max BYTES] [--multiple
 * 1]
 */
#include "peers.h"

#define WINDOW 64
#define ROUND_S 0.0005
#define STREAM_BYTES (64l << 22)

static char *out, *in;
static volatile unsigned long sum;

static void
trip(int rank, int bytes)
{
	if (rank == 0) {
		MPI_Send(out, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(in, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(in, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(out, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
	}
}

/* The sender writes all of its message first, the receiver reads all of it. */
static void
write_out(int bytes)
{
	unsigned long *p = (unsigned long *)(void *)out, s = sum;

	for (int i = 0; i < bytes / 8; i++)
		p[i] = s + (unsigned long)i;
}

static void
read_in(int bytes)
{
	const unsigned long *p = (const unsigned long *)(const void *)in;
	unsigned long s = 0;

	for (int i = 0; i < bytes / 8; i++)
		s += p[i];
	sum = s;
}

static void
written_trip(int rank, int bytes)
{
	if (rank == 0)
		write_out(bytes);
	if (rank == 0)
		MPI_Send(out, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
	MPI_Recv(in, bytes, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	read_in(bytes);
	if (rank == 0)
		return;
	write_out(bytes);
	MPI_Send(out, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
}

static void
stream(int rank, int bytes)
{
	MPI_Request r[WINDOW];
	char done;

	for (int i = 0; i < WINDOW; i++) {
		if (rank == 0)
			MPI_Isend(out + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, 1, 0,
				MPI_COMM_WORLD, &r[i]);
		else
			MPI_Irecv(in + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, 0, 0,
				MPI_COMM_WORLD, &r[i]);
	}
	MPI_Waitall(WINDOW, r, MPI_STATUSES_IGNORE);
	if (rank == 0)
		MPI_Recv(&done, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		MPI_Send(&done, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
}

/* Seconds of the fastest round of a step, per step. */
static double
fastest(int rank, void (*step)(int rank, int bytes), int bytes, int rounds)
{
	double best = 1e9, start;
	int turns;

	step(rank, bytes);
	start = MPI_Wtime();
	step(rank, bytes);
	turns = turns_for(MPI_Wtime() - start, ROUND_S);
	for (int k = 0; k < rounds; k++) {
		MPI_Barrier(MPI_COMM_WORLD);
		start = MPI_Wtime();
		for (int i = 0; i < turns; i++)
			step(rank, bytes);
		start = (MPI_Wtime() - start) / turns;
		best = start < best ? start : best;
	}
	return best;
}

static void
run(const struct self *s, int rounds, long max)
{
	static const long trips[] = {0, 8, 64, 1024, 8192, 16384, 65536, 1 << 20},
		streams[] = {4096, 65536, 1 << 20, 4 << 20};

	for (size_t i = 0; i < sizeof(trips) / sizeof(trips[0]) && trips[i] <= max; i++)
		row(s, "half_round_trip", fastest(s->rank, trip, (int)trips[i], rounds) / 2 * 1e9,
			"ns", trips[i]);
	for (size_t i = 3; i < sizeof(trips) / sizeof(trips[0]) && trips[i] <= max; i++)
		row(s, "written_round_trip", fastest(s->rank, written_trip, (int)trips[i],
			rounds) / 2 * 1e9, "ns", trips[i]);
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]) && streams[i] <= max; i++) {
		double once = fastest(s->rank, stream, (int)streams[i], rounds / 4 + 1);

		row(s, "stream", (double)streams[i] * WINDOW / once * 1e-9, "GB/s", streams[i]);
	}
	row(s, "rate", WINDOW / fastest(s->rank, stream, 8, rounds) * 1e-6, "M/s", 8);
}

int
main(int argc, char **argv)
{
	long rounds = number(argc, argv, "--rounds", 60),
		max = number(argc, argv, "--max", 4 << 20);
	struct self s = begin(&argc, &argv);

	out = malloc(STREAM_BYTES);
	in = malloc(STREAM_BYTES);
	if (s.size != 2 || out == NULL || in == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	memset(out, 1, STREAM_BYTES);
	memset(in, 1, STREAM_BYTES);
	run(&s, (int)rounds, max);
	MPI_Finalize();
	return 0;
}
