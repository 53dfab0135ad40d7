/* SPDX-License-Identifier: MIT
 *
 * HAL contract: time. Waiting for a time is hal_wait's job. A core that never arms its tick never
 * takes a timer interrupt.
 */
#ifndef HAL_TIMER_H
#define HAL_TIMER_H

#include <stdint.h>

/* Nanoseconds since the machine started; the same on all cores of a cluster, never goes back. */
uint64_t hal_clock_ns(void);

/*
 * The running core's tick: a user thread that runs on this core when hal_clock_ns() is until_ns or
 * later enters the kernel with TRAP_TIMER soon, and all that it has in registers is in its frame.
 * It happens once: the tick is disarmed then. Arming again replaces the time; HAL_FOREVER disarms,
 * and no TRAP_TIMER comes after that. A time that is past already means soon. The tick never
 * interrupts the kernel. One that comes due while the core waits (hal_wait) may end that wait
 * early, again and again but not without a pause, and stays due until a user thread runs.
 */
void (hal_timer_arm)(uint64_t until_ns);

#endif
