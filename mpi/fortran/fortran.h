/* SPDX-License-Identifier: MIT
 *
 * What the Fortran binding is made of (mpi/tools/mpifortran.py writes the routines). Fortran passes
 * addresses of everything, and behind the last argument the length of each text. A handle is the
 * integer of MPI_X_toint. Names that stand for an address (MPI_IN_PLACE, ...) are variables in
 * common blocks here: their addresses are compared.
 */
#ifndef MPI_FORTRAN_FORTRAN_H
#define MPI_FORTRAN_FORTRAN_H

#include <stddef.h>
#include <mpi.h>

/* bytes of the longest text that comes out */
#define FORTRAN_TEXT MPI_MAX_LIBRARY_VERSION_STRING

/* the address that C's functions want for a choice buffer */
const void *fortran_buffer(const void *buffer);
void *fortran_buffer_out(void *buffer);

/* a status or an array of statuses, which both languages lay out alike */
MPI_Status *fortran_status(int *status);

/* weights of a graph's edges */
int *fortran_weights(const int *weights);

/*
 * A text without the blanks around it, for free(). The program ends if there is no memory for it:
 * the caller has no way to say so.
 */
char *fortran_text_in(const char *text, size_t len);

/* A text into `len` bytes: cut, or filled up with blanks. */
void fortran_text_out(const char *from, char *to, size_t len);

/* Arrays of handles, for free(); a negative count gives an empty one. */
MPI_Request *fortran_requests_in(const int *from, int count);
void fortran_requests_out(int *to, MPI_Request *from, int count);
MPI_Datatype *fortran_types_in(const int *from, int count);

/* Is this MPI_IN_PLACE, so that the other arguments of its side mean nothing? */
int fortran_is_in_place(const void *buffer);

/* How many datatypes an alltoallw on a communicator has on each side. */
int fortran_peers(int comm);

/* The same of a neighborhood collective, to receive from and to send to. */
int fortran_sources(int comm);
int fortran_destinations(int comm);

#endif
