/* SPDX-License-Identifier: MIT
 *
 * What programs that test themselves, and know nothing of Atoll, have in common.
 */
#ifndef TESTS_JOBS_UNAWARE_H
#define TESTS_JOBS_UNAWARE_H

#include <stdio.h>

static int failures;

static inline void
expect(long have, long want, const char *what)
{
	if (have == want)
		return;
	printf("FAIL %s: %ld instead of %ld\n", what, have, want);
	failures++;
}

#endif
