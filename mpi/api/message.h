/* SPDX-License-Identifier: MIT
 *
 * A message as the program describes it, for all functions that send and receive.
 */
#ifndef MPI_API_MESSAGE_H
#define MPI_API_MESSAGE_H

#include <mpi/api/call.h>
#include <mpi/core/request.h>

enum mode { STANDARD, SYNCHRONOUS };

struct message {
	const void *buffer;
	MPI_Count count;
	struct type *type;
	int rank;
	int tag;
	struct comm *comm;
};

#define MESSAGE_OUT(a) ((struct message){(a)->buf, (a)->count, (a)->datatype, (a)->dest, (a)->tag, \
	(a)->comm})
#define MESSAGE_IN(a) ((struct message){(a)->buf, (a)->count, (a)->datatype, (a)->source, \
	(a)->tag, (a)->comm})

/* Bytes of data. */
size_t message_bytes(const struct message *m);

/* Copy the data out of the program's buffer. */
void message_pack(const struct message *m, void *out);

/* Fill in a request. The rank is not MPI_PROC_NULL. */
void message_prepare_send(struct request *r, const struct message *m, enum mode mode);
void message_prepare_recv(struct request *r, const struct message *m);

/* The same and start it; a partner that does not exist is done at once. */
void message_start_send(struct mpi_rank *self, struct request *r, const struct message *m,
	enum mode mode);
void message_start_recv(struct mpi_rank *self, struct request *r, const struct message *m);

/* With a new request. Error class. */
int message_isend(struct mpi_rank *self, const struct message *m, enum mode mode,
	MPI_Request *request);
int message_irecv(struct mpi_rank *self, const struct message *m, MPI_Request *request);

/* Blocking. Error class. */
int message_send(struct mpi_rank *self, const struct message *m, enum mode mode);

#endif
