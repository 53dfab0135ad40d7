/* SPDX-License-Identifier: MIT
 *
 * What jobs that test themselves have in common.
 */
#ifndef TESTS_JOBS_EXPECT_H
#define TESTS_JOBS_EXPECT_H

#include <stdio.h>
#include <abi/limits.abi.h>
#include <atoll/kcalls.h>
#include <atoll/startup.h>

static int failures;

static inline void
expect(long have, long want, const char *what)
{
	if (have == want)
		return;
	printf("FAIL rank %u: %s: %ld instead of %ld\n", atoll_startup()->rank, what, have, want);
	failures++;
}

/* A thread that only sleeps, in as little stack as STACK_OF_NAP. */
#define STACK_OF_NAP 1024

static inline void
nap(void *arg)
{
	(void)arg;
	for (;;)
		kthread_sleep(WAKE_ANY, FOREVER);
}

/* At the end of main: says how the rank has done; its exit status. */
static inline int
verdict(void)
{
	printf("%s rank %u\n", failures ? "FAIL" : "ok", atoll_startup()->rank);
	return failures != 0;
}

#endif
