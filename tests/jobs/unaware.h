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

/* At the end of main: says how the program has done; its exit status. */
static inline int
verdict(const char *name)
{
	printf("%s%s\n", failures ? "FAIL " : "ok ", name);
	return failures != 0;
}

#endif
