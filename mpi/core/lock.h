/* SPDX-License-Identifier: MIT
 *
 * Several threads of one rank in MPI (MPI_THREAD_MULTIPLE): one at a time is inside the library. It may enter again, from a function of
 * the program that the library calls. While it has nothing to do, others may enter: one of those that wait looks for messages (it "polls", and
 * sleeps in the transport), the others sleep on the word `turn`, which whoever has moved something changes.
 */
#ifndef MPI_CORE_LOCK_H
#define MPI_CORE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct mpi_rank;

struct rank_lock {
	uint32_t word;			/* 0 free, 1 held, 2 held and somebody may wait */
	uintptr_t owner;		/* thread; 0: none */
	unsigned depth;
	uint32_t turn;			/* changes when threads that wait should look again */
	unsigned waiting;		/* threads that sleep on it */
	bool polling;			/* a thread is in transport_idle */
	uint32_t kick;			/* it must look again: there is more to wait for than when it began */
};

/* Enter and leave. Blocks while another thread is inside. */
void mpi_rank_lock(struct mpi_rank *self);
void mpi_rank_unlock(struct mpi_rank *self);

/* Something has moved: threads that wait look again. Inside only. */
void mpi_rank_moved(struct mpi_rank *self);

/* Call something while others may enter. */
void mpi_rank_pause(struct mpi_rank *self, void (*pause)(struct mpi_rank *self));

/*
 * One step of waiting, inside: lets others in, polls or sleeps until something may have moved, and is inside again. `idle` as in transport_idle;
 * `ready` is called inside.
 */
void mpi_rank_wait(struct mpi_rank *self, unsigned idle, bool (*ready)(const void *arg), const void *arg);

#endif
