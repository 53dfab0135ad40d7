/* SPDX-License-Identifier: MIT
 *
 * Partitioned messages: how they are cut, and what becomes of their parts.
 */
#ifndef MPI_API_PARTS_H
#define MPI_API_PARTS_H

#include <mpi/api/message.h>
#include <mpi/core/request.h>

/* How a message is cut; what the sender tells. */
struct cut {
	uint64_t bytes;			/* of all */
	uint64_t piece_bytes;		/* of each but the last */
	uint32_t pieces;
	uint32_t tag;			/* of the first; the others follow */
};

struct piece {
	struct request request;
	/* send: partitions that are not ready; < 0: on its way or done */
	int left;
	bool taken;			/* receive: it is where the program wants it */
};

struct parts {
	struct message message;		/* a partition; the buffer is that of all */
	int partitions;
	int per_piece;			/* send: partitions */
	bool known;			/* receive: the cut was told */
	bool too_long;
	/* receive: class of the error because of which the cut is not known */
	int failed;
	/* receive: the message that tells it, until it is known; its `own` is the cut */
	struct request *told;
	struct cut cut;
	struct piece *pieces;
	uint32_t done;			/* pieces of this round, in order */
	bool *marks;			/* send: partitions of this round that are ready */
	/* receive: where pieces go that begin or end inside of an element, or NULL */
	char *staging;
};

extern const struct request_class parts_send_class;
extern const struct request_class parts_recv_class;

/*
 * A persistent request for `partitions` times the message, which is not from MPI_ANY_SOURCE. Error
 * class.
 */
int parts_send(struct mpi_rank *self, const struct message *m, int partitions,
	struct request **request);
int parts_recv(struct mpi_rank *self, const struct message *m, int partitions,
	struct request **request);

/* A send that was started: may this partition become ready, and it does. */
bool parts_may_be_ready(const struct parts *p, int partition);
void parts_ready(struct mpi_rank *self, struct parts *p, int partition);

/* A receive that was started and is not done: is this partition where the program wants it? */
bool parts_have_arrived(struct parts *p, int partition);

/* With nobody? */
static inline bool
parts_are_null(const struct parts *p)
{
	return p->message.rank == MPI_PROC_NULL;
}

#endif
