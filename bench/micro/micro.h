/* SPDX-License-Identifier: MIT
 *
 * What the micro-benchmarks share: rows for ./atoll bench, and numbers from the command line.
 */
#ifndef BENCH_MICRO_H
#define BENCH_MICRO_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* first marker label of the instruction counter's windows */
#define LABEL 16

/* One result; `params` is "KEY=VALUE ..." or "". */
static inline void
row(const char *name, double value, const char *unit, const char *params)
{
	printf("row %s %.6g %s%s%s\n", name, value, unit, *params != '\0' ? " " : "", params);
	fflush(stdout);
}

/* The number after `name` on the command line. */
static inline long
number(int argc, char **argv, const char *name, long otherwise)
{
	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return atol(argv[i + 1]);
	return otherwise;
}

/*
 * Wait until the servers have started and sleep. The file server answers when it has started; the
 * service core runs its threads in turn and until they wait, so each of them has nothing left to do
 * when the file server answers once more. (Hosted, Linux answers at once.)
 */
static inline void
wait_for_servers(void)
{
	for (int i = 0; i < 2; i++)
		if (remove("/no such file") == 0)
			exit(1);
}

#endif
