/* SPDX-License-Identifier: MIT
 *
 * Broadcast among ranks of one address space: all copy from the root's buffer at the same time. If
 * it is not one piece of memory, which all see, none of them does.
 *
 * Cost: two meetings, m b on each rank at the same time; no message.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/pointers.h>

static bool
bcast_pointers_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct span data = mpi_side_block(&k->recv, 0);
	struct pointed mine = {.in = mpi_span_is_plain(data) ? mpi_span_first(data) : NULL};
	struct pointers p;
	const char *from;

	if (mpi_span_size(data) == 0 || !mpi_pointers_begin(&p, self, c, mine))
		return false;
	from = mpi_pointers_of(&p, k->root)->in;
	if (from != NULL && p.me != k->root)
		mpi_type_unpack(data.type, data.at, 0, from, (MPI_Count)mpi_span_size(data));
	mpi_pointers_end(&p);
	*err = MPI_SUCCESS;
	return from != NULL;
}

const struct algorithm mpi_algorithm_bcast_pointers = {.run = bcast_pointers_run};
