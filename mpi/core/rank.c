/* SPDX-License-Identifier: MIT
 *
 * The state of this copy of the library.
 */
#include <mpi/core/rank.h>
#include <mpi/transport/shared.h>

static _Alignas(CACHE_LINE) struct mpi_rank this_rank;

ON_ONE_PAGE struct mpi_rank *
mpi_self(void)
{
	return &this_rank;
}
