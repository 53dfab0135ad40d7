/* SPDX-License-Identifier: MIT
 *
 * Ranks that share an address space tell each other where their data lies, and read and write it
 * there. They do so at a meeting: what each names lies on its seat; while they are together all of
 * it stays where it is, and nobody changes it but as the collective says.
 */
#ifndef MPI_COLL_POINTERS_H
#define MPI_COLL_POINTERS_H

#include <mpi/coll/meet.h>
#include <mpi/coll/place.h>

/* What a rank names. */
struct pointed {
	const char *in;
	char *out;
};

struct pointers {
	struct meeting meeting;
	struct venue *v;
	int me;
	int n;
};

/*
 * Name the own data and wait for the others'. False, on all ranks: not for this communicator, whose
 * ranks are not all in one address space, or there is no place to meet.
 */
bool mpi_pointers_begin(struct pointers *p, struct mpi_rank *self, struct comm *c, struct pointed mine);

/* What a rank has named. */
static inline const struct pointed *
mpi_pointers_of(const struct pointers *p, int rank)
{
	return (const struct pointed *)(void *)venue_seat(p->v, rank);
}

/* Has every rank named what it gives? The same answer on all ranks. */
bool mpi_pointers_are_there(const struct pointers *p);

/* Wait until all have come here. */
void mpi_pointers_meet(struct pointers *p);

/* The same, and part: nobody uses the others' data after that. */
void mpi_pointers_end(struct pointers *p);

#endif
