/* SPDX-License-Identifier: MIT
 *
 * Broadcast to few ranks in one cluster: the root lays a part of the data beside its sign while the
 * others copy the part before.
 *
 * Cost: one read of a line for each part, and m b on each rank, at the same time.
 */
#include <mpi/coll/algorithm.h>
#include <mpi/coll/signs.h>

static void
bcast_signs_give(struct signs *g, struct span data, MPI_Count at, size_t bytes)
{
	mpi_type_pack(data.type, data.at, at, mpi_signs_room(g, bytes), (MPI_Count)bytes);
	mpi_signs_show(g);
}

static void
bcast_signs_take(struct signs *g, struct span data, MPI_Count at, int root, size_t bytes)
{
	mpi_signs_show(g);
	mpi_signs_wait(g, root);
	mpi_type_unpack(data.type, data.at, at, mpi_signs_data(g, root, bytes), (MPI_Count)bytes);
}

static bool
bcast_signs_run(struct mpi_rank *self, struct comm *c, const struct collective *k, int *err)
{
	struct span data = mpi_side_block(&k->recv, 0);
	size_t all = mpi_span_size(data);
	struct signs g;

	if (!mpi_signs_begin(&g, self, c, all))
		return false;
	for (size_t at = 0; at < all; at += mpi_signs_bytes(&g)) {
		size_t bytes = all - at < mpi_signs_bytes(&g) ? all - at : mpi_signs_bytes(&g);

		mpi_signs_next(&g);
		if (g.me == k->root)
			bcast_signs_give(&g, data, (MPI_Count)at, bytes);
		else
			bcast_signs_take(&g, data, (MPI_Count)at, k->root, bytes);
	}
	mpi_signs_end(&g);
	*err = MPI_SUCCESS;
	return true;
}

const struct algorithm mpi_algorithm_bcast_signs = {.run = bcast_signs_run, .straight = true};
