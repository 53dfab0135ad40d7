/* SPDX-License-Identifier: MIT
 *
 * strid3: y = y + t x over N elements that lie 1, 2, ... apart, REPEAT times each with another t.
 * The loop is that of the source. usage: strid3 [--n N] [--strides N] [--step N] [--repeat N]
 * [--print after|inside]: the result of each stride is printed when all are there, or in the outer
 * loop, by a kernel call of the measured thread. Options of roles.h. Source: seed 004 9.1, 9.2.
 */
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include "roles.h"

static double *xx, *yy;
static uint64_t *took;		/* [strides] */
static long n, strides, step, repeat, prints_inside;

static __attribute__((noinline)) void
saxpy_strided(long incx)
{
	for (long j = 0; j < repeat; j++) {
		double t = 1.0 / (double)(j + 1);

		for (long i = 0; i < n * incx; i += incx)
			yy[i] += t * xx[i];
	}
}

static void
all_strides(void)
{
	window_begin();
	for (long s = 1; s <= strides; s += step) {
		uint64_t start = ticks_now();

		saxpy_strided(s);
		took[s - 1] = ticks_now() - start;
		if (prints_inside)
			console_print("stride %ld %lu\n", s, (unsigned long)took[s - 1]);
	}
	window_end();
}

int
main(int argc, char **argv)
{
	size_t bytes;

	n = number(argc, argv, "--n", 1024);
	strides = number(argc, argv, "--strides", 1024);
	step = number(argc, argv, "--step", 1);
	repeat = number(argc, argv, "--repeat", 1);
	prints_inside = role_option(argc, argv, "--print", "inside");
	if (n < 1 || strides < 1 || step < 1)
		role_fail("--n, --strides and --step are at least 1", n);
	bytes = (size_t)(n * strides) * sizeof(double);
	xx = role_memory(argc, argv, 2 * bytes);
	yy = xx + n * strides;
	took = calloc((size_t)strides, sizeof(*took));
	if (took == NULL)
		role_fail("no memory for results", strides);
	memset(took, 1, (size_t)strides * sizeof(*took));
	role_measure(argc, argv, all_strides);
	for (long s = 1; s <= strides && !prints_inside; s += step)
		printf("stride %ld %llu\n", s, (unsigned long long)took[s - 1]);
	return 0;
}
