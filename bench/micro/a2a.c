/* SPDX-License-Identifier: MIT
 *
 * All-to-all: in each superstep every rank sends messages of a size to all others, and all meet.
 *
 *	a2a [--messages N] [--from B] [--to B]		all at once, with room for a message from
 *							everybody
 * 	a2a --in-turn 1 ...				by blocking calls, one partner after the
 *							other, in one buffer: where memory is short
 *
 * The size doubles from superstep to superstep. What arrives is checked once per size. Source: seed
 * 002 6.1 (A2A), Table 5; its library had blocking calls only, and its clusters 2 MB.
 */
#include <mpi.h>
#include <stdbool.h>
#include "micro.h"

struct all {
	int rank, ranks;
	long messages;
	bool in_turn;
	unsigned char *out, *in;	/* in: a place per rank, or out again */
	MPI_Request *requests;		/* two per rank */
};

static unsigned char
mark(int rank, size_t bytes)
{
	return (unsigned char)(rank * 7 + (int)(bytes % 251));
}

static void
check_message(const unsigned char *in, int from, size_t bytes)
{
	if (in[0] == mark(from, bytes) && in[bytes - 1] == mark(from, bytes))
		return;
	fprintf(stderr, "a2a: wrong data from rank %d\n", from);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/*
 * The partner in a round of a tournament in which everybody meets everybody once; that rank itself,
 * or none: no partner.
 */
static int
partner(int rank, int ranks, int round)
{
	int last = (ranks - 1) | 1, p = (round - rank + last) % last;

	if (rank == last)
		return round * ((last + 1) / 2) % last;
	return p == rank ? last : p;
}

/*
 * Both ways through one buffer: what arrives takes the place of what was sent, so that for a check
 * it is written anew.
 */
static void
swap(struct all *a, int peer, size_t bytes, bool checked)
{
	for (int half = 0; half < 2; half++)
		if ((a->rank < peer) == (half == 0)) {
			MPI_Send(a->out, (int)bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
		} else {
			MPI_Recv(a->out, (int)bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
			if (checked) {
				check_message(a->out, peer, bytes);
				memset(a->out, mark(a->rank, bytes), bytes);
			}
		}
}

static void
swap_with_all(struct all *a, size_t bytes, bool checked)
{
	for (int round = 0; round < ((a->ranks - 1) | 1); round++) {
		int peer = partner(a->rank, a->ranks, round);

		if (peer < a->ranks && peer != a->rank)
			swap(a, peer, bytes, checked);
	}
}

/* One message from everybody to everybody. */
static void
exchange(struct all *a, size_t bytes)
{
	int n = 0;

	for (int i = 1; i < a->ranks; i++) {
		int from = (a->rank + a->ranks - i) % a->ranks;

		MPI_Irecv(a->in + (size_t)from * bytes, (int)bytes, MPI_BYTE, from, 0,
			MPI_COMM_WORLD, &a->requests[n++]);
	}
	for (int i = 1; i < a->ranks; i++)
		MPI_Isend(a->out, (int)bytes, MPI_BYTE, (a->rank + i) % a->ranks, 0, MPI_COMM_WORLD,
			&a->requests[n++]);
	MPI_Waitall(n, a->requests, MPI_STATUSES_IGNORE);
}

static void
exchange_checked(struct all *a, size_t bytes)
{
	memset(a->out, mark(a->rank, bytes), bytes);
	if (a->in_turn) {
		swap_with_all(a, bytes, true);
		return;
	}
	exchange(a, bytes);
	for (int i = 0; i < a->ranks; i++)
		if (i != a->rank)
			check_message(a->in + (size_t)i * bytes, i, bytes);
}

/* Seconds of a superstep. */
static double
superstep(struct all *a, size_t bytes)
{
	double start;

	exchange_checked(a, bytes);
	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	for (long i = 0; i < a->messages; i++)
		if (a->in_turn)
			swap_with_all(a, bytes, false);
		else
			exchange(a, bytes);
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Wtime() - start;
}

int
main(int argc, char **argv)
{
	struct all a = {.messages = number(argc, argv, "--messages", 10),
		.in_turn = number(argc, argv, "--in-turn", 0) != 0};
	size_t from = (size_t)number(argc, argv, "--from", 128),
		to = (size_t)number(argc, argv, "--to", 32768);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &a.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &a.ranks);
	a.out = malloc(to);
	a.in = a.in_turn ? a.out : malloc(to * (size_t)a.ranks);
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
	if (!a.in_turn)
		free(a.in);
	free(a.out);
	free(a.requests);
	MPI_Finalize();
	return 0;
}
