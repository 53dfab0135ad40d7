/* SPDX-License-Identifier: MIT
 *
 * Selfish detour: a thread reads the time again and again and keeps when it was away for longer
 * than nine times its shortest round, an average. usage: selfish [--ms N] [--detours N]. Options of
 * roles.h. Source: seed 004 9 (noise of an AC); the benchmark is the field's.
 */
#include <atoll/kcalls.h>
#include "roles.h"

#define TIMES_SHORTEST 9
#define BATCH 100
#define BATCHES 20

struct detour {
	uint64_t begin, length;
};

static struct detour *detours;
static long detours_max, detours_seen, ms;
static uint64_t shortest, began, rounds;

/* Ticks of the counter in a millisecond. */
static uint64_t
ticks_per_ms(void)
{
	uint64_t from = 0, now = 0, ticks;

	kclock(&from);
	ticks = ticks_now();
	do
		kclock(&now);
	while (now - from < 1000000);
	return (ticks_now() - ticks) * 1000000 / (now - from);
}

/* The shortest round on average over BATCH of them: counters go on in steps, of 25 for example. */
static void
find_shortest(void)
{
	shortest = UINT64_MAX;
	for (int i = 0; i < BATCHES; i++) {
		uint64_t first = ticks_now(), last = first;

		for (int k = 0; k < BATCH; k++)
			last = ticks_now();
		if ((last - first) / BATCH < shortest)
			shortest = (last - first) / BATCH;
	}
}

static void
look_for_detours(void)
{
	uint64_t end = ticks_per_ms() * (uint64_t)ms, limit, last;

	find_shortest();
	limit = TIMES_SHORTEST * shortest;
	window_begin();
	began = last = ticks_now();
	for (end += last; last < end; rounds++) {
		uint64_t now = ticks_now();

		if (now - last > limit && detours_seen < detours_max) {
			detours[detours_seen].begin = last;
			detours[detours_seen++].length = now - last;
		}
		last = now;
	}
	window_end();
}

int
main(int argc, char **argv)
{
	ms = number(argc, argv, "--ms", 400);
	detours_max = number(argc, argv, "--detours", 4096);
	detours = role_memory(argc, argv, (size_t)detours_max * sizeof(*detours));
	role_measure(argc, argv, look_for_detours);
	row("selfish_shortest", (double)shortest, "ticks", "");
	row("selfish_rounds", (double)rounds, "rounds", "");
	row("selfish_detours", (double)detours_seen, "detours", "");
	for (long i = 0; i < detours_seen; i++)
		printf("detour %llu %llu\n", (unsigned long long)(detours[i].begin - began),
			(unsigned long long)(detours[i].length - shortest));
	return 0;
}
