/* SPDX-License-Identifier: MIT
 *
 * Markers on or1k: `l.nop 0xa000 + n`, seen by the RTL simulator as it retires (abi/codesign.h);
 * nothing elsewhere.
 */
#ifndef CPU_PERF_H
#define CPU_PERF_H

#define hal_mark(n) __asm__ volatile("l.nop %0" : : "i"(0xa000 + (n)) : "memory")

/* Shadow registers of the refill handlers (layout.h, trap.S). */
static inline uint32_t
hal_refills(bool code)
{
	uint32_t data, instruction;

	__asm__ volatile("l.mfspr %0, r0, 0x436\n\tl.mfspr %1, r0, 0x437" : "=r"(data),
		"=r"(instruction));
	return code ? instruction : data;
}

#endif
