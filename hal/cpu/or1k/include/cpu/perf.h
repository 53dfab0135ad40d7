/* SPDX-License-Identifier: MIT
 *
 * Markers on or1k: `l.nop 0xa000 + n`, seen by the RTL simulator as it retires (abi/codesign.h); nothing elsewhere.
 */
#ifndef CPU_PERF_H
#define CPU_PERF_H

#define hal_mark(n) __asm__ volatile("l.nop %0" : : "i"(0xa000 + (n)) : "memory")

#endif
