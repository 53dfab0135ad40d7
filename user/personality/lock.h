/* SPDX-License-Identifier: MIT
 *
 * Locks of the personality, which all threads of the process share. A thread that has to wait
 * sleeps, and looks for a signal that comes meanwhile when its call ends (signal.h); who gives a
 * lock back calls the kernel only if one may sleep. Never taken twice by one thread.
 */
#ifndef USER_PERSONALITY_LOCK_H
#define USER_PERSONALITY_LOCK_H

#include <stdbool.h>
#include <stdint.h>

/* 0 free, 1 taken, 2 taken and somebody may sleep */
struct lock {
	uint32_t word;
};

/* Somebody has it, or may sleep for it (lock.c). */
void lock_wait(struct lock *l);
void lock_wake(struct lock *l);

static inline void
lock_take(struct lock *l)
{
	uint32_t free = 0;

	if (!__atomic_compare_exchange_n(&l->word, &free, 1, false, __ATOMIC_ACQUIRE,
		__ATOMIC_RELAXED))
		lock_wait(l);
}

static inline void
lock_give(struct lock *l)
{
	if (__atomic_exchange_n(&l->word, 0, __ATOMIC_RELEASE) == 2)
		lock_wake(l);
}

#endif
