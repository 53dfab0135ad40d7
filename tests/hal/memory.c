/* SPDX-License-Identifier: MIT
 *
 * HAL contract: 32-bit operations, publish and acquire.
 */
#include <base/str.h>
#include "testbed.h"

static void
add_many(struct testbed *bed, unsigned core)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t ticket = hal_add32(&bed->counter, 1);

		expect(bed, i == 0 || ticket > last);
		last = ticket;
	}
	(void)core;
}

static void
adds_are_not_lost(struct testbed *bed)
{
	hal_store32(&bed->counter, 0);
	for (unsigned i = 1; i < bed->cores; i++)
		on_core(bed, i, add_many);
	add_many(bed, 0);
	for (unsigned i = 1; i < bed->cores; i++)
		wait_for_core(bed, i);
	expect(bed, hal_load32(&bed->counter) == ROUNDS * bed->cores);
}

static void
cas_changes_only_what_it_expects(struct testbed *bed)
{
	hal_store32(&bed->flag[0], 5);
	expect(bed, !hal_cas32(&bed->flag[0], 4, 6));
	expect(bed, hal_load32(&bed->flag[0]) == 5);
	expect(bed, hal_cas32(&bed->flag[0], 5, 0xffffffff));
	expect(bed, hal_load32(&bed->flag[0]) == 0xffffffff);
	expect(bed, hal_add32(&bed->flag[0], 2) == 0xffffffff);
	expect(bed, hal_load32(&bed->flag[0]) == 1);
	hal_fence();
}

static bool
turn_is(struct testbed *bed, uint32_t arg)
{
	return hal_load32(&bed->flag[0]) == arg;
}

/* The message of a turn, written by one side and checked by the other. */
static uint32_t
word_of(uint32_t turn, uint32_t i)
{
	return turn * 2654435761u + i;
}

static void
write_message(uint32_t *message, uint32_t turn)
{
	for (uint32_t i = 0; i < MESSAGE_WORDS; i++)
		message[i] = word_of(turn, i);
	hal_publish(message, MESSAGE_WORDS * sizeof(*message));
}

static void
check_message(struct testbed *bed, const uint32_t *message, uint32_t turn)
{
	unsigned wrong = 0;

	hal_acquire(message, MESSAGE_WORDS * sizeof(*message));
	for (uint32_t i = 0; i < MESSAGE_WORDS; i++)
		wrong += message[i] != word_of(turn, i);
	expect(bed, wrong == 0);
}

/*
 * Core 1 answers odd turns with even ones; each message goes through the box of the core that
 * writes it.
 */
static void
answer_messages(struct testbed *bed, unsigned core)
{
	for (uint32_t turn = 1; turn < ROUNDS; turn += 2) {
		wait_until(bed, turn_is, turn);
		check_message(bed, bed->core[0].box.message, turn);
		write_message(bed->core[core].box.message, turn + 1);
		hal_store32(&bed->flag[0], turn + 1);
		hal_notify(hal_cluster_id(), 0);
	}
}

static void
messages_pass(struct testbed *bed)
{
	hal_store32(&bed->flag[0], 0);
	on_core(bed, 1, answer_messages);
	for (uint32_t turn = 1; turn < ROUNDS; turn += 2) {
		write_message(bed->core[0].box.message, turn);
		hal_store32(&bed->flag[0], turn);
		hal_notify(hal_cluster_id(), 1);
		wait_until(bed, turn_is, turn + 1);
		check_message(bed, bed->core[1].box.message, turn + 1);
	}
	wait_for_core(bed, 1);
}

static void
store_bytes(struct testbed *bed, unsigned core)
{
	unsigned char *bytes = (unsigned char *)bed->core[0].box.message;

	for (unsigned i = core; i < sizeof(bed->core[0].box.message); i += bed->cores) {
		bytes[i] = (unsigned char)core;
		hal_publish(&bytes[i], 1);
	}
}

/* Neighbouring bytes of different writers do not disturb one another. */
static void
ranges_are_exact(struct testbed *bed)
{
	const unsigned char *bytes = (const unsigned char *)bed->core[0].box.message;
	unsigned wrong = 0;

	memset(&bed->core[0].box, 0xff, sizeof(bed->core[0].box));
	hal_publish(&bed->core[0].box, sizeof(bed->core[0].box));
	for (unsigned i = 1; i < bed->cores; i++)
		on_core(bed, i, store_bytes);
	store_bytes(bed, 0);
	for (unsigned i = 1; i < bed->cores; i++)
		wait_for_core(bed, i);
	hal_acquire(&bed->core[0].box, sizeof(bed->core[0].box));
	for (unsigned i = 0; i < sizeof(bed->core[0].box.message); i++)
		wrong += bytes[i] != i % bed->cores;
	expect(bed, wrong == 0);
}

const struct hal_test memory_tests[] = {
	{"adds_of_all_cores_are_counted_and_tickets_grow", adds_are_not_lost, 1, 1},
	{"cas_changes_only_what_it_expects", cas_changes_only_what_it_expects, 1, 1},
	{"published_messages_arrive_whole_after_acquire", messages_pass, 2, 1},
	{"publish_touches_no_neighbouring_byte", ranges_are_exact, 2, 1},
	{NULL, NULL, 0, 0},
};
