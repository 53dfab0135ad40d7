/* SPDX-License-Identifier: MIT
 *
 * All-to-all: in each superstep every rank sends messages of a size to all others, and all meet. usage: a2a [--messages N] [--from B] [--to B]
 *
 * The size doubles from superstep to superstep. What arrives is checked once per size. Source: seed 002 6.1 (A2A), Table 5.
 */
#include <mpi.h>
#include "micro.h"

struct all {
	int rank, ranks;
	long messages;
	unsigned char *out, *in;	/* in: a place per rank */
	MPI_Request *requests;		/* two per rank */
};

static unsigned char
mark(int rank, size_t bytes)
{
	return (unsigned char)(rank * 7 + (int)(bytes % 251));
}

/* One message from everybody to everybody. */
static void
exchange(struct all *a, size_t bytes)
{
	int n = 0;

	for (int i = 1; i < a->ranks; i++) {
		int from = (a->rank + a->ranks - i) % a->ranks;

		MPI_Irecv(a->in + (size_t)from * bytes, (int)bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, &a->requests[n++]);
	}
	for (int i = 1; i < a->ranks; i++)
		MPI_Isend(a->out, (int)bytes, MPI_BYTE, (a->rank + i) % a->ranks, 0, MPI_COMM_WORLD, &a->requests[n++]);
	MPI_Waitall(n, a->requests, MPI_STATUSES_IGNORE);
}

static void
check_arrived(const struct all *a, size_t bytes)
{
	for (int i = 0; i < a->ranks; i++) {
		const unsigned char *in = a->in + (size_t)i * bytes;

		if (i != a->rank && (in[0] != mark(i, bytes) || in[bytes - 1] != mark(i, bytes))) {
			fprintf(stderr, "a2a: wrong data from rank %d\n", i);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
	}
}

/* Seconds of a superstep. */
static double
superstep(struct all *a, size_t bytes)
{
	double start;

	memset(a->out, mark(a->rank, bytes), bytes);
	exchange(a, bytes);
	check_arrived(a, bytes);
	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	for (long i = 0; i < a->messages; i++)
		exchange(a, bytes);
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Wtime() - start;
}

int
main(int argc, char **argv)
{
	struct all a = {.messages = number(argc, argv, "--messages", 10)};
	size_t from = (size_t)number(argc, argv, "--from", 128), to = (size_t)number(argc, argv, "--to", 32768);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &a.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &a.ranks);
	a.out = malloc(to);
	a.in = malloc(to * (size_t)a.ranks);
	a.requests = malloc(2 * sizeof(*a.requests) * (size_t)a.ranks);
	if (a.out == NULL || a.in == NULL || a.requests == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (size_t bytes = from; bytes <= to; bytes *= 2) {
		double seconds = superstep(&a, bytes);
		char params[32];

		snprintf(params, sizeof(params), "size=%zu", bytes);
		if (a.rank == 0)
			row("superstep", seconds * 1e6 / (double)a.messages, "us", params);
	}
	free(a.out);
	free(a.in);
	free(a.requests);
	MPI_Finalize();
	return 0;
}
