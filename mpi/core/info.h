/* SPDX-License-Identifier: MIT
 *
 * Info objects: an ordered set of (key, value) texts.
 */
#ifndef MPI_CORE_INFO_H
#define MPI_CORE_INFO_H

#include <mpi.h>

struct mpi_rank;
struct info;

/* The info object of a handle, or NULL (also for MPI_INFO_NULL). */
struct info *mpi_info_find(struct mpi_rank *self, MPI_Info handle);

#endif
