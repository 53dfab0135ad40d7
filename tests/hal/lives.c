/* SPDX-License-Identifier: MIT
 *
 * HAL contract: clusters are stopped, whatever they do, and start again. Cluster 0 does it to the
 * last one, which does what noc.c tells it.
 */
#include "testbed.h"

#define LIVES 4

static unsigned
victim(const struct testbed *bed)
{
	return bed->record->clusters - 1;
}

/* Only ask who is another cluster, and there. */
static void
who_is_no_other_is_refused(struct testbed *bed)
{
	int want = machine_lives() == LIVES_ONE ? -E_NOSYS : -E_INVAL;
	const unsigned nobody[] = {0, bed->record->clusters, ~0u};

	for (unsigned i = 0; i < sizeof(nobody) / sizeof(nobody[0]); i++) {
		expect(bed, hal_cluster_stop(nobody[i]) == want);
		expect(bed, hal_cluster_start(nobody[i]) == want);
	}
}

/* Where the machine cannot, it says so and leaves the cluster alone. */
static bool
can(struct testbed *bed)
{
	if (machine_lives() != LIVES_ONE)
		return true;
	expect(bed, hal_cluster_stop(victim(bed)) == -E_NOSYS);
	expect(bed, hal_cluster_start(victim(bed)) == -E_NOSYS);
	return false;
}

static bool
has_stopped(struct testbed *bed, uint32_t cluster)
{
	int e = hal_cluster_stop(cluster);

	expect(bed, e == 0 || e == -E_AGAIN);
	return e == 0;
}

/*
 * A cluster that has stopped does nothing, whoever rings, and its window is as it has left it. What
 * comes there now is not for its next life.
 */
static void
is_still(struct testbed *bed, unsigned cluster)
{
	uint32_t beats, life;
	bool alive;

	hal_fence();			/* no look at the window is older than the stop */
	beats = hal_noc_heartbeat_of(cluster);
	life = hal_noc_incarnation(cluster);
	alive = hal_noc_alive(cluster);
	if (alive)
		expect(bed, noc_tell(cluster, ASK_DIE, 0) == 0);
	for (unsigned n = 0; n < 3; n++) {
		for (unsigned i = 0; i < bed->record->cluster[cluster].cores; i++)
			hal_notify(cluster, i);
		hal_interrupt_home(cluster);
		pass(hal_clock_ns() + soon_ns());
		expect(bed, hal_cluster_stop(cluster) == 0);
		expect(bed, hal_noc_heartbeat_of(cluster) == beats);
		expect(bed, hal_noc_incarnation(cluster) == life);
		expect(bed, hal_noc_alive(cluster) == alive);
	}
}

/* Stopped, told dead, started: its next life is a pristine one, with all its cores. */
static void
live_again(struct testbed *bed, unsigned cluster)
{
	uint32_t life = hal_noc_incarnation(cluster);

	wait_until(bed, has_stopped, cluster);
	is_still(bed, cluster);
	hal_noc_mark_dead(cluster);
	expect(bed, noc_tell(cluster, ASK_ECHO, 0) == -E_HOSTDOWN);
	expect(bed, hal_noc_is_dead(cluster) && hal_cluster_stop(cluster) == 0);
	hal_noc_forget(cluster);
	hal_noc_mark_down(cluster);
	expect(bed, !hal_noc_is_dead(cluster) && !hal_noc_alive(cluster));
	expect(bed, hal_cluster_start(cluster) == 0);
	noc_await_boot(bed, cluster);
	expect(bed, hal_noc_incarnation(cluster) == life + 1);
	noc_ask(bed, cluster, ASK_CORES, 0);
}

/* Told to, all its cores compute without end; only then has it a heart that beats all the time. */
static void
await_spin(struct testbed *bed, unsigned cluster)
{
	uint64_t limit = hal_clock_ns() + PATIENCE_NS;
	uint32_t beats = hal_noc_heartbeat_of(cluster);

	expect(bed, noc_tell(cluster, ASK_SPIN, 0) == 0);
	while (hal_noc_heartbeat_of(cluster) - beats < 2 && hal_clock_ns() < limit)
		pass(hal_clock_ns() + soon_ns());
	expect(bed, hal_noc_heartbeat_of(cluster) - beats >= 2);
}

/* noc.c has left it dead, by a panic. */
static void
a_dead_one_lives_again(struct testbed *bed)
{
	if (!can(bed))
		return;
	expect(bed, hal_noc_is_dead(victim(bed)));
	live_again(bed, victim(bed));
	noc_ask(bed, victim(bed), ASK_ECHO, 1);
}

static void
waiting_ones_are_stopped(struct testbed *bed)
{
	for (uint32_t n = 0; n < LIVES && can(bed); n++) {
		noc_ask(bed, victim(bed), ASK_ECHO, n);
		live_again(bed, victim(bed));
	}
}

static void
spinning_ones_are_stopped(struct testbed *bed)
{
	for (uint32_t n = 0; n < LIVES && can(bed); n++) {
		await_spin(bed, victim(bed));
		live_again(bed, victim(bed));
	}
	if (machine_lives() != LIVES_ONE)
		noc_ask(bed, victim(bed), ASK_ECHO, 2);
}

/* What a life has changed in its data is as it was in the image when the next one begins. */
static void
images_are_pristine(struct testbed *bed)
{
	if (!can(bed))
		return;
	if (machine_lives() != LIVES_WITH_IMAGES) {
		test_skip(bed, "clusters have no images of their own");
		return;
	}
	for (uint32_t n = 0; n < LIVES; n++)
		noc_ask(bed, victim(bed), ASK_MARK, n);
	live_again(bed, victim(bed));
	noc_ask(bed, victim(bed), ASK_MARK, 0);
}

/* The others go on: each answers while the last one spins and is stopped. */
static void
others_go_on(struct testbed *bed)
{
	if (!can(bed))
		return;
	await_spin(bed, victim(bed));
	for (uint32_t n = 0; !has_stopped(bed, victim(bed)); n++)
		for (unsigned c = 1; c < victim(bed); c++)
			noc_ask(bed, c, ASK_ECHO, n & 0xff);
	for (unsigned c = 1; c < victim(bed); c++)
		noc_ask(bed, c, ASK_ECHO, 7);
	live_again(bed, victim(bed));
}

const struct hal_test lives_tests[] = {
	{"nobody_stops_itself_or_who_does_not_exist", who_is_no_other_is_refused, 1, 1},
	{"a_cluster_that_is_dead_lives_again", a_dead_one_lives_again, 1, 2},
	{"a_cluster_that_waits_is_stopped_and_lives_again", waiting_ones_are_stopped, 1, 2},
	{"a_cluster_that_spins_is_stopped_and_lives_again", spinning_ones_are_stopped, 1, 2},
	{"a_next_life_begins_with_a_pristine_image", images_are_pristine, 1, 2},
	{"the_others_go_on_while_a_cluster_is_stopped", others_go_on, 1, 2},
	{NULL, NULL, 0, 0},
};
