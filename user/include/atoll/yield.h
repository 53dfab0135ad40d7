/* SPDX-License-Identifier: MIT
 *
 * thread_yield for a caller that does it again and again and shares its core with many copies of
 * itself: it keeps what the call goes through beside its own data, and so needs no translation of
 * another page.
 */
#ifndef ATOLL_YIELD_H
#define ATOLL_YIELD_H

#include <stdint.h>
#include <abi/kcalls.h>
#include <usercpu/kcall.h>

/* What thread_yield_by needs; the same for all threads of a copy of the program. */
static inline uintptr_t
thread_yield_way(void)
{
	return kcall_way();
}

/* kthread_yield. */
static inline void
thread_yield_by(uintptr_t way)
{
	kcall_by(way, KC_THREAD_YIELD);
}

#endif
