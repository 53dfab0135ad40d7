/* SPDX-License-Identifier: MIT
 *
 * The numbers of communicators that this rank uses. A new communicator gets a number that is free
 * at all its members; a number is used again when it was given back. While members agree, what a
 * rank has on offer in one agreement it does not offer in another, so that any number of agreements
 * may go on side by side. They look at one window of numbers at a time.
 */
#ifndef MPI_CORE_IDS_H
#define MPI_CORE_IDS_H

#include <stdbool.h>
#include <stdint.h>

#define IDS_WORDS 8			/* of a window */
#define IDS_WINDOW (64 * IDS_WORDS)	/* numbers in a window */
#define IDS_WINDOWS (1u << 19)		/* how many windows there are */

struct ids {
	uint64_t *used;			/* a bit for each number; beyond the end all are free */
	uint64_t *offered;
	uint32_t windows;
};

/* Put on offer what is free in a window; bits out. False: no memory. */
bool mpi_ids_offer(struct ids *ids, uint32_t window, uint64_t bits[IDS_WORDS]);

/* Take an offer back; `chosen` (a number, or -1) is in use from now on. */
void mpi_ids_settle(struct ids *ids, uint32_t window, const uint64_t bits[IDS_WORDS],
	int32_t chosen);

/* The first window after this one where something is free and not on offer. */
uint32_t mpi_ids_next(const struct ids *ids, uint32_t window);

/* The lowest number in a window's bits, or -1. */
int32_t mpi_ids_lowest(uint32_t window, const uint64_t bits[IDS_WORDS]);

/* Use a number without asking. False: no memory. */
bool mpi_ids_take(struct ids *ids, int32_t id);
void mpi_ids_give_back(struct ids *ids, int32_t id);
void mpi_ids_exit(struct ids *ids);

#endif
