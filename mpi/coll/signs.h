/* SPDX-License-Identifier: MIT
 *
 * Signs: few ranks of one cluster work in rounds without a counter that all write. Each has signs, on which it shows the number of the round
 * that it has come to, and room for data of the last rounds; small data lies on the line of the sign. A rank that shows a round has done with
 * all rounds before it, so that room may be written again when all have shown a later round. Whoever needs data of a rank waits for its sign,
 * and for nobody else.
 *
 * All ranks of the communicator go through the same rounds.
 */
#ifndef MPI_COLL_SIGNS_H
#define MPI_COLL_SIGNS_H

#include <mpi/coll/meet.h>
#include <mpi/coll/place.h>

#define SIGNS_RANKS_MAX 16
#define SIGNS_TURNS 4			/* rounds whose data is there at the same time */

struct signs {
	struct meeting meeting;
	struct venue *v;
	int me;
	int n;
	uint32_t round;
	bool told;			/* sleepers know of the round */
};

/* False, on all ranks: not for this communicator. */
bool mpi_signs_begin(struct signs *g, struct mpi_rank *self, struct comm *c);

/* Bytes of data that a round has room for; the same of signs that are yet to be made. */
size_t mpi_signs_bytes(const struct signs *g);
size_t mpi_signs_room_of(const struct mpi_rank *self);

/* The next round. */
void mpi_signs_next(struct signs *g);

/* Where a rank's data of the present round lies; so many bytes, the same on all that ask. For the own one: wait until it may be written. */
char *mpi_signs_data(const struct signs *g, int rank, size_t bytes);
char *mpi_signs_room(struct signs *g, size_t bytes);

/* Show the round: whatever was written before can be read by who sees it. */
void mpi_signs_show(struct signs *g);

/* Wait until a rank, or all, have shown the round. */
void mpi_signs_wait(struct signs *g, int rank);
void mpi_signs_wait_all(struct signs *g);

/* No more rounds. */
void mpi_signs_end(struct signs *g);

#endif
