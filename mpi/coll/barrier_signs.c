/* SPDX-License-Identifier: MIT
 *
 * Barrier of few ranks in one cluster: each shows its sign and looks at all others'.
 *
 * Cost: one change of a line, and n - 1 reads of others' lines, which travel at the same time.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/signs.h>

static bool
barrier_signs_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct signs g;

	(void)k;
	if (!mpi_signs_begin(&g, self, c, 0))
		return false;
	mpi_signs_next(&g);
	mpi_signs_show(&g);
	mpi_signs_wait_all(&g);
	mpi_signs_end(&g);
	*err = MPI_SUCCESS;
	return true;
}

const struct algorithm mpi_algorithm_barrier_signs = {.run = barrier_signs_run, .straight = true};
