/* SPDX-License-Identifier: MIT
 *
 * Coroutine back end: the program around a kernel that has no test of its own (the HAL contract
 * tests): runs it under many seeds.
 *
 *	hal-test [--seed N] [--seeds COUNT] [--clusters N] [--cores N]
 *
 * SEED in the environment does what --seed does. The first seed prints what the kernel prints.
 * Tests with a main replace this one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "coroutine.h"

#define MEMORY_BYTES (6 << 20)	/* a large page fits in, however it is aligned */

struct options {
	unsigned long seed, seeds, clusters, cores;
};

static bool
parse(struct options *o, int argc, char **argv)
{
	static const char *const name[] = {"--seed", "--seeds", "--clusters", "--cores"};
	unsigned long *const value[] = {&o->seed, &o->seeds, &o->clusters, &o->cores};
	const char *seed = getenv("SEED");

	*o = (struct options){seed ? strtoul(seed, NULL, 0) : 1, seed ? 1 : 100, 2, 4};
	for (int i = 1; i < argc; i += 2) {
		size_t k = 0;

		while (k < 4 && strcmp(argv[i], name[k]) != 0)
			k++;
		if (k == 4 || i + 1 == argc)
			return false;
		*value[k] = strtoul(argv[i + 1], NULL, 0);
		if (k == 0)
			o->seeds = 1;
	}
	return o->clusters >= 1 && o->clusters <= CLUSTERS_MAX && o->cores >= 1 &&
		o->clusters * o->cores <= CORES_MAX;
}

__attribute__((weak)) int
main(int argc, char **argv)
{
	struct coro_config config = {.panic_kills = true, .verbose = true};
	struct coro_result result;
	struct boot_record record;
	struct options o;

	if (!parse(&o, argc, argv)) {
		fprintf(stderr, "usage: %s [--seed N] [--seeds COUNT] [--clusters N] [--cores N]\n",
			argv[0]);
		return 2;
	}
	coro_record(&record, (unsigned)o.clusters, (unsigned)o.cores);
	for (unsigned i = 0; i < o.clusters; i++)
		record.cluster[i].mem_bytes = MEMORY_BYTES;
	config.record = &record;
	for (unsigned long i = 0; i < o.seeds; i++) {
		config.seed = o.seed + i;
		if (!coro_run(&config, &result, false))
			return 1;
		if (config.verbose)
			printf("trace %016llx, %llu operations\n", (unsigned long long)result.trace,
				(unsigned long long)result.ops);
		config.verbose = false;
	}
	printf("%lu seeds passed\n", o.seeds);
	return 0;
}
