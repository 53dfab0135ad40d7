/* SPDX-License-Identifier: MIT
 *
 * Matching: which message goes to which receive. Both sides are kept in the order that MPI demands:
 * a message takes the oldest posted receive that fits, a receive the oldest arrived message that
 * fits. Queues are hashed by context and source; receives from any source have a queue of their
 * own, and every message is also in one list in order of arrival.
 */
#ifndef MPI_PT2PT_MATCH_H
#define MPI_PT2PT_MATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <mpi/core/matcher.h>

struct request;

void mpi_match_exit(struct matcher *m);

/* A receive (context, source or MPI_ANY_SOURCE, tag or MPI_ANY_TAG) waits for a message. */
void mpi_match_post(struct matcher *m, struct request *r);

/* Take a posted receive back. */
void mpi_match_withdraw(struct matcher *m, struct request *r);

/* A message arrived: the receive it belongs to, removed from the queue, or NULL. */
struct request *mpi_match_arrived(struct matcher *m, const struct packet *p);

/* Keep a message for which there was no receive. -1: no memory. */
int mpi_match_keep(struct matcher *m, const struct packet *p);

/* The oldest kept message that fits, or NULL. It stays. */
struct unexpected *mpi_match_find(struct matcher *m, int32_t context, int32_t source, int32_t tag);

/* Take a kept message out of matching; it stays until mpi_match_spare gives its memory back. */
void mpi_match_take(struct matcher *m, struct unexpected *u);
void mpi_match_spare(struct matcher *m, struct unexpected *u);

/* Remove a kept message; its memory is used again by the next mpi_match_keep. */
void mpi_match_remove(struct matcher *m, struct unexpected *u);

#endif
