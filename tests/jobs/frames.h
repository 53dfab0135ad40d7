/* SPDX-License-Identifier: MIT
 *
 * Does a cluster get back what jobs and processes had?
 */
#ifndef TESTS_JOBS_FRAMES_H
#define TESTS_JOBS_FRAMES_H

#include <abi/limits.abi.h>
#include <atoll/kcalls.h>

/* Frames that are free, or in which the kernel has small pieces, of which it keeps some. */
static inline long
frames(void)
{
	uint64_t free = 0, pieces = 0;

	kstats(STATS_FRAMES_FREE, &free);
	kstats(STATS_PIECE_PAGES, &pieces);
	return (long)(free + pieces);
}

/* Wait until there are as many as before. */
static inline void
frames_await(long before)
{
	while (frames() < before)
		kthread_yield();
}

#endif
