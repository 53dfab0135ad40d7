/* SPDX-License-Identifier: MIT
 *
 * Portals of the real kernel under the coroutine scheduler: transfers of random lengths in both
 * directions between two clusters and inside one, two of them to the same cluster, also with one
 * connector for all its ports. Without `death` both sides must learn the same
 * length and the data must be whole; with it a cluster stops at a random moment and nobody may be
 * left waiting.
 *
 * usage: ikc_portal [COUNT [FIRST]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <hal/noc.h>
#include <tests/coroutine/program.h>

#define CLUSTERS 3
#define CORES 3
#define LENGTH 900
#define ROUNDS 2
#define SLOW_NS 30000

/* Pair i: from cluster `from` to port `port` of cluster `to`. */
struct pair {
	unsigned from, to, port, local_port;
};

static const struct pair pairs[] = {{0, 1, 0, 1}, {1, 0, 1, 1}, {2, 2, 1, 0}, {1, 2, 0, 0}};

#define PAIRS 4

static struct {
	unsigned char source[PAIRS][LENGTH], target[PAIRS][LENGTH];
	uint64_t clock[PAIRS];
} shared;

static struct {
	bool death, dead;
	unsigned connectors;		/* of portals; 0: as many as ports */
	unsigned victim;
	unsigned sent[PAIRS][ROUNDS], wanted[PAIRS][ROUNDS];
	bool ended[PAIRS][2];		/* reader, writer */
} run;

static bool
is_hit(const struct pair *p)
{
	return run.dead && (p->from == run.victim || p->to == run.victim);
}

static void
kill_sometimes(unsigned own)
{
	if (!run.death || run.dead || own == run.victim || coro_random(4) != 0)
		return;
	run.dead = true;
	coro_kill_cluster(run.victim);
	hal_noc_mark_dead(run.victim);
}

/* Both sides of a transfer must say the same, and the data must be there. */
static void
compare(unsigned i, unsigned round, long moved)
{
	unsigned shorter = run.sent[i][round] < run.wanted[i][round] ? run.sent[i][round] :
		run.wanted[i][round];

	if (moved < 0) {
		coro_check(is_hit(&pairs[i]));
		coro_check(moved == -E_HOSTDOWN);
		return;
	}
	coro_check(moved == (long)shorter);
}

static bool
is_over(unsigned i, bool writes)
{
	return run.ended[i][writes] ||
		(run.dead && (writes ? pairs[i].from : pairs[i].to) == run.victim);
}

/* One side is done: the machine ends with the last one that can be. */
static void
ended(unsigned which, bool writes)
{
	run.ended[which][writes] = true;
	for (unsigned i = 0; i < PAIRS; i++)
		if (!is_over(i, false) || !is_over(i, true))
			return;
	coro_finish(0);
}

/* Start to write, do something else, and complete it, after some looks that come too early. */
static long
write_later(long id, unsigned i, unsigned len)
{
	uint64_t *now = &shared.clock[i];
	long e;

	while ((e = KC(KC_PORTAL_START, id, shared.source[i], len)) == -E_AGAIN) {
		coro_check(KC(KC_PORTAL_WAIT, id, FOREVER) == -E_INVAL);
		coro_check(KC(KC_THREAD_SLEEP, WAKE_ANY, FOREVER) == 1);
	}
	for (unsigned n = coro_random(4); n > 0 && e == 0; n--) {
		coro_check(KC(KC_CLOCK, now) == 0);
		KC(KC_THREAD_SLEEP, WAKE_ANY, *now + coro_random(5000));
		e = KC(KC_PORTAL_WAIT, id, *now + coro_random(10000));
		if (e != -E_TIMEDOUT)
			return e;
		e = 0;
	}
	return e == 0 ? KC(KC_PORTAL_WAIT, id, FOREVER) : e;
}

static void
writer(uintptr_t i)
{
	const struct pair *p = &pairs[i];
	long id = KC(KC_PORTAL_OPEN, p->to, p->port, p->local_port);

	coro_check(id >= 0 && KC(KC_EVENT_BIND, EVENT_PORTAL, id, 0) == 0);
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned len = run.sent[i][round];

		if (round > 0)
			kill_sometimes(p->from);
		compare((unsigned)i, round, coro_random(2) ? write_later(id, (unsigned)i, len) :
			KC(KC_PORTAL_WRITE, id, shared.source[i], len, FOREVER));
	}
	ended((unsigned)i, true);
	program_exit();
}

static void
reader(uintptr_t i)
{
	const struct pair *p = &pairs[i];
	long id = KC(KC_PORTAL_CREATE, p->port), e;

	coro_check(id >= 0);
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned len = run.wanted[i][round];
		long moved;

		memset(shared.target[i], 0, LENGTH);
		e = KC(KC_PORTAL_ALLOW, id, p->from, p->local_port);
		coro_check(e == 0 || (e == -E_HOSTDOWN && is_hit(p)));
		if (e != 0)
			break;
		moved = KC(KC_PORTAL_READ, id, shared.target[i], len, FOREVER);
		compare((unsigned)i, round, moved);
		if (moved < 0)
			break;
		coro_check(memcmp(shared.target[i], shared.source[i], (size_t)moved) == 0);
		coro_check(KC(KC_PORTAL_READ, id, shared.target[i], len, FOREVER) == -E_ACCES);
	}
	ended((unsigned)i, false);
	program_exit();
}

unsigned
program_on(unsigned cluster, unsigned core, struct program *programs, unsigned max)
{
	unsigned n = 0;

	(void)max;
	for (unsigned i = 0; i < PAIRS; i++) {
		if (pairs[i].from == cluster && core == 1)
			programs[n++] = (struct program){writer, i};
		if (pairs[i].to == cluster && core == 2)
			programs[n++] = (struct program){reader, i};
	}
	return n;
}

static void
dump(void)
{
	for (unsigned i = 0; i < PAIRS; i++)
		for (unsigned r = 0; r < ROUNDS; r++)
			printf("pair %u round %u: %u sent, %u wanted\n", i, r, run.sent[i][r],
				run.wanted[i][r]);
	for (unsigned i = 0; i < PAIRS; i++)
		printf("pair %u: reader ended %d, writer %d\n", i, run.ended[i][0],
			run.ended[i][1]);
	printf("death %d victim %u dead %d connectors %u\n", run.death, run.victim, run.dead,
		run.connectors);
}

/* Lengths are drawn before the run: both sides of a pair know them. */
static void
draw(uint64_t seed)
{
	uint32_t x = (uint32_t)seed * 2654435761u + 1;

	for (unsigned i = 0; i < PAIRS; i++)
		for (unsigned r = 0; r < ROUNDS; r++)
			for (unsigned side = 0; side < 2; side++) {
				x = x * 1664525 + 1013904223;
				*(side ? &run.sent[i][r] : &run.wanted[i][r]) = x >> 30 == 0 ?
					(x >> 8) % 4 * 256 : (x >> 8) % (LENGTH + 1);
			}
	for (unsigned i = 0; i < PAIRS; i++)
		for (unsigned k = 0; k < LENGTH; k++)
			shared.source[i][k] = (unsigned char)((x = x * 1664525 + 1013904223) >> 24);
}

static void
begin(struct coro_config *config, struct boot_record *record, unsigned long seed)
{
	run.death = seed % 2;
	run.victim = (unsigned)(seed / 2 % CLUSTERS);
	run.connectors = (unsigned)(seed / (2 * CLUSTERS) % 2);
	record->portal_connectors = run.connectors;
	draw(seed);
	/* or as slow as turns are long, so that they end before the core comes */
	config->op_ns = seed / (4 * CLUSTERS) % 2 * SLOW_NS;
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {.name = "portals_move_the_shorter_length_whole",
		.seeds = 10000, .shared = &shared, .shared_bytes = sizeof(shared), .state = &run,
		.state_bytes = sizeof(run), .clusters = CLUSTERS, .cores = CORES, .begin = begin,
		.dump = dump};

	return program_main(&test, argc, argv);
}
