/* SPDX-License-Identifier: MIT
 *
 * HAL contract: waiting and doorbells, core numbers, time.
 */
#include "testbed.h"

static bool
flag_is(struct testbed *bed, uint32_t arg)
{
	return hal_load32(&bed->flag[arg >> 16]) == (arg & 0xffff);
}

static void
answer_rounds(struct testbed *bed, unsigned core)
{
	(void)core;
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		wait_until(bed, flag_is, i);
		hal_store32(&bed->flag[1], i);
		hal_notify(hal_cluster_id(), 0);
	}
}

static void
ping_pong(struct testbed *bed)
{
	hal_store32(&bed->flag[0], 0);
	hal_store32(&bed->flag[1], 0);
	on_core(bed, 1, answer_rounds);
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		hal_store32(&bed->flag[0], i);
		hal_notify(hal_cluster_id(), 1);
		wait_until(bed, flag_is, 1 << 16 | i);
	}
	wait_for_core(bed, 1);
}

static bool
counter_reached(struct testbed *bed, uint32_t want)
{
	return hal_load32(&bed->counter) == want;
}

static void
count_and_ring(struct testbed *bed, unsigned core)
{
	(void)core;
	for (int i = 0; i < ROUNDS; i++) {
		hal_add32(&bed->counter, 1);
		hal_notify(hal_cluster_id(), 0);
	}
}

static void
many_ring_one(struct testbed *bed)
{
	hal_store32(&bed->counter, 0);
	for (unsigned i = 1; i < bed->cores; i++)
		on_core(bed, i, count_and_ring);
	wait_until(bed, counter_reached, ROUNDS * (bed->cores - 1));
	for (unsigned i = 1; i < bed->cores; i++)
		wait_for_core(bed, i);
}

/*
 * The ring comes between begin and wait, whatever the timing: the command is done before the wait
 * starts.
 */
static void
ring_before_wait(struct testbed *bed)
{
	for (int i = 0; i < 20; i++) {
		hal_store32(&bed->counter, 0);
		hal_wait_begin();
		hal_notify(hal_cluster_id(), 0);
		hal_wait(HAL_FOREVER);
		hal_wait_begin();
		hal_wait_cancel();
	}
}

static void
wait_ends_by_time(struct testbed *bed)
{
	uint64_t limit = hal_clock_ns() + 2000000;

	for (int i = 0; i < 1000 && hal_clock_ns() < limit; i++) {
		hal_wait_begin();
		hal_wait(limit);
	}
	expect(bed, hal_clock_ns() >= limit);
	hal_wait_begin();
	hal_wait(0);
}

static void
note_number(struct testbed *bed, unsigned core)
{
	struct test_core *c = hal_core_local();

	expect(bed, hal_core_id() == core);
	expect(bed, hal_cluster_id() == 0);
	expect(bed, c == &bed->core[core]);
}

static void
numbers(struct testbed *bed)
{
	note_number(bed, 0);
	for (unsigned i = 1; i < bed->cores; i++) {
		on_core(bed, i, note_number);
		wait_for_core(bed, i);
	}
}

static void
read_clock(struct testbed *bed, unsigned core)
{
	uint64_t now = hal_clock_ns();

	bed->core[core].box.message[0] = (uint32_t)now;
	bed->core[core].box.message[1] = (uint32_t)(now >> 32);
	hal_publish(&bed->core[core].box, sizeof(bed->core[core].box));
}

static void
clock_never_goes_back(struct testbed *bed)
{
	uint64_t last = hal_clock_ns(), now;

	for (int i = 0; i < ROUNDS; i++) {
		now = hal_clock_ns();
		expect(bed, now >= last);
		last = now;
	}
	for (unsigned i = 1; i < bed->cores; i++) {
		const uint32_t *box = bed->core[i].box.message;

		on_core(bed, i, read_clock);
		wait_for_core(bed, i);
		hal_acquire(box, sizeof(bed->core[i].box));
		now = (uint64_t)box[1] << 32 | box[0];
		expect(bed, now >= last);
		expect(bed, hal_clock_ns() >= now);
		last = now;
	}
}

const struct hal_test doorbell_tests[] = {
	{"every_core_knows_its_number_and_its_pointer", numbers, 1, 1},
	{"a_ring_between_begin_and_wait_ends_the_wait", ring_before_wait, 1, 1},
	{"a_wait_ends_when_its_time_has_come", wait_ends_by_time, 1, 1},
	{"the_clock_never_goes_back_on_any_core", clock_never_goes_back, 1, 1},
	{"no_doorbell_of_a_ping_pong_is_lost", ping_pong, 2, 1},
	{"no_doorbell_of_many_ringers_is_lost", many_ring_one, 2, 1},
	{NULL, NULL, 0, 0},
};
