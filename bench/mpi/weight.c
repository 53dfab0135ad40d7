/* SPDX-License-Identifier: MIT
 *
 * Memory of a job after all pairs of ranks have talked: the sum over its Linux processes of their
 * proportional share (Pss). Ranks that are threads share one, which counts once. A job of one rank
 * says what the program itself costs.
 *
 * With --communicators N, instead: what each of N communicators of all ranks takes more for each of
 * its ranks, once there were a barrier and an allreduce on it; copies of the world, and those whose
 * ranks are in disorder, so that they do not follow from those of the world.
 */
#include <stdbool.h>
#include <unistd.h>
#include "peers.h"

#define TALK 4096

static double
share_kb(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	double kb = 0;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "Pss: %lf", &kb) == 1)
			break;
	if (f != NULL)
		fclose(f);
	return kb;
}

/* Is this the first rank of its Linux process? */
static bool
is_first(const struct self *s)
{
	int *pids = malloc((size_t)s->size * sizeof(*pids)), mine = (int)getpid(), first = 0;

	if (pids == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Allgather(&mine, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
	while (pids[first] != mine)
		first++;
	free(pids);
	return first == s->rank;
}

static double
job_kb(bool first)
{
	double mine, all = 0;

	MPI_Barrier(MPI_COMM_WORLD);
	mine = first ? share_kb() : 0;
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

static void
use(MPI_Comm comm)
{
	double one = 1, sum = 0;

	MPI_Barrier(comm);
	MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
}

static void
weigh_communicators(const struct self *s, const char *what, int count, bool in_disorder)
{
	MPI_Comm *comm = calloc((size_t)count, sizeof(*comm));
	bool first = is_first(s);
	double before;

	if (comm == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	before = job_kb(first);
	for (int i = 0; i < count; i++) {
		if (in_disorder)
			MPI_Comm_split(MPI_COMM_WORLD, 0, (s->rank + i) * 7919 % 10007, &comm[i]);
		else
			MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
		use(comm[i]);
	}
	row(s, what, (job_kb(first) - before) * 1024 / count / s->size, "B", s->size);
	for (int i = 0; i < count; i++)
		MPI_Comm_free(&comm[i]);
	free(comm);
}

static void
weigh_job(const struct self *s)
{
	char *block = calloc((size_t)s->size, 2 * TALK);

	if (block == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 0; i < 10; i++)
		MPI_Alltoall(block, TALK, MPI_BYTE, block + (size_t)s->size * TALK, TALK, MPI_BYTE,
			MPI_COMM_WORLD);
	row(s, "job_pss", job_kb(is_first(s)), "kB", s->size);
	free(block);
}

int
main(int argc, char **argv)
{
	struct self s = begin(&argc, &argv);
	int communicators = (int)number(argc, argv, "--communicators", 0);

	if (communicators > 0) {
		use(MPI_COMM_WORLD);
		weigh_communicators(&s, "copied_communicator", communicators, false);
		weigh_communicators(&s, "disordered_communicator", communicators, true);
	} else {
		weigh_job(&s);
	}
	MPI_Finalize();
	return 0;
}
