/* SPDX-License-Identifier: MIT
 *
 * Communicators: a group (an intercommunicator: two) and a number that no other communicator of any
 * member has. The number stands for 16 contexts, which separate its messages from all others.
 */
#ifndef MPI_CORE_COMM_H
#define MPI_CORE_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <mpi.h>
#include <mpi/core/attr.h>
#include <mpi/core/group.h>
#include <mpi/core/send_buffer.h>

struct mpi_rank;
struct errhandler;
struct info;
struct session;
struct sync;
struct topology;

/* What travels in which context: `context` of a communicator plus one of these. */
enum comm_context {
	CONTEXT_PT2PT,			/* the program's messages */
	CONTEXT_COLL,			/* collectives */
	CONTEXT_AGREE,			/* agreements on new communicators */
	/* the same of some members only, under a tag of the program's */
	CONTEXT_GROUP,
	CONTEXT_LOCAL,			/* where the four contexts of `local` begin */
	CONTEXT_PARTITIONED = 8,	/* how a partitioned message will be cut */
	CONTEXT_PIECES			/* its pieces */
};

#define CONTEXTS_PER_COMM 16
#define CONTEXT_NONE (-1)		/* the members have not agreed yet */

/* numbers in use from the start; the last is for what begins without a communicator */
enum { ID_WORLD, ID_SELF, ID_UNIVERSE };
struct locality;
struct plan;

/*
 * What fast central barriers of the communicator need (coll/central_fast.h); what all of them read
 * comes first.
 */
struct central_fast {
	struct sync *barrier;		/* words of barriers; NULL: not so */
	uint16_t ranks;
	uint16_t release;		/* bytes to the line on which this rank sees the release */
	uint16_t lane_ranks;		/* see struct lanes */
	uint16_t lane;
	uint16_t lanes;
	bool spread;
	uint16_t yields;		/* times to let others have the core before all else */
	uint16_t size;			/* of an element of the operand; 0: none is known */
	struct sync *segment;		/* words of other collectives */
	char *slots;			/* of the ranks that share this one's core */
	uint32_t index;			/* own one */
	/* bytes below which an allreduce is such a central barrier */
	uint32_t below;
	/* the operand that was last found right */
	MPI_Datatype datatype;
	MPI_Op op;
};

struct comm {
	struct central_fast fast;
	int references;			/* the handle, and each pending operation */
	int rank;
	int size;
	int32_t context;
	struct locality *locality;		/* where its ranks are; NULL: not needed so far */
	struct plan *plan;		/* the algorithms of its collectives; likewise */
	uint32_t collectives;		/* started so far */
	uint32_t pieces;		/* of partitioned messages made so far: the next tag */
	struct group *group;
	struct group *remote;		/* the other group of an intercommunicator, else NULL */
	/*
	 * intercommunicator: a communicator of `group` alone, for use inside the library; else NULL
	 */
	struct comm *local;
	struct errhandler *errhandler;
	struct send_buffer buffer;
	struct session *session;	/* that it comes from, or NULL */
	struct topology *topology;	/* or NULL */
	struct attr_list attributes;
	struct info *info;		/* hints, or NULL */
	char *name;			/* or NULL */
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

/* Set up MPI_COMM_WORLD, MPI_COMM_SELF and what sessions begin with. Error class. */
int mpi_comm_init(struct mpi_rank *self);
void mpi_comm_exit(struct mpi_rank *self);

/* May the program use MPI_COMM_WORLD and MPI_COMM_SELF? */
void mpi_comm_show_world(struct mpi_rank *self, bool shown);

/* It comes from where another one comes from, unless its group says so already. */
void mpi_comm_come_from(struct comm *c, const struct comm *other);

/* The communicator of a handle, or NULL. */
struct comm *mpi_comm_find(struct mpi_rank *self, MPI_Comm handle);

/*
 * A new communicator of the group (taken over, also on failure) and, between two groups, the remote
 * one (else NULL; likewise). It has no contexts yet. NULL: no memory.
 */
struct comm *mpi_comm_new(struct mpi_rank *self, struct group *g, struct group *remote,
	struct errhandler *errhandler);

/* Give it the number that the members have agreed on. */
void mpi_comm_number(struct comm *c, int32_t id);

/* Give a reference back; with the last one the communicator goes, and its number is free again. */
void mpi_comm_release(struct mpi_rank *self, struct comm *c);

/*
 * The program frees it: its attributes and its handle go now. Error class, of a callback; then
 * nothing happened but what the callbacks did.
 */
int mpi_comm_free(struct mpi_rank *self, struct comm *c);

/*
 * An upcall, supplied by mpi/coll: the communicator goes, or a group whose tables lie there; the
 * last of them leaves the segment (NULL: there is none).
 */
void mpi_locality_leave(struct mpi_rank *self, struct locality *v);

/* The handle under which the program knows it. */
MPI_Comm mpi_comm_handle(const struct comm *c);

#endif
