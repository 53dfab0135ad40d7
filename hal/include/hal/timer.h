/* SPDX-License-Identifier: MIT
 *
 * HAL contract: time. Waiting for a time is hal_wait's job; no application core ever gets a timer interrupt.
 */
#ifndef HAL_TIMER_H
#define HAL_TIMER_H

#include <stdint.h>

/* Nanoseconds since the machine started; the same on all cores of a cluster, never goes back. */
uint64_t hal_clock_ns(void);

#endif
