/* SPDX-License-Identifier: MIT
 *
 * A cluster that is stopped and started again while others put blocks into its window. Cluster 0
 * restarts cluster 1 at random moments, sometimes once more while it is on its way, and in half of
 * the seeds cluster 2 as well. In each life a reader of cluster 1 allows one of two writers of
 * cluster 2, each on a core of its own, to transfer. What it reads must be whole, of the writer
 * that it allowed, and newer than what it read of that before; and before it allows anybody,
 * nothing comes. With real kernels everywhere.
 *
 * usage: ikc_lives [COUNT [FIRST]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <hal/noc.h>
#include <tests/coroutine/program.h>

#define PORT 1
#define LIVES 3				/* restarts */
#define FIRST_LIFE 2			/* of cluster 1: coro_record */
#define BLOCKS 3			/* that the last life reads */
#define LENGTH 300			/* of a transfer: two blocks */
#define BIT 4

static struct {
	unsigned char out[2][LENGTH], in[LENGTH];
	struct cluster_state state, own, seen[2];
} shared;

static struct {
	unsigned char written[2], read[2];
	unsigned restarts, blocks;
	bool peers_die;			/* cluster 2 is restarted, too */
} run;

/* --- cluster 0 --- */

static void
await_life(uint32_t life)
{
	for (;;) {
		coro_check(KC(KC_CLUSTER_STATE, 1, &shared.state) == 0);
		if (shared.state.state == CLUSTER_UP && shared.state.incarnation >= life)
			return;
		coro_check(KC(KC_THREAD_SLEEP, 1u << BIT, FOREVER) == 1 << BIT);
	}
}

static void
operator(uintptr_t arg)
{
	(void)arg;
	coro_check(KC(KC_EVENT_BIND, EVENT_CLUSTER, 1, BIT) == 0);
	await_life(FIRST_LIFE);
	while (run.restarts < LIVES) {
		for (unsigned i = coro_random(200); i > 0; i--)
			KC(KC_THREAD_YIELD);
		if (KC(KC_CLUSTER_RESTART, PROGRAM_AUTHORITY, 1) == 0)
			run.restarts++;
		if (run.peers_die && coro_random(2))
			KC(KC_CLUSTER_RESTART, PROGRAM_AUTHORITY, 2);
		if (coro_random(2))
			await_life(FIRST_LIFE + run.restarts);
	}
	await_life(FIRST_LIFE + LIVES);
	for (;;)
		KC(KC_THREAD_SLEEP, 1u << BIT, FOREVER);
}

/* --- cluster 1 --- */

/*
 * Of whom the whole transfer is: every byte is the same number, odd ones are the second writer's.
 */
static void
check_block(unsigned who)
{
	for (unsigned i = 1; i < LENGTH; i++)
		coro_check(shared.in[i] == shared.in[0]);
	coro_check(shared.in[0] % 2 == who);
	coro_check(shared.in[0] > run.read[who] && shared.in[0] <= run.written[who]);
	run.read[who] = shared.in[0];
}

/* While nobody is allowed to transfer in this life, nobody puts anything into the slot. */
static void
slot_is_quiet(void)
{
	unsigned char before[HAL_NOC_HEADER_BYTES + 256];
	unsigned slot = hal_noc_portal_slot(PORT);

	memcpy(before, hal_noc_slot(slot), sizeof(before));
	for (unsigned i = coro_random(300); i > 0; i--)
		KC(KC_THREAD_YIELD);
	coro_check(memcmp(before, hal_noc_slot(slot), sizeof(before)) == 0);
}

/* False: the writer has died. */
static bool
read_block(long port, unsigned who)
{
	long e = KC(KC_PORTAL_ALLOW, port, 2, who);

	if (e == 0)
		e = KC(KC_PORTAL_READ, port, shared.in, LENGTH, FOREVER);
	coro_check(e == LENGTH || (run.peers_die && (e == -E_HOSTDOWN || e == -E_CONNRESET)));
	return e == LENGTH;
}

static void
reader(uintptr_t arg)
{
	long port = KC(KC_PORTAL_CREATE, PORT);
	unsigned who;

	(void)arg;
	coro_check(port >= 0);
	slot_is_quiet();
	coro_check(KC(KC_CLUSTER_STATE, 1, &shared.own) == 0);
	for (unsigned blocks = 0; shared.own.incarnation < FIRST_LIFE + LIVES || blocks < BLOCKS;
		blocks++) {
		who = coro_random(2);
		memset(shared.in, 0xee, sizeof(shared.in));
		if (read_block(port, who)) {
			check_block(who);
			run.blocks++;
		} else {
			blocks--;
		}
	}
	coro_finish(0);
}

/* --- cluster 2 --- */

static void
writer(uintptr_t who)
{
	for (;;) {
		long port = KC(KC_PORTAL_OPEN, 1, PORT, who), e = 0;

		coro_check(port >= 0);
		while (e == 0 || e == LENGTH) {
			run.written[who] = (unsigned char)(run.written[who] + 2);
			coro_check(run.written[who] < 250);
			memset(shared.out[who], run.written[who], LENGTH);
			e = KC(KC_PORTAL_WRITE, port, shared.out[who], LENGTH, FOREVER);
			coro_check(e == LENGTH || e == -E_HOSTDOWN || e == -E_CONNRESET);
		}
		coro_check(KC(KC_HANDLE_CLOSE, port) == 0);
		do
			coro_check(KC(KC_CLUSTER_STATE, 1, &shared.seen[who]) == 0);
		while (shared.seen[who].state != CLUSTER_UP);
	}
}

unsigned
program_on(unsigned cluster, unsigned core, struct program *programs, unsigned max)
{
	static void (*const fn[])(uintptr_t) = {operator, reader, writer};

	(void)max;
	programs[0] = (struct program){fn[cluster], core - 1};
	return cluster == 2 ? 1 : core == 1;
}

static void
dump(void)
{
	printf("%u restarts, %u blocks; written %u %u, read %u %u\n", run.restarts, run.blocks,
		run.written[0], run.written[1], run.read[0], run.read[1]);
}

static void
begin(struct coro_config *config, struct boot_record *record, unsigned long seed)
{
	config->copy_in_points = seed % 4 * 1000;
	config->ops_max = 6000000;
	record->roles[0] = seed % 3 == 0 ? ROLE_TC : ROLE_KC;
	run.written[1] = 1;
	run.peers_die = seed % 8 >= 4;
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {.name = "no_block_comes_to_another_life",
		.seeds = 1000, .shared = &shared, .shared_bytes = sizeof(shared), .state = &run,
		.state_bytes = sizeof(run), .clusters = 3, .cores = 3, .begin = begin,
		.dump = dump};

	program_has_authority = true;
	return program_main(&test, argc, argv);
}
