/* SPDX-License-Identifier: MIT
 *
 * Locks of the personality, which all threads of the process share. A thread that has to wait
 * sleeps, and looks for a signal that comes meanwhile when its call ends (signal.h); who gives a
 * lock back calls the kernel only if one may sleep. Never taken twice by one thread.
 */
#ifndef USER_PERSONALITY_LOCK_H
#define USER_PERSONALITY_LOCK_H

#include <stdint.h>

/* 0 free, 1 taken, 2 taken and somebody may sleep */
struct lock {
	uint32_t word;
};

void lock_take(struct lock *l);
void lock_give(struct lock *l);

#endif
