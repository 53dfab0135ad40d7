/* SPDX-License-Identifier: MIT
 *
 * Communicators: a group and a pair of contexts which separate their messages from all others: `context` for point-to-point,
 * `context` + 1 for collectives. Contexts are chosen so that no member uses one twice.
 */
#ifndef MPI_CORE_COMM_H
#define MPI_CORE_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <mpi.h>
#include <mpi/core/group.h>
#include <mpi/core/send_buffer.h>

struct mpi_rank;
struct errhandler;

struct comm {
	int references;			/* the handle, and each pending operation */
	int rank;
	int size;
	int32_t context;
	struct group *group;
	struct group *remote;		/* the other group of an intercommunicator, else NULL */
	struct errhandler *errhandler;
	struct send_buffer buffer;
	uintptr_t handle;
};

static inline bool
mpi_comm_is_inter(const struct comm *c)
{
	return c->remote != NULL;
}

/* The group that ranks of messages count in, and its size. */
static inline struct group *
mpi_comm_peer_group(const struct comm *c)
{
	return c->remote ? c->remote : c->group;
}

static inline int
mpi_comm_peers(const struct comm *c)
{
	return mpi_comm_peer_group(c)->size;
}

#define CONTEXT_WORLD 0
#define CONTEXT_SELF 2
#define CONTEXT_FIRST_FREE 4

/* Set up MPI_COMM_WORLD and MPI_COMM_SELF. Error class. */
int mpi_comm_init(struct mpi_rank *self);
void mpi_comm_exit(struct mpi_rank *self);

/* The communicator of a handle, or NULL. */
struct comm *mpi_comm_find(struct mpi_rank *self, MPI_Comm handle);

/* A new communicator with one reference to g (taken over). NULL: no memory. */
struct comm *mpi_comm_new(struct mpi_rank *self, struct group *g, int32_t context, struct errhandler *errhandler);
void mpi_comm_release(struct mpi_rank *self, struct comm *c);

/* The handle under which the program knows it. */
MPI_Comm mpi_comm_handle(const struct comm *c);

#endif
