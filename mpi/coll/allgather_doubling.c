/* SPDX-License-Identifier: MIT
 *
 * Allgather for a power of two of ranks: pairs at distances 1, 2, 4 ... exchange all that they have. Equal blocks, one after the other.
 *
 * Cost: log2 n a + (n - 1) m b.
 */
#include <mpi/coll/coll.h>

void
mpi_allgather_doubling(struct sched *s, struct span all)
{
	MPI_Count block = all.count / s->size;

	for (int n = 1; n < s->size; n *= 2) {
		int mine = s->rank & ~(n - 1), theirs = mine ^ n;

		mpi_sched_recv(s, span_slice(all, theirs * block, n * block), s->rank ^ n);
		mpi_sched_send(s, span_slice(all, mine * block, n * block), s->rank ^ n);
		mpi_sched_round(s);
	}
}
