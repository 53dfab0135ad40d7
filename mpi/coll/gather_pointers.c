/* SPDX-License-Identifier: MIT
 *
 * Gather among ranks of one address space: each copies its block to where the root wants it, at the
 * same time. Equal blocks; if the root's are not one piece of memory, which all see, none of them
 * does.
 *
 * Cost: two meetings, m b on each rank at the same time; no message.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/choose.h>
#include <mpi/coll/pointers.h>

static bool
gather_pointers_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	size_t bytes = mpi_choose_bytes(c, k);
	struct pointed mine = {NULL, NULL};
	struct pointers p;
	struct span own;
	char *to;

	if (!k->even || bytes == 0)
		return false;
	if (c->rank == k->root && mpi_span_is_plain(mpi_side_block(&k->recv, 0)))
		mine.out = mpi_span_first(mpi_side_block(&k->recv, 0));
	if (!mpi_pointers_begin(&p, self, c, mine))
		return false;
	to = mpi_pointers_of(&p, k->root)->out;
	if (to != NULL && !k->send.in_place) {
		own = mpi_side_block(&k->send, 0);
		mpi_type_pack(own.type, own.at, 0, to + (size_t)p.me * bytes, (MPI_Count)bytes);
	}
	mpi_pointers_end(&p);
	*err = MPI_SUCCESS;
	return to != NULL;
}

const struct algorithm mpi_algorithm_gather_pointers = {.run = gather_pointers_run};
