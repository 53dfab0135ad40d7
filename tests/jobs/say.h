/* SPDX-License-Identifier: MIT
 *
 * What a call has answered, in the same words here and on Linux: for programs whose output is
 * compared.
 */
#ifndef TESTS_JOBS_SAY_H
#define TESTS_JOBS_SAY_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A call's result, or the text of errno. */
static inline void
say(const char *what, long result)
{
	if (result < 0)
		printf("%s: %s\n", what, strerror(errno));
	else
		printf("%s: %ld\n", what, result);
}

#endif
