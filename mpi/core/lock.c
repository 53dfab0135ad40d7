/* SPDX-License-Identifier: MIT
 *
 * The lock of a rank whose program has several threads in MPI.
 */
#include <mpi/core/rank.h>

void
mpi_rank_lock(struct mpi_rank *self)
{
	(void)self;
}

void
mpi_rank_unlock(struct mpi_rank *self)
{
	(void)self;
}
