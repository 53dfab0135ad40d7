/* SPDX-License-Identifier: MIT
 *
 * Fork-Join: start a team of threads that end at once, wait for all of them. Windows 0 spawn, 1
 * join, of each round. usage: fork_join [--threads N] [--to N] [--rounds N]; --to: with one thread
 * more each time, up to so many. Source: seed 000 IV-A, seed 001 III.
 *
 * The threads' stacks are there before: what is measured is the kernel's thread table, not its
 * memory.
 */
#include "kit.h"

#define SMALL_STACK (1024 + CONTEXT_INTERRUPT_BYTES)

static unsigned char stacks[TEAM_MAX][SMALL_STACK] __attribute__((aligned(16)));
static int team[TEAM_MAX];

static void
end_at_once(void *arg)
{
	(void)arg;
}

static uint64_t
spawn(long threads)
{
	uint64_t begin = now_ns();

	window_open(0);
	for (long i = 0; i < threads; i++)
		team[i] = thread_start_on(end_at_once, NULL, ANY_CORE, stacks[i], SMALL_STACK);
	window_close(0);
	return now_ns() - begin;
}

static uint64_t
join_all(long threads)
{
	uint64_t begin = now_ns();

	window_open(1);
	for (long i = 0; i < threads; i++)
		join(team[i]);
	window_close(1);
	return now_ns() - begin;
}

static void
measure(long threads, long rounds)
{
	static char params[] = "threads=00";
	uint64_t spawned = 0, joined = 0;

	for (long i = 0; i < rounds; i++) {
		spawned += spawn(threads);
		joined += join_all(threads);
	}
	params[sizeof(params) - 3] = (char)('0' + threads / 10);
	params[sizeof(params) - 2] = (char)('0' + threads % 10);
	row("spawn", spawned, (uint64_t)(threads * rounds), params);
	row("join", joined, (uint64_t)(threads * rounds), params);
	row("fork_join", spawned + joined, (uint64_t)rounds, params);
}

int
main(int argc, char **argv)
{
	long threads = number(argc, argv, "--threads", 3),
		last = number(argc, argv, "--to", threads);
	long rounds = number(argc, argv, "--rounds", 10);

	if (threads < 1 || last < threads || last > TEAM_MAX)
		give_up("--threads and --to must be from 1 to 64, not", threads);
	for (; threads <= last; threads++)
		measure(threads, rounds);
	return 0;
}
