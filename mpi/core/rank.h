/* SPDX-License-Identifier: MIT
 *
 * All state of the MPI library of one rank. A rank is a thread with its own copy of the program and
 * of this library, so there is one such structure in each copy; tests that run several ranks in one
 * image supply an mpi_self of their own.
 */
#ifndef MPI_CORE_RANK_H
#define MPI_CORE_RANK_H

#include <stdbool.h>
#include <base/list.h>
#include <mpi.h>
#include <mpi/core/comm.h>
#include <mpi/core/errhandler.h>
#include <mpi/core/handle.h>
#include <mpi/core/ids.h>
#include <mpi/core/lock.h>
#include <mpi/core/matcher.h>
#include <mpi/core/pending.h>

struct transport;
struct inbox_reader;
struct request;
struct peer;
struct bounce;
struct info;
struct user_errors;
struct abi_record;
struct block;
struct sched;
struct locality;
struct waiting;

/*
 * May small messages and collectives take the fast path (pt2pt/direct.h)? Who is alone in the
 * library needs no lock for it.
 */
enum direct_way { DIRECT_NOT, DIRECT_ALONE, DIRECT_LOCKED };

enum rank_state { RANK_FRESH, RANK_RUNNING, RANK_FINALIZED };

/* the predefined error handlers, in the order of their handles */
enum { ERRORS_ARE_FATAL, ERRORS_ABORT, ERRORS_RETURN, ERRORS_PREDEFINED };

#define PREDEFINED_ATTRIBUTES (MPI_UNIVERSE_SIZE - MPI_TAG_UB + 1)

struct mpi_rank {
	/* a fast central barrier of all ranks reads two lines from here on (ADR 0040) */
	uint8_t direct;			/* enum direct_way */
	bool prepared;			/* tables and predefined objects are there */
	bool lost_cluster;		/* one has died: whoever found out has told the user why */
	int app;			/* number of this rank's program among those of the job */
	uint64_t yields;		/* of transport_yield */
	uintptr_t yield_way;		/* what that goes through */
	struct comm world;
	enum rank_state state;		/* of the library: running as long as it has users */
	enum rank_state world_state;	/* of the world that MPI_Init makes */
	int users;			/* the world and the sessions */
	int world_rank;
	int world_size;
	int thread_level;		/* the highest of all users */
	int world_level;		/* of the world */
	const struct waiting *waits;	/* what it is about to sleep for, or NULL */
	struct rank_lock lock;		/* with MPI_THREAD_MULTIPLE */
	struct comm self;
	/* all ranks of the job; inside the library, for what begins without a communicator */
	struct comm universe;
	struct ids ids;			/* of communicators */
	struct list agreements;		/* on new communicators, that go on */
	struct info *environment;	/* MPI_INFO_ENV */
	struct user_errors *user_errors;	/* classes and codes of the program */
	struct errhandler *file_errhandler;	/* of MPI_FILE_NULL */
	bool named_files;			/* the user knows that there are no files */
	int predefined[PREDEFINED_ATTRIBUTES];	/* values of MPI_TAG_UB and the ones after it */
	struct abi_record *abi;		/* what the program told of Fortran */
	struct block *blocks;		/* of MPI_Alloc_mem */
	struct group empty_group;
	struct errhandler errhandlers[ERRORS_PREDEFINED];
	/* one of them: where there is no other one, and what the first communicators begin with */
	struct errhandler *initial;
	struct handle_table tables[HANDLE_KINDS];
	struct type_notes *type_notes;	/* what the program attached to predefined types */
	struct derived *unnamed_types;	/* predefined ones without a name, made so far */
	struct request *free_requests;
	struct request *detached;	/* freed by the program, not done yet */
	struct list running;		/* requests that advance whenever progress is made */
	struct transport *transport;
	struct inbox_reader *inbox;	/* of the transport: what near peers send */
	/* messages to other clusters shorter than this travel in the packet that announces them */
	size_t inside_far;
	struct peer *peers;		/* by rank of the job: flow control */
	struct matcher match;
	struct send_buffer buffer;	/* of buffered sends */
	struct bounce *bounce;		/* copies of messages of medium size (pt2pt/bounce.h) */
	struct push_ring *push_rings;	/* chunks of long messages, by receiver (pt2pt/push.c) */
	struct list pushing;		/* sends whose data near receivers cannot fetch */
	struct list outgoing;		/* peers for which sends wait for room */
	struct list answers;		/* packets of the bulk protocol that wait for room */
	struct handle_table bulk_names;	/* requests that peers in other clusters know by number */
	/* a part on its way in, out; of data in several pieces. NULL until first used */
	char *bulk_staging[2];
	bool bulk_more;			/* another part of what is being written will be */
	/* receives that wait for the bulk path from another cluster */
	struct list bulk_wanted;
	struct request *bulk_in;	/* the receive that has it */
	struct list bulk_allowed;	/* sends that a receiver waits for */
	struct request *bulk_out;	/* the one that is being written */
	struct list pending;		/* operations of several messages (struct pending) */
	struct sched *spare_scheds;
	/* segments made here that not all ranks have left */
	struct locality *localities;
	const char *program;		/* function of the API that runs, for messages */
};

/* The calling rank. */
struct mpi_rank *mpi_self(void) __attribute__((const));

/*
 * Handle tables and predefined objects, before anything else; some functions may be called before
 * MPI_Init.
 */
void mpi_rank_init(struct mpi_rank *self);

#endif
