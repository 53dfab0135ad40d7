/* SPDX-License-Identifier: MIT
 *
 * Requests: one pending send or receive. Blocking calls keep theirs on the stack, the others have a handle.
 */
#ifndef MPI_CORE_REQUEST_H
#define MPI_CORE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <mpi.h>
#include <mpi/core/comm.h>
#include <mpi/core/list.h>

struct mpi_rank;

enum request_kind { REQUEST_SEND, REQUEST_RECV, REQUEST_NULL };

struct request {
	struct link link;		/* in the list it waits in: posted receives, outgoing sends, bulk */
	uint32_t done;			/* a shared word: a peer in the cluster may set it */
	uint8_t kind;
	uint8_t synchronous;		/* send: complete only when it is matched */
	uint8_t posted;			/* receive: in the matcher */
	int error;			/* class; valid when done */
	int32_t context;
	int32_t source;			/* receive: wanted, then found. send: own rank in the communicator */
	int32_t tag;			/* likewise */
	uint32_t peer;			/* rank in the job: of the destination, or of the found source */
	uint32_t remote_request;	/* bulk: the peer's name of its request */
	uint32_t bulk_name;		/* bulk: the name that the peer uses for this one; 0: none */
	void *buffer;
	size_t bytes;			/* room, or data to send */
	size_t moved;			/* receive: data received. bulk: so far */
	uint64_t order;			/* receive: age among the posted */
	const struct group *group;	/* whose ranks `source` counts */
	struct comm *comm;		/* NULL for requests on the stack */
	uintptr_t handle;		/* 0: none */
	struct request *next_free;	/* spare, or freed by the program before it was done */
};

/* A request with a handle; holds the communicator. NULL: no memory. */
struct request *mpi_request_new(struct mpi_rank *self, struct comm *c);

/* The request of a handle, or NULL. */
struct request *mpi_request_find(struct mpi_rank *self, MPI_Request handle);

/* Give back a request that is done; its handle becomes invalid. */
void mpi_request_free(struct mpi_rank *self, struct request *r);

/* The program freed a request that is not done: it is given back when it is (by mpi_request_reap). */
void mpi_request_detach(struct mpi_rank *self, struct request *r);
void mpi_request_reap(struct mpi_rank *self);

/* Mark as done by the owner itself. */
void mpi_request_complete(struct request *r, int error);

bool mpi_request_is_done(const struct request *r);

/* Write a status (may be MPI_STATUS_IGNORE); MPI_ERROR is left alone. */
void mpi_request_status(const struct request *r, MPI_Status *status);

/* The status of nothing: MPI_REQUEST_NULL waited for. */
void mpi_status_empty(MPI_Status *status);

/* The status of a receive from MPI_PROC_NULL. */
void mpi_status_null(MPI_Status *status);

/* Bytes received, kept in the internal words of a status. */
uint64_t mpi_status_bytes(const MPI_Status *status);
void mpi_status_set(MPI_Status *status, int source, int tag, uint64_t bytes);

/* Free the spare requests. */
void mpi_request_exit(struct mpi_rank *self);

#endif
