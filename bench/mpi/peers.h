/* SPDX-License-Identifier: MIT
 *
 * What the comparisons with other MPIs share. They see nothing but mpi.h, so that one source is
 * compiled for each library. A measure is made of many short rounds, so that some of them are not
 * disturbed, and rank 0 reports the fastest: `row NAME VALUE UNIT KEY=VALUE`. With --multiple 1 a
 * program asks for MPI_THREAD_MULTIPLE, as Python programs do, though it has one thread; NAME ends
 * with "_multiple".
 */
#ifndef BENCH_MPI_PEERS_H
#define BENCH_MPI_PEERS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct self {
	int rank;
	int size;
	const char *suffix;		/* of the names of all rows */
};

/* The number after `name` on the command line. */
static inline long
number(int argc, char **argv, const char *name, long otherwise)
{
	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return atol(argv[i + 1]);
	return otherwise;
}

static inline struct self
begin(int *argc, char ***argv)
{
	struct self s = {.suffix = ""};
	int provided = MPI_THREAD_SINGLE;

	if (number(*argc, *argv, "--multiple", 0)) {
		MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
		s.suffix = "_multiple";
		if (provided != MPI_THREAD_MULTIPLE)
			MPI_Abort(MPI_COMM_WORLD, 1);
	} else {
		MPI_Init(argc, argv);
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &s.size);
	return s;
}

/* Turns in a round of about `target` seconds, known to all. */
static inline int
turns_for(double once, double target)
{
	int turns = once > 0 ? (int)(target / once) : 1;

	turns = turns < 1 ? 1 : turns > 20000 ? 20000 : turns;
	MPI_Bcast(&turns, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return turns;
}

static inline void
row(const struct self *s, const char *name, double value, const char *unit, long bytes)
{
	if (s->rank == 0)
		printf("row %s%s %.6g %s bytes=%ld\n", name, s->suffix, value, unit, bytes);
}

#endif
