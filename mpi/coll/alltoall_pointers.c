/* SPDX-License-Identifier: MIT
 *
 * Alltoall among ranks of one address space: each copies its own blocks of the others' from where
 * they lie. Equal blocks; if a rank's are in place or not one piece of memory, which all see, none
 * of them does.
 *
 * Cost: two meetings, n m b on each rank at the same time; no message.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/pointers.h>

static bool
alltoall_pointers_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct span to = mpi_side_block(&k->recv, 0), own = k->send.in_place ? to : mpi_side_block(&k->send, 0);
	size_t bytes = mpi_span_size(to);
	struct pointed mine = {.in = !k->send.in_place && mpi_span_is_plain(own) ? mpi_span_first(own) : NULL};
	struct pointers p;
	bool there;

	if (!k->even || bytes == 0 || !mpi_pointers_begin(&p, self, c, mine))
		return false;
	there = mpi_pointers_are_there(&p);
	for (int i = 0; there && i < p.n; i++) {
		int from = (p.me + i) % p.n;

		to = mpi_side_block(&k->recv, from);
		mpi_type_unpack(to.type, to.at, 0, mpi_pointers_of(&p, from)->in + (size_t)p.me *
			bytes, (MPI_Count)bytes);
	}
	mpi_pointers_end(&p);
	*err = MPI_SUCCESS;
	return there;
}

const struct algorithm mpi_algorithm_alltoall_pointers = {.run = alltoall_pointers_run};
