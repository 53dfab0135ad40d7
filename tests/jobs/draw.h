/* SPDX-License-Identifier: MIT
 *
 * Numbers at random, the same ones for the same seed, which the test puts into `state`.
 */
#ifndef TESTS_JOBS_DRAW_H
#define TESTS_JOBS_DRAW_H

#include <stdint.h>

static uint64_t state = 1;

/* One of 0 to n - 1. */
static inline uint32_t
draw(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

#endif
