/* SPDX-License-Identifier: MIT
 *
 * Allgather among ranks of one address space: each copies the others' blocks from where they lie.
 * Equal blocks; if one is not one piece of memory, which all see, none of them does.
 *
 * Cost: two meetings, n m b on each rank at the same time; no message.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/pointers.h>

static bool
allgather_pointers_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct span own = k->send.in_place ? mpi_side_block(&k->recv, c->rank) : mpi_side_block(&k->send, 0);
	MPI_Count bytes = (MPI_Count)mpi_span_size(mpi_side_block(&k->recv, 0));
	struct pointed mine = {.in = mpi_span_is_plain(own) ? mpi_span_first(own) : NULL};
	struct pointers p;
	bool there;

	if (!k->even || bytes == 0 || !mpi_pointers_begin(&p, self, c, mine))
		return false;
	there = mpi_pointers_are_there(&p);
	for (int i = k->send.in_place; there && i < p.n; i++) {
		int from = (p.me + i) % p.n;
		struct span to = mpi_side_block(&k->recv, from);

		mpi_type_unpack(to.type, to.at, 0, mpi_pointers_of(&p, from)->in, bytes);
	}
	mpi_pointers_end(&p);
	*err = MPI_SUCCESS;
	return there;
}

const struct algorithm mpi_algorithm_allgather_pointers = {.run = allgather_pointers_run};
