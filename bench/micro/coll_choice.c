/* SPDX-License-Identifier: MIT
 *
 * Algorithms of one collective beside each other. usage: coll_choice COLLECTIVE ALGORITHM,...
 * [--most BYTES] [--rounds N] [--total BYTES]
 *
 * For each size the algorithms take turns; a figure is the shortest of many short rounds, per call,
 * as the slowest rank sees it. An algorithm that is ten times slower than the best one so far is
 * not asked again with this size, one that cannot do it not at all. Made for ./atoll bench coll
 * --table.
 */
#include <mpi.h>
#include "micro.h"

#define ALGORITHMS 16
#define ROUND_S 0.0005
#define TURNS_MAX 2000
#define HOPELESS 10
#define NEVER 1e9

static char *in, *out;
static int ranks;
static MPI_Comm comms[ALGORITHMS];

/* Error code: not all algorithms can do everything. */
static int
call(const char *what, int bytes, MPI_Comm c)
{
	int n = bytes / 8;

	if (strcmp(what, "barrier") == 0)
		return MPI_Barrier(c);
	if (strcmp(what, "bcast") == 0)
		return MPI_Bcast(in, bytes, MPI_BYTE, 0, c);
	if (strcmp(what, "gather") == 0)
		return MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, c);
	if (strcmp(what, "scatter") == 0)
		return MPI_Scatter(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, c);
	if (strcmp(what, "allgather") == 0)
		return MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, c);
	if (strcmp(what, "alltoall") == 0)
		return MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, c);
	if (strcmp(what, "reduce") == 0)
		return MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, 0, c);
	if (strcmp(what, "allreduce") == 0)
		return MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, c);
	if (strcmp(what, "reduce_scatter") == 0)
		return MPI_Reduce_scatter_block(in, out, n, MPI_DOUBLE, MPI_SUM, c);
	if (strcmp(what, "scan") == 0)
		return MPI_Scan(in, out, n, MPI_DOUBLE, MPI_SUM, c);
	return MPI_Exscan(in, out, n, MPI_DOUBLE, MPI_SUM, c);
}

static int
holds_blocks(const char *what)
{
	return strstr("gather scatter allgather alltoall reduce_scatter", what) != NULL;
}

/* Seconds per call. */
static double
round_of(const char *what, int bytes, MPI_Comm c, int turns)
{
	double start, mine, t;

	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	for (int i = 0; i < turns; i++)
		call(what, bytes, c);
	mine = (MPI_Wtime() - start) / turns;
	MPI_Allreduce(&mine, &t, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return t;
}

static int
turns_for(double once)
{
	double turns = once > 0 ? ROUND_S / once : TURNS_MAX;

	return turns < 1 ? 1 : turns > TURNS_MAX ? TURNS_MAX : (int)turns;
}

/* best[a]: shortest of all rounds */
static void
compare(const char *what, int bytes, int n, long rounds, double *best)
{
	double fastest = NEVER;

	for (int a = 0; a < n; a++) {
		best[a] = NEVER;
		if (call(what, bytes, comms[a]) != MPI_SUCCESS)
			continue;
		best[a] = round_of(what, bytes, comms[a], 1);
		fastest = best[a] < fastest ? best[a] : fastest;
	}
	for (long k = 0; k < rounds; k++) {
		for (int a = 0; a < n; a++) {
			double t;

			if (best[a] >= NEVER || (k > rounds / 8 && best[a] > HOPELESS * fastest))
				continue;
			t = round_of(what, bytes, comms[a], turns_for(best[a]));
			best[a] = t < best[a] ? t : best[a];
			fastest = best[a] < fastest ? best[a] : fastest;
		}
	}
}

/* A communicator for each algorithm of the list; their names. */
static int
make_comms(const char *what, char *list, char **names)
{
	int n = 0;

	for (char *name = strtok(list, ","); name != NULL && n < ALGORITHMS;
		name = strtok(NULL, ",")) {
		char value[64];
		MPI_Info info;

		snprintf(value, sizeof(value), "%s=%s!", what, name);
		MPI_Info_create(&info);
		MPI_Info_set(info, "atoll_coll", value);
		MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comms[n]);
		MPI_Info_free(&info);
		MPI_Comm_set_errhandler(comms[n], MPI_ERRORS_RETURN);
		names[n++] = name;
	}
	return n;
}

static void
sizes(const char *what, long most, long rounds, char *list, int rank)
{
	char *names[ALGORITHMS];
	int n = make_comms(what, list, names), blocks = holds_blocks(what);

	for (int bytes = 8; bytes <= most && (!blocks || (long)bytes * ranks <= most); bytes *= 4) {
		double best[ALGORITHMS];

		compare(what, bytes, n, rounds, best);
		for (int a = 0; a < n; a++) {
			char params[32];

			if (rank != 0 || best[a] >= NEVER)
				continue;
			snprintf(params, sizeof(params), "bytes=%d", strcmp(what, "barrier") == 0 ?
				0 : bytes);
			row(names[a], best[a] * 1e6, "us", params);
		}
		if (strcmp(what, "barrier") == 0)
			break;
	}
	for (int a = 0; a < n; a++)
		MPI_Comm_free(&comms[a]);
}

int
main(int argc, char **argv)
{
	long most = number(argc, argv, "--most", 2097152),
		rounds = number(argc, argv, "--rounds", 40);
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	in = calloc(1, (size_t)most + 8);
	out = calloc(1, (size_t)most + 8);
	if (in == NULL || out == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 1; i + 1 < argc && argv[i][0] != '-'; i += 2)
		sizes(argv[i], most, rounds, argv[i + 1], rank);
	MPI_Finalize();
	free(in);
	free(out);
	return 0;
}
