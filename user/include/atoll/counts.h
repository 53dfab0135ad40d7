/* SPDX-License-Identifier: MIT
 *
 * What a process has done, as the kernel counts it (thread_stats).
 */
#ifndef ATOLL_COUNTS_H
#define ATOLL_COUNTS_H

#include <stdint.h>
#include <abi/errors.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>

static inline void
counts_sum(struct thread_counts *sum, const struct thread_counts *part)
{
	sum->run_ns += part->run_ns;
	for (unsigned i = 0; i < sizeof(sum->count) / sizeof(sum->count[0]); i++)
		sum->count[i] += part->count[i];
	sum->core = sum->threads == 0 ? part->core : sum->core;
	sum->threads += part->threads;
}

/*
 * The sum over the threads of a process (a handle with RIGHT_READ, or SELF), and those that have
 * ended, since it was asked for first: new threads are counted from their start then. 0 or the
 * kernel's error. A thread that ends in between is counted once.
 */
static inline long
process_counts(int proc, struct thread_counts *sum)
{
	struct thread_counts part;
	uint32_t place = 0;
	long result;

	do {
		result = kthread_stats(proc, place, &part);
		if (result < 0 && result != -E_AGAIN)
			return result;
		if (result < 0)
			continue;
		if (place == 0)
			*sum = part;
		else if (part.ended != sum->ended)
			result = -E_AGAIN;
		else
			counts_sum(sum, &part);
		place = result < 0 ? 0 : (uint32_t)result;
	} while (result != 0);
	return 0;
}

#endif
