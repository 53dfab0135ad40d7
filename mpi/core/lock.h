/* SPDX-License-Identifier: MIT
 *
 * Several threads of one rank in MPI (MPI_THREAD_MULTIPLE): one at a time is inside the library. It
 * may enter again, from a function of the program that the library calls. While it has nothing to
 * do, others may enter: one of those that wait looks for messages (it "polls", and sleeps in the
 * transport), the others sleep, each on a word of its own.
 *
 * A thread that waits says what for. Whoever leaves the library while others wait asks for each of
 * them whether that has come, and wakes those for whom it has; so it does not matter what the one
 * that leaves has done. A peer that changes a word of this rank wakes the thread that polls, which
 * asks in the same way before it sleeps and when it was woken. If threads sleep and none polls, one
 * of them is woken to do so.
 *
 * Most programs that ask for several threads use MPI from one. So the thread that opened the
 * library is favoured: as long as no other one has called, it enters and leaves with plain stores.
 * The first other one ends that for good, once all stores are seen (ADR 0041).
 */
#ifndef MPI_CORE_LOCK_H
#define MPI_CORE_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <base/list.h>
#include <mpi/transport/shared.h>

struct mpi_rank;

/* A thread that waits inside of the library; it lies on its stack. */
struct rank_waiter {
	struct list link;		/* in rank_lock.sleepers, until it is woken */
	/* has come what it waits for? Called inside, by any thread, and changes nothing */
	bool (*ready)(const void *arg);
	const void *arg;
	uint32_t woken;			/* it sleeps while this is 0 */
};

struct rank_lock {
	uint32_t word;			/* 0 free, 1 held, 2 held and somebody may wait */
	uint32_t calm;			/* its value as long as nobody waits for who is inside */
	/* 1: there is a favoured thread, which does not touch `word` */
	uint32_t favours;
	uint32_t inside;		/* 1: it is inside */
	bool favoured;			/* there was one */
	uintptr_t owner;		/* thread; 0: none */
	unsigned depth;
	struct rank_waiter *poller;	/* the thread that is in transport_idle, or NULL */
	struct list sleepers;		/* others that wait and were not woken; the oldest first */
	unsigned waiting;		/* all these */
	unsigned rising;		/* sleepers that were woken and are not inside yet */
	uint32_t kick;			/* the poller must not sleep before it has looked again */
};

/*
 * The calling thread, which is alone in the library, is about to let others in; it is favoured if
 * it is the first to do so.
 */
void mpi_rank_lock_favours_me(struct mpi_rank *self);

/*
 * The lock that favours the calling thread, or NULL. Not every thread that has it is still
 * favoured.
 */
extern __thread struct rank_lock *mpi_rank_favour __attribute__((tls_model("initial-exec")));

/*
 * The favoured thread has found out, outside, that it is not favoured any more: it tells who may
 * wait for that.
 */
void mpi_rank_favour_is_over(struct rank_lock *l);

static inline __attribute__((always_inline)) void
mpi_rank_favoured_leave(struct rank_lock *l)
{
	store_release(&l->inside, 0);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (load_relaxed(&l->favours) == 0)
		mpi_rank_favour_is_over(l);
}

/* False: it is not favoured any more. */
static inline __attribute__((always_inline)) bool
mpi_rank_favoured_enter(struct rank_lock *l)
{
	store_relaxed(&l->inside, 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (load_acquire(&l->favours) != 0)
		return true;
	mpi_rank_favoured_leave(l);
	return false;
}

/*
 * Who is inside and looks for something without letting others in: does one of them wait? Also
 * where there is one thread only.
 */
static inline bool
mpi_rank_lock_is_wanted(const struct rank_lock *l)
{
	return __atomic_load_n(&l->word, __ATOMIC_RELAXED) != l->calm;
}

/* Enter and leave. Blocks while another thread is inside. */
void mpi_rank_lock(struct mpi_rank *self);
void mpi_rank_unlock(struct mpi_rank *self);

/*
 * The same for calls that take no longer themselves: what the favoured thread does is part of the
 * caller.
 */
static inline __attribute__((always_inline)) void
mpi_rank_lock_shortly(struct mpi_rank *self, struct rank_lock *l)
{
	if (mpi_rank_favour == l && load_relaxed(&l->inside) == 0 && mpi_rank_favoured_enter(l))
		l->depth = 1;
	else
		mpi_rank_lock(self);
}

static inline __attribute__((always_inline)) void
mpi_rank_unlock_shortly(struct mpi_rank *self, struct rank_lock *l)
{
	if (mpi_rank_favour == l && l->depth == 1 && l->waiting == 0) {
		l->depth = 0;
		mpi_rank_favoured_leave(l);
	} else {
		mpi_rank_unlock(self);
	}
}

/* Call something while others may enter. */
void mpi_rank_pause(struct mpi_rank *self, void (*pause)(struct mpi_rank *self));

/*
 * One step of waiting, inside: lets others in, polls or sleeps until what it waits for may have
 * come or another thread must poll, and is inside again. `idle` as in transport_idle; `ready` as in
 * struct rank_waiter.
 */
void mpi_rank_wait(struct mpi_rank *self, unsigned idle, bool (*ready)(const void *arg),
	const void *arg);

/*
 * An upcall, supplied by mpi/pt2pt: is there something to move besides what arrives? For a thread
 * that is about to sleep, whatever it waits for itself: if it is for want of room that there is
 * not, the rank is woken when room has come up.
 */
bool mpi_can_move(struct mpi_rank *self);

#endif
