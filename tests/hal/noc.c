/* SPDX-License-Identifier: MIT
 *
 * HAL contract: the NoC. Core 0 of the other clusters does what events tell it and answers with an
 * event.
 */
#include <base/str.h>
#include "testbed.h"

enum { ANSWER = 64, ANSWER_WRONG = 65 };

#define EVENT(kind, value) ((uint32_t)(kind) << 24 | (uint32_t)(value))
#define KIND(event) ((event) >> 24)
#define VALUE(event) ((event) & 0xffffff)
#define BLOCK_MAX 512
#define LINE "sixty-four bytes of text from a cluster that is far away from 0\n"
#define LINES 70			/* more than the way to cluster 0 has room for */

static unsigned char
byte_of(uint32_t seed, size_t i)
{
	return (unsigned char)(seed * 31 + i * 7 + 1);
}

static size_t
fill(unsigned char *block, unsigned slot, uint32_t seed)
{
	size_t len = hal_noc_slot_bytes(slot) < BLOCK_MAX ? hal_noc_slot_bytes(slot) : BLOCK_MAX;

	for (size_t i = 0; i < len; i++)
		block[i] = byte_of(seed, i);
	return len;
}

static bool
slot_holds(unsigned slot, uint32_t seed)
{
	const unsigned char *block = hal_noc_slot(slot);
	size_t len = hal_noc_slot_bytes(slot) < BLOCK_MAX ? hal_noc_slot_bytes(slot) : BLOCK_MAX;

	for (size_t i = 0; i < len; i++)
		if (block[i] != byte_of(seed, i))
			return false;
	return true;
}

/* The slot for a kind of question, in the window of the cluster that reads it. */
static unsigned
slot_for(unsigned kind, unsigned sender)
{
	return kind == ASK_PORTAL ? hal_noc_portal_slot(0) : hal_noc_mailbox_slot(0, sender);
}

static int
put_filled(unsigned cluster, unsigned kind, uint32_t seed)
{
	unsigned char block[BLOCK_MAX];
	unsigned slot = slot_for(kind, hal_cluster_id());

	return hal_noc_put(cluster, slot, hal_noc_incarnation(cluster), block,
		fill(block, slot, seed));
}

/* Waits for room; nobody is told but by the text itself. */
static void
write_lines(void)
{
	for (unsigned n = 0; n < LINES; n++) {
		hal_wait_begin();
		while (hal_noc_console_write(LINE, sizeof(LINE) - 1) != 0) {
			hal_wait(HAL_FOREVER);
			hal_wait_begin();
		}
		hal_wait_cancel();
	}
}

/* Cluster 0 alone stops and starts others. */
static bool
may_stop(unsigned cluster)
{
	return hal_cluster_stop(cluster) != -E_ACCES || hal_cluster_start(cluster) != -E_ACCES;
}

static void
nothing(struct testbed *bed, unsigned core)
{
	(void)bed;
	(void)core;
}

static void
all_cores_work(struct testbed *bed)
{
	for (unsigned i = 1; i < bed->cores; i++)
		on_core(bed, i, nothing);
	for (unsigned i = 1; i < bed->cores; i++)
		wait_for_core(bed, i);
}

static void
spin(struct testbed *bed, unsigned core)
{
	for (;;)
		if (core == 0)
			hal_noc_heartbeat();
		else
			hal_load32(&bed->counter);
}

static _Noreturn void
all_cores_spin(struct testbed *bed)
{
	for (unsigned i = 1; i < bed->cores; i++)
		on_core(bed, i, spin);
	spin(bed, 0);
	__builtin_unreachable();
}

/* Has it been asked so often, since its image was started? */
static bool
is_mark(uint32_t want)
{
	static uint32_t mark = 1000;

	return mark++ == 1000 + want;
}

static void
answer(struct testbed *bed, unsigned cluster, uint32_t event)
{
	uint32_t value = VALUE(event), wrong = 0;

	switch (KIND(event)) {
	case ASK_MAIL:
	case ASK_PORTAL:
		wrong = !slot_holds(slot_for(KIND(event), cluster), value);
		wrong += put_filled(cluster, KIND(event), value + 1) != 0;
		break;
	case ASK_CONSOLE:
		write_lines();
		return;
	case ASK_STOP:
		wrong = may_stop(0) || may_stop(hal_cluster_id()) ||
			may_stop(bed->record->clusters);
		break;
	case ASK_CORES:
		all_cores_work(bed);
		break;
	case ASK_MARK:
		wrong = !is_mark(value);
		break;
	case ASK_SPIN:
		all_cores_spin(bed);
	case ASK_DIE:
		hal_panic(__FILE__, __LINE__, "a test wants this cluster to die");
	}
	hal_noc_heartbeat();
	hal_noc_notify(cluster, EVENT(wrong ? ANSWER_WRONG : ANSWER, value + 1));
}

void
noc_peer(struct testbed *bed)
{
	unsigned cluster;
	uint32_t event, life;

	for (;;) {
		hal_wait_begin();
		if (!hal_noc_poll(&cluster, &life, &event)) {
			hal_wait(HAL_FOREVER);
			continue;
		}
		hal_wait_cancel();
		answer(bed, cluster, event);
	}
}

static bool
is_up(struct testbed *bed, uint32_t cluster)
{
	(void)bed;
	return hal_noc_alive(cluster);
}

/* It looks from time to time. */
void
noc_await_boot(struct testbed *bed, unsigned cluster)
{
	uint64_t limit = hal_clock_ns() + PATIENCE_NS;

	while (!is_up(bed, cluster) && hal_clock_ns() < limit) {
		hal_wait_begin();
		hal_wait(hal_clock_ns() + 1000000);
	}
	expect(bed, is_up(bed, cluster));
}

static bool
has_answer(struct testbed *bed, uint32_t want)
{
	unsigned cluster;
	uint32_t event, life;

	if (!hal_noc_poll(&cluster, &life, &event))
		return false;
	expect(bed, event == EVENT(ANSWER, want & 0xffff));
	expect(bed, cluster == want >> 16);
	return true;
}

int
noc_tell(unsigned cluster, enum noc_ask kind, uint32_t value)
{
	return hal_noc_notify(cluster, EVENT(kind, value));
}

void
noc_ask(struct testbed *bed, unsigned cluster, enum noc_ask kind, uint32_t value)
{
	expect(bed, noc_tell(cluster, kind, value) == 0);
	wait_until(bed, has_answer, cluster << 16 | (value + 1));
}

static void
all_come_up(struct testbed *bed)
{
	expect(bed, hal_noc_alive(0));
	for (unsigned i = 0; i < bed->record->clusters; i++) {
		noc_await_boot(bed, i);
		expect(bed, hal_noc_incarnation(i) == bed->record->cluster[i].incarnation);
	}
	expect(bed, !hal_noc_alive(bed->record->clusters));
}

static void
own_events_arrive(struct testbed *bed)
{
	unsigned cluster;
	uint32_t event, life;

	expect(bed, !hal_noc_poll(&cluster, &life, &event));
	expect(bed, hal_noc_notify(0, 77) == 0);
	expect(bed, hal_noc_poll(&cluster, &life, &event) && cluster == 0 && event == 77);
	expect(bed, !hal_noc_poll(&cluster, &life, &event));
}

static void
events_are_answered(struct testbed *bed)
{
	for (uint32_t i = 0; i < ROUNDS / 4; i++)
		for (unsigned c = 1; c < bed->record->clusters; c++)
			noc_ask(bed, c, ASK_ECHO, i);
}

static void
events_keep_their_order(struct testbed *bed)
{
	for (uint32_t i = 0; i < 4; i++)
		expect(bed, hal_noc_notify(1, EVENT(ASK_ECHO, i)) == 0);
	for (uint32_t i = 0; i < 4; i++)
		wait_until(bed, has_answer, 1 << 16 | (i + 1));
}

static void
blocks_arrive(struct testbed *bed, enum noc_ask kind)
{
	for (uint32_t i = 0; i < ROUNDS / 4; i++)
		for (unsigned c = 1; c < bed->record->clusters; c++) {
			expect(bed, put_filled(c, kind, i) == 0);
			noc_ask(bed, c, kind, i);
			expect(bed, slot_holds(slot_for(kind, c), i + 1));
		}
}

static void
mail_arrives(struct testbed *bed)
{
	blocks_arrive(bed, ASK_MAIL);
}

static void
portal_blocks_arrive(struct testbed *bed)
{
	if (bed->record->portal_ports == 0)
		test_skip(bed, "no portals");
	else
		blocks_arrive(bed, ASK_PORTAL);
}

static void
bad_puts_are_refused(struct testbed *bed)
{
	static const char block[8] = "block";
	unsigned connectors = bed->record->portal_connectors, slots = hal_noc_portal_slot(0) +
		(connectors != 0 ? connectors : bed->record->portal_ports);
	uint32_t incarnation = hal_noc_incarnation(1);

	expect(bed, hal_noc_put(1, 0, incarnation, block, sizeof(block)) == 0);
	expect(bed, hal_noc_put(1, 0, incarnation + 1, block, sizeof(block)) == -E_STALE);
	expect(bed, hal_noc_put(1, 0, incarnation, block, hal_noc_slot_bytes(0) + 1) == -E_INVAL);
	expect(bed, hal_noc_put(1, slots, incarnation, block, sizeof(block)) == -E_INVAL);
	expect(bed, hal_noc_put(bed->record->clusters, 0, incarnation, block, sizeof(block)) ==
		-E_INVAL);
	expect(bed, hal_noc_slot_bytes(slots) == 0);
	expect(bed, hal_noc_slot_bytes(0) >= MAILBOX_MSG_SIZE + HAL_NOC_HEADER_BYTES);
}

static bool
text_came(struct testbed *bed, uint32_t cluster)
{
	char text[sizeof(LINE) - 1];
	int ready = hal_noc_console_ready(cluster);
	size_t got = hal_noc_console_read(cluster, text, sizeof(text));

	expect(bed, got == 0 ||
		(got == sizeof(text) && ready >= 0 && memcmp(text, LINE, got) == 0));
	return got > 0;
}

static void
console_text_arrives(struct testbed *bed)
{
	for (unsigned c = 1; c < bed->record->clusters; c++) {
		expect(bed, hal_noc_notify(c, EVENT(ASK_CONSOLE, 0)) == 0);
		for (unsigned n = 0; n < LINES; n++)
			wait_until(bed, text_came, c);
	}
}

static void
hearts_beat(struct testbed *bed)
{
	uint32_t before = hal_noc_heartbeat_of(1);

	noc_ask(bed, 1, ASK_ECHO, 0);
	expect(bed, hal_noc_heartbeat_of(1) == before + 1);
}

static void
others_stop_nobody(struct testbed *bed)
{
	for (unsigned c = 1; c < bed->record->clusters; c++)
		noc_ask(bed, c, ASK_STOP, 0);
}

static bool
is_dead(struct testbed *bed, uint32_t cluster)
{
	(void)bed;
	return hal_noc_deaths() != 0 && !hal_noc_alive(cluster);
}

static void
death_is_noticed(struct testbed *bed)
{
	unsigned last = bed->record->clusters - 1;
	uint32_t incarnation = hal_noc_incarnation(last);

	expect(bed, hal_noc_notify(last, EVENT(ASK_DIE, 0)) == 0);
	wait_until(bed, is_dead, last);
	expect(bed, hal_noc_put(last, 0, incarnation, "x", 1) == -E_HOSTDOWN);
	expect(bed, hal_noc_notify(last, EVENT(ASK_ECHO, 0)) == -E_HOSTDOWN);
	hal_noc_mark_dead(last);
	expect(bed, hal_noc_deaths() == 1);
	expect(bed, !hal_noc_alive(last) && hal_noc_alive(0));
}

const struct hal_test noc_tests[] = {
	{"all_clusters_come_up_with_their_incarnations", all_come_up, 1, 1},
	{"events_to_the_own_cluster_arrive", own_events_arrive, 1, 1},
	{"events_are_answered_by_every_cluster", events_are_answered, 1, 2},
	{"events_of_a_pair_keep_their_order", events_keep_their_order, 1, 2},
	{"mailbox_blocks_arrive_before_their_events", mail_arrives, 1, 2},
	{"portal_blocks_arrive_before_their_events", portal_blocks_arrive, 1, 2},
	{"puts_with_wrong_owner_length_or_incarnation_are_refused", bad_puts_are_refused, 1, 2},
	{"console_text_of_other_clusters_arrives", console_text_arrives, 1, 2},
	{"heartbeats_are_seen", hearts_beat, 1, 2},
	{"cluster_0_alone_stops_others", others_stop_nobody, 1, 2},
	{"a_cluster_that_panics_is_dead_for_its_peers", death_is_noticed, 1, 2},
	{NULL, NULL, 0, 0},
};
