/* SPDX-License-Identifier: MIT
 *
 * Info objects.
 */
#include <mpi/core/info.h>
#include <mpi/core/rank.h>

struct info *
mpi_info_find(struct mpi_rank *self, MPI_Info handle)
{
	return mpi_handle_find(&self->tables[HANDLE_INFO], (uintptr_t)handle);
}
