/* SPDX-License-Identifier: MIT
 *
 * Sync points of the real kernel under the coroutine scheduler: two sets of all clusters, each with
 * another ONE, meet again and again: all signal the ONE, which then signals all. Whoever waits does
 * so in every way there is. No round is over before all have come to it, none is counted twice, and
 * every round ends. With `ahead` the ONE signals nobody, and the others signal as soon as they may:
 * they are one round ahead at most. With `death` a cluster stops at a random moment: whoever waits
 * for it is told.
 *
 * usage: ikc_sync [COUNT [FIRST]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <hal/noc.h>
#include <tests/coroutine/program.h>

#define CLUSTERS 3
/* set s: one program per cluster, on core 1 + s; the ONE is s */
#define SETS 2
#define CORES (1 + SETS)
#define ROUNDS 4
#define GATHER 0			/* ports */
#define RELEASE 1

static struct {
	uint8_t list[SETS][CLUSTERS];
	uint64_t clock[CLUSTERS][SETS];
} shared;

static struct {
	bool ahead;
	bool death;
	unsigned victim;
	bool dead;			/* the victim has stopped */
	unsigned came[SETS][CLUSTERS];	/* signals to the ONE that were begun */
	unsigned gathered[SETS];	/* rounds that the ONE has taken */
	unsigned released[SETS];	/* signals of the ONE that were begun */
	unsigned left[SETS][CLUSTERS];	/* of these, those that the cluster has taken */
	bool broken[SETS];		/* the ONE has given up */
	unsigned ended;
} run;

/* A partner is dead, or the ONE has given up because one is. */
static bool
is_dead(long e)
{
	return (e == -E_HOSTDOWN || e == -E_PIPE) && run.dead;
}

/* Does every wait end? Who waits for a ONE that has given up is not told. */
static bool
is_told(unsigned cluster, unsigned set)
{
	return !run.death || cluster == set || run.victim == set;
}

/* Until the wait ends for good: 0, or the death of a partner. -E_AGAIN: the ONE has given up. */
static long
wait_for(unsigned cluster, unsigned set, long sync)
{
	uint64_t *now = &shared.clock[cluster][set];
	long e;

	for (;;) {
		if (run.broken[set])
			return -E_AGAIN;
		if (coro_random(3) == 0) {
			coro_check(KC(KC_CLOCK, now) == 0);
			e = KC(KC_THREAD_SLEEP, WAKE_ANY, *now + coro_random(20000));
			coro_check(e > 0 || e == -E_TIMEDOUT);
		}
		coro_check(KC(KC_CLOCK, now) == 0);
		e = KC(KC_SYNC_WAIT, sync, coro_random(2) && is_told(cluster, set) ? FOREVER :
			*now + coro_random(20000));
		if (e != -E_TIMEDOUT)
			break;
	}
	coro_check(e == 0 || is_dead(e));
	return e;
}

static long
signal_all(unsigned cluster, unsigned set, long sync)
{
	long e;

	while ((e = KC(KC_SYNC_SIGNAL, sync)) == -E_AGAIN)
		if ((e = wait_for(cluster, set, sync)) != 0)
			return e;
	coro_check(e == 0 || is_dead(e));
	return e;
}

static void
kill_sometimes(void)
{
	if (!run.death || run.dead || coro_random(5) != 0)
		return;
	run.dead = true;
	coro_kill_cluster(run.victim);
	hal_noc_mark_dead(run.victim);
}

/*
 * Everybody has come once for each round that was taken. Ahead: one signal may be kept, the next be
 * tried.
 */
static void
check_gathered(unsigned set)
{
	unsigned n = ++run.gathered[set];

	for (unsigned c = 0; c < CLUSTERS; c++)
		coro_check(c == set || (run.came[set][c] >= n &&
			run.came[set][c] <= n + 2 * run.ahead));
}

static void
one(unsigned set)
{
	uint8_t *list = shared.list[set];
	long gather = KC(KC_SYNC_CREATE, SYNC_ALL_TO_ONE, GATHER, list, CLUSTERS);
	long release = KC(KC_SYNC_OPEN, SYNC_ONE_TO_ALL, RELEASE, list, CLUSTERS), e = 0;

	coro_check(gather > 0 && release > 0);
	coro_check(KC(KC_EVENT_BIND, EVENT_SYNC, gather, 4) == 0);
	for (unsigned n = 0; n < ROUNDS && e == 0; n++) {
		e = wait_for(set, set, gather);
		if (e != 0)
			break;
		check_gathered(set);
		if (set == 0)
			kill_sometimes();
		run.released[set]++;
		if (!run.ahead)
			e = signal_all(set, set, release);
	}
	coro_check(e == 0 || run.dead);
	run.broken[set] = e != 0;
	coro_check(KC(KC_HANDLE_CLOSE, gather) == 0 && KC(KC_HANDLE_CLOSE, release) == 0);
}

static void
partner(unsigned cluster, unsigned set)
{
	uint8_t *list = shared.list[set];
	long gather, release, e = 0;

	gather = KC(KC_SYNC_OPEN, SYNC_ALL_TO_ONE, GATHER, list, CLUSTERS);
	release = KC(KC_SYNC_CREATE, SYNC_ONE_TO_ALL, RELEASE, list, CLUSTERS);
	coro_check(gather > 0 && release > 0);
	coro_check(KC(KC_EVENT_BIND, EVENT_SYNC, release, 7) == 0);
	for (unsigned n = 0; n < ROUNDS && e == 0; n++) {
		run.came[set][cluster]++;
		e = signal_all(cluster, set, gather);
		if (e == 0 && run.ahead)
			continue;
		if (e == 0)
			e = wait_for(cluster, set, release);
		if (e == 0)
			coro_check(++run.left[set][cluster] <= run.released[set]);
	}
	coro_check(e == 0 || run.dead);
}

static bool
is_over(void)
{
	unsigned dead = run.dead ? SETS : 0;

	return run.ended + dead >= CLUSTERS * SETS;
}

static void
meets(uintptr_t arg)
{
	unsigned cluster = (unsigned)arg / SETS, set = (unsigned)arg % SETS;

	for (unsigned i = 0; i < CLUSTERS; i++)
		shared.list[set][i] = (uint8_t)((set + i) % CLUSTERS);
	if (cluster == set)
		one(set);
	else
		partner(cluster, set);
	if (!(run.dead && cluster == run.victim))
		run.ended++;
	if (cluster == 0 && set == 0) {
		while (!is_over())
			KC(KC_THREAD_YIELD);
		coro_finish(0);
	}
	KC(KC_THREAD_SLEEP, 1u << 30, FOREVER);
}

unsigned
program_on(unsigned cluster, unsigned core, struct program *programs, unsigned max)
{
	(void)max;
	programs[0].fn = meets;
	programs[0].arg = cluster * SETS + core - 1;
	return 1;
}

static void
dump(void)
{
	for (unsigned s = 0; s < SETS; s++)
		printf("set %u: %u gathered, %u released, came %u %u %u, left %u %u %u\n", s,
			run.gathered[s], run.released[s], run.came[s][0], run.came[s][1],
			run.came[s][2], run.left[s][0], run.left[s][1], run.left[s][2]);
	printf("ended %u, victim %u, dead %d\n", run.ended, run.victim, run.dead);
}

static void
begin(struct coro_config *config, struct boot_record *record, unsigned long seed)
{
	(void)config;
	(void)record;
	run.death = seed % 3 == 0;
	run.ahead = seed % 5 == 0;
	run.victim = 1 + (unsigned)(seed / 3 % (CLUSTERS - 1));
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {.name = "no_round_ends_before_all_have_come",
		.seeds = 10000, .shared = &shared, .shared_bytes = sizeof(shared), .state = &run,
		.state_bytes = sizeof(run), .clusters = CLUSTERS, .cores = CORES, .begin = begin,
		.dump = dump};

	return program_main(&test, argc, argv);
}
