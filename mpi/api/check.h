/* SPDX-License-Identifier: MIT
 *
 * Argument checks of the API. Every function first checks everything, then acts; what it calls need not check again.
 */
#ifndef MPI_API_CHECK_H
#define MPI_API_CHECK_H

#include <mpi/core/rank.h>
#include <mpi/core/type.h>

/* Largest tag. */
#define TAG_MAX 0x7fffffff

/* A message as the program describes it, and what the checks make of it. */
struct message {
	const void *buffer;
	int count;
	MPI_Datatype datatype;
	int rank;
	int tag;
	size_t bytes;			/* out */
};

/* The communicator of a handle: *c, or NULL and an error class. Also refuses calls before MPI_Init and after MPI_Finalize. */
int check_comm(struct mpi_rank *self, MPI_Comm handle, struct comm **c);

/* Count, type and buffer; *bytes is how long it is. Error class. */
int check_buffer(const void *buffer, int count, MPI_Datatype datatype, size_t *bytes);

/* A whole message to send or to receive. Error class. */
int check_send(const struct comm *c, struct message *m);
int check_recv(const struct comm *c, struct message *m);

/* Source and tag of a receive or a probe. */
int check_source(const struct comm *c, int source);
int check_recv_tag(int tag);

/* A rank that is a root. */
int check_root(const struct comm *c, int root);

/* An argument that must not be NULL: error class. */
static inline int
check_pointer(const void *pointer)
{
	return pointer != NULL ? MPI_SUCCESS : MPI_ERR_ARG;
}

/* Is the library running? Else MPI_ERR_OTHER. */
int check_running(const struct mpi_rank *self);

#endif
