/* SPDX-License-Identifier: MIT
 *
 * See bench/roles/port/hosted/below.h: here nothing is below the kernel but the machine. Under
 * -icount the counter has nanoseconds, eight of which are an instruction.
 */
#ifndef BENCH_ROLES_BELOW_H
#define BENCH_ROLES_BELOW_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t
ticks_now(void)
{
	uint64_t t;

	__asm__ volatile("rdcycle %0" : "=r"(t));
	return t;
}

static inline unsigned
below_best(void)
{
	return 0;
}

static inline int
below_large(void *at, size_t bytes)
{
	(void)at;
	return bytes != 0;
}

static inline void
below_counts(uint64_t *stopped, uint64_t *faults)
{
	*stopped = *faults = 0;
}

#endif
