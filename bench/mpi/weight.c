/* SPDX-License-Identifier: MIT
 *
 * Memory of a job after all pairs of ranks have talked: the sum over its Linux processes of their
 * proportional share (Pss). Ranks that are threads share one, which counts once. A job of one rank
 * says what the program itself costs.
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

int
main(int argc, char **argv)
{
	struct self s = begin(&argc, &argv);
	char *block = calloc((size_t)s.size, 2 * TALK);
	double mine, all = 0;

	if (block == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 0; i < 10; i++)
		MPI_Alltoall(block, TALK, MPI_BYTE, block + (size_t)s.size * TALK, TALK, MPI_BYTE,
			MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	mine = is_first(&s) ? share_kb() : 0;
	MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	row(&s, "job_pss", all, "kB", s.size);
	MPI_Finalize();
	return 0;
}
