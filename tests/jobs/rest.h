/* SPDX-License-Identifier: MIT
 *
 * What is left in a cluster when processes and servers have ended, in numbers.
 */
#ifndef TESTS_JOBS_REST_H
#define TESTS_JOBS_REST_H

#include <stdbool.h>
#include <stdint.h>
#include <abi/limits.abi.h>
#include <atoll/kcalls.h>
#include "expect.h"

#define PATIENCE 20000
#define SCATTER 4		/* pages more, over which the kernel's pieces may lie */

enum { FRAMES, THREADS, PROCS, MAILBOXES, PORTALS, CHANNELS, PIECES, COUNTS };
static const char *const rest_names[COUNTS] = {"free pages, with those of pieces", "threads",
	"processes", "mailboxes", "portals", "pages of channels", "pages of small pieces"};

/* A page becomes one of pieces at any time: all are counted anew until none did meanwhile. */
static inline void
rest_count(uint64_t n[COUNTS])
{
	static const int stats[COUNTS] = {STATS_FRAMES_FREE, STATS_THREADS, STATS_PROCS,
		STATS_MAILBOXES, STATS_PORTALS, STATS_CHANNEL_PAGES, STATS_PIECE_PAGES};
	uint64_t pieces;

	do {
		kstats(STATS_PIECE_PAGES, &pieces);
		for (int i = 0; i < COUNTS; i++)
			kstats(stats[i], &n[i]);
	} while (n[PIECES] != pieces);
	n[FRAMES] += n[PIECES];
}

static inline bool
rest_is_back(const uint64_t n[COUNTS], const uint64_t want[COUNTS], uint64_t more)
{
	bool is_more = n[PIECES] > want[PIECES] + more;

	for (int i = THREADS; i < PIECES; i++)
		is_more |= n[i] > want[i];
	return n[FRAMES] >= want[FRAMES] && !is_more;
}

/*
 * A page of small pieces of the kernel goes with the last of them, and pieces of those that live on
 * lie among those of workers: `more` pages may have some then. Of all else nothing is missing.
 */
static inline void
rest_await(const uint64_t want[COUNTS], uint64_t more)
{
	uint64_t n[COUNTS];

	rest_count(n);
	for (int i = 0; i < PATIENCE && !rest_is_back(n, want, more); i++) {
		kthread_yield();
		rest_count(n);
	}
	for (int i = 0; i < COUNTS && !rest_is_back(n, want, more); i++)
		expect((long)n[i], (long)want[i], rest_names[i]);
}

#endif
