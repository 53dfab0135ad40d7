/* SPDX-License-Identifier: MIT
 *
 * Naming the algorithm of a communicator's collectives. The list of all, "collective=algorithm", is
 * made from the library's files.
 */
#ifndef TESTS_MPI_COLL_FORCE_H
#define TESTS_MPI_COLL_FORCE_H

#include <mpi.h>
#include <mpi_coll_names.h>

#define COLL_NAMES ((int)(sizeof(coll_names) / sizeof(coll_names[0])))

/* From now on; "" undoes it. */
static inline void
coll_force(MPI_Comm comm, const char *name)
{
	MPI_Info info;

	MPI_Info_create(&info);
	MPI_Info_set(info, "atoll_coll", name);
	MPI_Comm_set_info(comm, info);
	MPI_Info_free(&info);
}

#endif
