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
#include <abi/errors.h>
#include <atoll/kcalls.h>
#include <atoll/personality.h>

/* 0 free, 1 taken, 2 taken and somebody may sleep */
struct lock {
	uint32_t word;
};

static inline void
lock_take(struct lock *l)
{
	uint32_t free = 0;

	if (__atomic_compare_exchange_n(&l->word, &free, 1, false, __ATOMIC_ACQUIRE,
		__ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&l->word, 2, __ATOMIC_ACQUIRE) != 0)
		if (kfutex_wait((unsigned long)&l->word, 2, FOREVER) == -E_INTR)
			kthread_sleep(1u << PERSONALITY_SIGNAL_BIT, 0);
}

static inline void
lock_give(struct lock *l)
{
	if (__atomic_exchange_n(&l->word, 0, __ATOMIC_RELEASE) == 2)
		kfutex_wake((unsigned long)&l->word, 1);
}

#endif
