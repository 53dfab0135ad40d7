/* SPDX-License-Identifier: MIT
 *
 * Requests: one pending send or receive. Blocking calls keep theirs on the stack, the others have a
 * handle.
 */
#ifndef MPI_CORE_REQUEST_H
#define MPI_CORE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <base/list.h>
#include <mpi.h>
#include <mpi/core/comm.h>
#include <mpi/core/rank.h>
#include <mpi/core/status.h>
#include <mpi/transport/shared.h>

struct mpi_rank;
struct request;
struct type;

enum request_kind { REQUEST_SEND, REQUEST_RECV, REQUEST_NULL, REQUEST_OTHER };

/*
 * What a request does beyond a plain send or receive: persistent ones, schedules of collectives,
 * generalised requests. NULL members: nothing to do. All run inside the library and do not wait.
 */
struct request_class {
	/* persistent: begin, once more. Error class. */
	int (*start)(struct mpi_rank *self, struct request *r);
	/*
	 * Would `advance` move anything? A rank that is about to sleep asks it of every request
	 * that runs, whatever it waits for: what a peer has done to a send or a receive inside of a
	 * request wakes nobody that is still awake.
	 */
	bool (*ready)(const struct request *r);
	/*
	 * after mpi_request_run, whenever progress is made, until the request is done: move on.
	 * True if anything moved.
	 */
	bool (*advance)(struct mpi_rank *self, struct request *r);
	/* the program asks to cancel it, which may be done already. Error class */
	int (*cancel)(struct mpi_rank *self, struct request *r);
	/*
	 * done: write a status (never MPI_STATUS_IGNORE) in place of the ordinary one. Error class.
	 */
	int (*finish)(struct mpi_rank *self, struct request *r, MPI_Status *status);
	/* the request goes: give back what `own` holds. Error class, of a callback */
	int (*drop)(struct mpi_rank *self, struct request *r);
};

struct request {
	/* in the list it waits in: posted receives, outgoing sends, bulk */
	struct list link;
	uint32_t done;			/* a shared word: a peer in the cluster may set it */
	uint8_t kind;
	uint8_t synchronous;		/* send: complete only when it is matched */
	uint8_t posted;			/* receive: in the matcher */
	uint8_t cancelled;
	uint8_t inactive;		/* persistent: not started */
	uint8_t more;			/* bulk send: another part will be wanted */
	uint8_t in_parts;		/* bulk receive: ask for parts */
	uint8_t persistent;		/* keeps its handle when it is done */
	uint8_t detached;		/* freed by the program before it was done */
	int error;			/* class; valid when done */
	int32_t context;
	/* receive: wanted, then found. send: own rank in the communicator */
	int32_t source;
	int32_t tag;			/* likewise */
	/* rank in the job: of the destination, or of the found source */
	uint32_t peer;
	uint32_t remote_request;	/* bulk: the peer's name of its request */
	/* bulk: the name that the peer uses for this one; 0: none */
	uint32_t bulk_name;
	void *buffer;
	struct type *type;		/* of what lies there; NULL: `bytes` bytes side by side */
	size_t bytes;			/* room, or data to send */
	size_t moved;			/* receive: data received. bulk: so far */
	size_t part;			/* bulk: bytes on the way */
	uint64_t order;			/* receive: age among the posted */
	const struct group *group;	/* whose ranks `source` counts */
	/* NULL for requests on the stack and for those of no communicator */
	struct comm *comm;
	const struct request_class *class;	/* NULL: a plain one */
	void *own;			/* of the class */
	struct list running;		/* in mpi_rank.running, for classes that advance */
	struct pending *pending;	/* a wait for it spins on this first, or NULL */
	uintptr_t handle;		/* 0: none */
	struct request *next_free;	/* spare, or freed by the program before it was done */
};

/*
 * As new, but for what belongs to its object: handle, class, communicator, what becomes of it.
 * Member by member: compilers clear a whole structure of this size in a loop, which takes three
 * times as long.
 */
static inline void
mpi_request_clear(struct request *r)
{
	r->link = (struct list){NULL, NULL};
	r->done = 0;
	r->kind = REQUEST_SEND;
	r->synchronous = r->posted = r->cancelled = r->inactive = r->more = r->in_parts = 0;
	r->error = 0;
	r->context = r->source = r->tag = 0;
	r->peer = r->remote_request = r->bulk_name = 0;
	r->buffer = NULL;
	r->type = NULL;
	r->bytes = r->moved = r->part = 0;
	r->order = 0;
	r->group = NULL;
	r->pending = NULL;
	r->running = (struct list){NULL, NULL};
	r->next_free = NULL;
}

/* A request with a handle; holds the communicator, if there is one. NULL: no memory. */
struct request *mpi_request_new(struct mpi_rank *self, struct comm *c);

/* The same with a class, of kind REQUEST_OTHER. `own` stays the caller's if there is no memory. */
struct request *mpi_request_new_class(struct mpi_rank *self, struct comm *c,
	const struct request_class *class, void *own);

/*
 * What was sent at once: one request, done from the start, for all such sends. Each has a handle of
 * its own, so that one that was waited for is recognised. 0: no memory.
 */
extern const struct request mpi_request_sent;

static inline uintptr_t
mpi_request_sent_handle(struct mpi_rank *self)
{
	return mpi_handle_new(&self->tables[HANDLE_REQUEST], (void *)(uintptr_t)&mpi_request_sent);
}

/* Let a request advance from now on until it is done; the first step is made at once. */
void mpi_request_run(struct mpi_rank *self, struct request *r);

/* Advance all that run: true if anything moved. Would anything? */
bool mpi_requests_advance(struct mpi_rank *self);
bool mpi_requests_are_ready(const struct mpi_rank *self);

/*
 * Write the status of a plain request that is done (may be MPI_STATUS_IGNORE); MPI_ERROR is left
 * alone.
 */
void mpi_request_status(const struct request *r, MPI_Status *status);

/* Is nothing to be done when it is over but to give it back? */
static inline bool
mpi_request_is_plain(const struct request *r)
{
	return r->class == NULL && r->type == NULL && !r->persistent && r->comm != NULL &&
		r->comm->references > 1;
}

/*
 * The program learns that a request is done: writes the status (may be MPI_STATUS_IGNORE), and
 * frees the request or, if it is persistent, makes it inactive. *handle becomes MPI_REQUEST_NULL
 * when it was freed. Error class of the operation.
 */
int mpi_request_finish_other(struct mpi_rank *self, struct request *r, MPI_Request *handle,
	MPI_Status *status);

static inline int
mpi_request_finish(struct mpi_rank *self, struct request *r, MPI_Request *handle,
	MPI_Status *status)
{
	bool sent = r == &mpi_request_sent;
	int err = r->error;

	if (!sent && !mpi_request_is_plain(r))
		return mpi_request_finish_other(self, r, handle, status);
	if (status != MPI_STATUS_IGNORE)
		mpi_request_status(r, status);
	mpi_handle_drop(&self->tables[HANDLE_REQUEST], (uintptr_t)*handle);
	*handle = MPI_REQUEST_NULL;
	if (sent)
		return MPI_SUCCESS;
	r->comm->references--;
	r->next_free = self->free_requests;
	self->free_requests = r;
	return err;
}

/*
 * Is it one that a wait has to wait for? (No request, and persistent ones that were not started,
 * are not.)
 */
static inline bool
mpi_request_is_active(const struct request *r)
{
	return r != NULL && !r->inactive;
}

/* The request of a handle, or NULL (also if the program has freed it). */
static inline struct request *
mpi_request_find(struct mpi_rank *self, MPI_Request handle)
{
	struct request *r = (struct request *)mpi_handle_find(&self->tables[HANDLE_REQUEST],
		(uintptr_t)handle);

	return r != NULL && !r->detached ? r : NULL;
}

/*
 * The data of a prepared request lies as a type says, which a request with a handle keeps until it
 * is freed or prepared anew.
 */
void mpi_request_set_type(struct request *r, struct type *t);
void mpi_request_let_type_go(struct request *r);

/*
 * Give back a request that is done. Not one of those that were sent at once. Error class, of a
 * callback.
 */
int mpi_request_free(struct mpi_rank *self, struct request *r);

/* The same by its handle, which becomes invalid. */
int mpi_request_drop(struct mpi_rank *self, struct request *r, uintptr_t handle);

/*
 * The program freed a request that is not done: it is given back when it is (by mpi_request_reap).
 */
void mpi_request_detach(struct mpi_rank *self, struct request *r);
void mpi_request_reap(struct mpi_rank *self);

/* Is one of these done? */
bool mpi_requests_are_over(const struct mpi_rank *self);

/* Mark as done by the owner itself. */
static inline void
mpi_request_complete(struct request *r, int error)
{
	r->error = error;
	store_release(&r->done, 1);
}

static inline bool
mpi_request_is_done(const struct request *r)
{
	return load_acquire(&r->done) != 0;
}

/* Free the spare requests. */
void mpi_request_exit(struct mpi_rank *self);

#endif
