/* SPDX-License-Identifier: MIT
 *
 * Below the kernel on the hosted port is Linux: the processor's counter, what Linux can do for the
 * host thread that calls, and what it has done to it. Calls of the system itself, as the thread has
 * no libc. bench/roles/port/PORT/below.h is the same of each port:
 *
 * uint64_t ticks_now(void)	the core's cycle counter
 * unsigned below_best(void)	the best for the caller: bit 0: pinned to the last processor that it
 *				may use, 1: SCHED_FIFO, 2: memory locked; what was permitted
 * int below_large(at, bytes)	have this mapped with large pages, if they lie as those must
 * void below_counts(stopped, faults)	times that the processor was taken away, faults of pages
 */
#ifndef BENCH_ROLES_BELOW_H
#define BENCH_ROLES_BELOW_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static inline uint64_t
ticks_now(void)
{
	return __builtin_ia32_rdtsc();
}

static inline long
below_call(long nr, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(nr), "D"(a), "S"(b), "d"(c)
		: "rcx", "r11", "memory");
	return result;
}

static inline unsigned
below_best(void)
{
	static unsigned long set[16], one[16];
	static const struct sched_param fifo = {.sched_priority = 1};
	long bytes = below_call(SYS_sched_getaffinity, 0, sizeof(set), (long)set);
	unsigned got = 0, cpu = 8 * (unsigned)sizeof(set);

	while (bytes > 0 && cpu > 0) {
		cpu--;
		if (set[cpu / 64] >> cpu % 64 & 1)
			break;
	}
	one[cpu / 64 % 16] = 1ul << cpu % 64;
	got |= below_call(SYS_sched_setaffinity, 0, sizeof(one), (long)one) == 0;
	got |= (below_call(SYS_sched_setscheduler, 0, SCHED_FIFO, (long)&fifo) == 0) * 2u;
	got |= (below_call(SYS_mlockall, MCL_CURRENT | MCL_FUTURE, 0, 0) == 0) * 4u;
	return got;
}

static inline int
below_large(void *at, size_t bytes)
{
	enum { COLLAPSE = 25 };		/* MADV_COLLAPSE */

	below_call(SYS_madvise, (long)at, (long)bytes, MADV_HUGEPAGE);
	return below_call(SYS_madvise, (long)at, (long)bytes, COLLAPSE) == 0;
}

static inline void
below_counts(uint64_t *stopped, uint64_t *faults)
{
	struct rusage u;

	below_call(SYS_getrusage, 1 /* RUSAGE_THREAD */, (long)&u, 0);
	*stopped = (uint64_t)u.ru_nivcsw;
	*faults = (uint64_t)u.ru_minflt;
}

#endif
