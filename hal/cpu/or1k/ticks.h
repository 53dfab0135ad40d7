/* SPDX-License-Identifier: MIT
 *
 * How far the timer of a core is set. It counts ticks in 28 bits, and a tick has another length on
 * each board.
 */
#ifndef CPU_OR1K_TICKS_H
#define CPU_OR1K_TICKS_H

#include <stdint.h>

#define TIMER_MASK 0x0fffffffu
#define TIMER_FAR_NS 0x08000000u	/* a longer wait is made of several */
#define TIMER_SOON 4			/* ticks that cannot pass while the timer is set */

/* Ticks until a time that is `left_ns` away, or until one before it if that is far. */
static inline uint32_t
timer_ticks(uint64_t left_ns, uint32_t tick_ns)
{
	uint32_t ns = left_ns < TIMER_FAR_NS ? (uint32_t)left_ns : TIMER_FAR_NS;

	return ns / tick_ns + TIMER_SOON;
}

#endif
