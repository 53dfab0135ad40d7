/* SPDX-License-Identifier: MIT
 *
 * Neighbourhood collectives: a message for each edge of the topology, all at once.
 *
 * Messages between two ranks stay in order, which pairs their edges. In a grid a block that is sent
 * below arrives as from above: the receives are in the order in which the neighbours send.
 *
 * Cost: d (a + m b) with d neighbours.
 */
#include <mpi/coll/choose.h>
#include <mpi/core/topology.h>

void
mpi_neighbor_write(struct sched *s, const struct collective *k)
{
	const struct adjacency *near;
	bool grid, spreads = k->kind == COLL_NEIGHBOR_ALLTOALL;
	int err = mpi_topo_neighbors(s->c, &near);

	if (err != MPI_SUCCESS) {
		s->broken = err;
		return;
	}
	mpi_side_hold(s, &k->recv, near->in);
	mpi_side_hold(s, &k->send, spreads ? near->out : 1);
	grid = s->c->topology->kind == MPI_CART;
	for (int i = 0; i < near->in; i++) {
		int place = grid ? i ^ 1 : i;

		if (near->sources[place] != MPI_PROC_NULL)
			mpi_sched_recv(s, side_block(&k->recv, place), near->sources[place]);
	}
	for (int i = 0; i < near->out; i++)
		if (near->destinations[i] != MPI_PROC_NULL)
			mpi_sched_send(s, side_block(&k->send, spreads ? i : 0),
				near->destinations[i]);
	mpi_sched_round(s);
}
