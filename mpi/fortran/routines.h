/* SPDX-License-Identifier: MIT
 *
 * Routines that are written by hand. Each has two names, mpi_x_ and pmpi_x_, for one body: what it
 * calls besides the function itself is not for a profiler to see.
 */
#ifndef MPI_FORTRAN_ROUTINES_H
#define MPI_FORTRAN_ROUTINES_H

#include <mpi/fortran/fortran.h>

#define FORTRAN_ROUTINE(name, parameters) \
	void mpi_##name##_ parameters; \
	void pmpi_##name##_ parameters __attribute__((alias("mpi_" #name "_"))); \
	void mpi_##name##_ parameters

#define FORTRAN_FUNCTION(type, name, parameters) \
	type mpi_##name##_ parameters; \
	type pmpi_##name##_ parameters __attribute__((alias("mpi_" #name "_"))); \
	type mpi_##name##_ parameters

struct fortran_descriptor;

/* MPI_Sizeof: bytes of one element. */
void mpi_fortran_sizeof(const struct fortran_descriptor *x, int *size, int *ierror);

#endif
