/* SPDX-License-Identifier: MIT
 *
 * HAL contract: markers for the instruction counter outside. A marker is an instruction without
 * effect whose number the QEMU plugin sees; on ports without such a counter it is nothing.
 * <cpu/perf.h> defines hal_mark(n) for constant n:
 *	MARK_BEGIN, MARK_END	bound a measured window on this core
 *	MARK_POLL		precedes one round of a polling loop (polls are reported apart)
 *
 * uint32_t hal_refills(bool code), for the kernel only: traps of this core that filled its TLB for
 * data or for code, counted apart from all others; 0 where the hardware fills it.
 */
#ifndef HAL_PERF_H
#define HAL_PERF_H

#define MARK_BEGIN 1
#define MARK_END 2
#define MARK_POLL 3

#include <stdbool.h>
#include <stdint.h>
#include <cpu/perf.h>

#endif
