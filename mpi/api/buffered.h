/* SPDX-License-Identifier: MIT
 *
 * Buffered sends: the data goes into a buffer that the program has attached to a communicator or to
 * the rank, and the send returns.
 *
 * The copies lie in the program's buffer, each behind the request that sends it; sorted by address,
 * first fit. With MPI_BUFFER_AUTOMATIC they are allocated.
 */
#ifndef MPI_API_BUFFERED_H
#define MPI_API_BUFFERED_H

#include <mpi/api/message.h>

/*
 * Send from the communicator's buffer, if it has one, else from its session's, or, without a
 * session, from the rank's. MPI_ERR_BUFFER: there is none, or not enough room.
 */
int buffered_send(struct mpi_rank *self, const struct message *m);

/* MPI_ERR_BUFFER: there is one already. */
int buffered_attach(struct send_buffer *b, void *memory, MPI_Count bytes);

/* Wait until all is sent. */
void buffered_flush(struct mpi_rank *self, struct send_buffer *b);

/* The same with a request. Error class. */
int buffered_iflush(struct mpi_rank *self, struct send_buffer *b, struct comm *c,
	MPI_Request *request);

/*
 * Wait until all is sent and give the memory back (where its address goes to, size).
 * MPI_ERR_BUFFER: none was attached.
 */
int buffered_detach(struct mpi_rank *self, struct send_buffer *b, void *memory_out,
	MPI_Count *bytes);

#endif
