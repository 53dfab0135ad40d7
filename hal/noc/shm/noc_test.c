/* SPDX-License-Identifier: MIT
 *
 * Unit tests of the shared-memory NoC: geometry and behaviour, two clusters played by one thread.
 * With arguments it prints one window's size: noc_test CLUSTERS CORES MAILBOX_PORTS PORTAL_PORTS
 * PORTAL_UNIT_BYTES (CORES: of the largest cluster).
 */
/* needs: hal/noc/shm/noc.c hal/noc/shm/events.c hal/noc/shm/console.c hal/noc/shm/window.c */
/* cpu: hosted */
#include <abi/errors.h>
#include <base/test.h>
#include "shm.h"

#define ENTRIES 64u			/* of a ring between two_clusters_up */

static struct boot_record record;
static unsigned here;			/* the cluster that the thread plays */
static unsigned rings[2];		/* doorbells rung */
static unsigned interrupts[2];		/* the same, for home cores that run users */
static _Alignas(64) char area[2][65536];
static _Alignas(64) char own[2][HAL_NOC_PRIVATE_BYTES];

void *
hal_noc_window(unsigned cluster)
{
	return area[cluster];
}

void *
hal_noc_private(void)
{
	return own[here];
}

unsigned
hal_cluster_id(void)
{
	return here;
}

void
hal_notify(unsigned cluster, unsigned core)
{
	(void)core;
	rings[cluster]++;
}

void
hal_interrupt_home(unsigned cluster)
{
	interrupts[cluster]++;
}

/* User memory is ordinary memory; the first page is not mapped. */
int
hal_copy_in(void *to, uintptr_t from, size_t len)
{
	if (from < 4096)
		return -E_FAULT;
	memcpy(to, (const void *)from, len);
	return 0;
}

_Noreturn void
hal_panic(const char *file, int line, const char *what)
{
	printf("FAIL %s:%d: %s\n", file, line, what);
	exit(1);
}

static void
machine(uint32_t clusters, uint32_t cores, uint32_t mailbox_ports, uint32_t portal_ports,
	uint32_t unit)
{
	record = (struct boot_record){.clusters = clusters, .mailbox_ports = mailbox_ports,
		.portal_ports = portal_ports,
		.portal_unit_bytes = unit};
	for (uint32_t i = 0; i < clusters && i < CLUSTERS_MAX; i++) {
		record.cluster[i].cores = i == clusters - 1 ? cores : 1;
		record.cluster[i].incarnation = 10 + i;
		record.cluster[i].first_core = i;
	}
	record.noc_window_bytes = noc_window_bytes(&record);
}

static void
two_clusters_up(void)
{
	machine(2, 3, 4, 2, 256);
	memset(area, 0, sizeof(area));
	for (here = 0; here < 2; here++)
		hal_noc_init(&record);
	here = 0;
	rings[0] = rings[1] = interrupts[0] = interrupts[1] = 0;
}

TEST(window_size_follows_the_documented_formula)
{
	machine(2, 3, 4, 2, 256);
	expect(noc_window_bytes(&record) ==
		(128 + 64 * 3 + 2 * (128 + 16 * 8) + 128 + 4096 + 4 * 2 * 192 + 2 * 320 + 8191) /
		8192 * 8192);
	machine(20, 17, 32, 32, 4096);
	expect(noc_window_bytes(&record) ==
		(128 + 64 * 17 + 20 * (128 + 256 * 8) + 128 + 4096 + 32 * 20 * 192 + 32 * 4160 +
		8191) / 8192 * 8192);
	/* pages of channels behind all that, and room for their events */
	record.channel_bytes = 65536;
	expect(noc_window_bytes(&record) ==
		(128 + 64 * 17 + 20 * (128 + 512 * 8) + 128 + 4096 + 32 * 20 * 192 + 32 * 4160 +
		8191) / 8192 * 8192 + 65536);
}

TEST(slots_do_not_overlap_and_end_inside_the_window)
{
	two_clusters_up();
	expect(hal_noc_mailbox_slot(3, 1) == 7);
	expect(hal_noc_portal_slot(0) == 8);
	expect(hal_noc_slot_bytes(7) == 192);
	expect(hal_noc_slot_bytes(9) == 64 + 256);
	expect(hal_noc_slot_bytes(10) == 0);
	for (unsigned s = 1; s < 10; s++)
		expect((const char *)hal_noc_slot(s) >= (const char *)hal_noc_slot(s - 1) +
			hal_noc_slot_bytes(s - 1));
	expect((const char *)hal_noc_slot(9) + hal_noc_slot_bytes(9) <= area[0] +
		record.noc_window_bytes);
	expect((uintptr_t)hal_noc_slot(9) % 64 == 0);
}

TEST(ports_that_share_a_connector_have_credits)
{
	machine(2, 3, 4, 2, 256);
	record.mailbox_connectors = 1;
	expect(noc_window_bytes(&record) ==
		(128 + 64 * 3 + 2 * (128 + 64 * 8) + 128 + 4096 + (2 + 4 * 2) * 192 + 2 * 320 +
		8191) / 8192 * 8192);
	record.noc_window_bytes = noc_window_bytes(&record);
	memset(area, 0, sizeof(area));
	for (here = 0; here < 2; here++)
		hal_noc_init(&record);
	here = 0;
	expect(hal_noc_mailbox_slot(0, 1) == 1);
	expect(hal_noc_credit_slot(0, 0) == 2);
	expect(hal_noc_credit_slot(3, 1) == 9);
	expect(hal_noc_portal_slot(0) == 10);
	expect(hal_noc_slot_bytes(9) == 192);
	expect(hal_noc_slot_bytes(10) == 64 + 256);
	expect(hal_noc_slot_bytes(12) == 0);
	for (unsigned s = 1; s < 12; s++)
		expect((const char *)hal_noc_slot(s) >= (const char *)hal_noc_slot(s - 1) +
			hal_noc_slot_bytes(s - 1));
}

TEST(portal_ports_share_slots)
{
	machine(2, 3, 4, 3, 256);
	record.portal_connectors = 1;
	expect(noc_window_bytes(&record) ==
		(128 + 64 * 3 + 2 * (128 + 64 * 8) + 128 + 4096 + 4 * 2 * 192 + 320 + 8191) /
		8192 * 8192);
	record.noc_window_bytes = noc_window_bytes(&record);
	here = 0;
	hal_noc_init(&record);
	expect(hal_noc_portal_slot(0) == 8);
	expect(hal_noc_slot_bytes(8) == 64 + 256);
	expect(hal_noc_slot_bytes(9) == 0);
}

TEST(put_user_joins_a_head_and_user_memory)
{
	static const char text[] = "llo";
	struct hal_noc_block b = {"he", 2, (uintptr_t)text, sizeof(text)};

	two_clusters_up();
	expect(hal_noc_put_user(1, 0, 11, &b) == 0);
	expect(hal_noc_put_user(1, 0, 10, &b) == -E_STALE);
	here = 1;
	expect(strcmp(hal_noc_slot(0), "hello") == 0);
	here = 0;
	b.user_bytes = 191;
	expect(hal_noc_put_user(1, 0, 11, &b) == -E_INVAL);
	b.user_bytes = SIZE_MAX - 1;
	expect(hal_noc_put_user(1, 0, 11, &b) == -E_INVAL);
	b.user = 8;
	b.user_bytes = 4;
	expect(hal_noc_put_user(1, 0, 11, &b) == -E_FAULT);
	b.user_bytes = 0;
	expect(hal_noc_put_user(1, 0, 11, &b) == 0);
}

TEST(put_reaches_the_peer_and_checks_owner_incarnation_and_length)
{
	char block[193] = "hello";

	two_clusters_up();
	expect(hal_noc_put(1, hal_noc_mailbox_slot(2, 0), 11, block, 6) == 0);
	expect(hal_noc_put(1, 0, 10, block, 6) == -E_STALE);
	expect(hal_noc_put(1, 0, 11, block, 193) == -E_INVAL);
	expect(hal_noc_put(1, 10, 11, block, 1) == -E_INVAL);
	expect(hal_noc_put(2, 0, 11, block, 1) == -E_INVAL);
	here = 1;
	expect(strcmp(hal_noc_slot(hal_noc_mailbox_slot(2, 0)), "hello") == 0);
	hal_noc_mark_dead(1);
	hal_noc_mark_dead(1);
	hal_noc_mark_dead(2);
	expect_eq(rings[0], 1);
	here = 0;
	expect_eq(hal_noc_deaths(), 1);
	expect(hal_noc_is_dead(1) && !hal_noc_is_dead(0) && !hal_noc_is_dead(2));
	expect(hal_noc_put(1, 0, 11, block, 1) == -E_HOSTDOWN);
	expect(hal_noc_notify(1, 1) == -E_HOSTDOWN);
	expect(!hal_noc_alive(1) && hal_noc_alive(0));
}

TEST(events_arrive_in_order_once_and_a_full_ring_says_again)
{
	unsigned cluster;
	uint32_t event, life;

	two_clusters_up();
	for (int round = 0; round < 5; round++) {
		here = 0;
		for (uint32_t i = 0; i < ENTRIES; i++)
			expect(hal_noc_notify(1, i) == 0);
		expect(hal_noc_notify(1, 99) == -E_AGAIN);
		here = 1;
		for (uint32_t i = 0; i < ENTRIES; i++)
			expect(hal_noc_poll(&cluster, &life, &event) && cluster == 0 && event == i);
		expect(!hal_noc_poll(&cluster, &life, &event));
	}
	expect(rings[1] == 5 * ENTRIES);
}

TEST(peers_are_served_in_turn)
{
	unsigned cluster, from[2] = {0, 0};
	uint32_t event, life;

	two_clusters_up();
	for (uint32_t i = 0; i < 4; i++)
		for (here = 0; here < 2; here++)
			expect(hal_noc_notify(1, i) == 0);
	here = 1;
	for (int i = 0; i < 4; i++)
		if (hal_noc_poll(&cluster, &life, &event))
			from[cluster]++;
	expect(from[0] == 2 && from[1] == 2);
}

TEST(a_restarted_cluster_gets_nothing_from_its_earlier_life)
{
	unsigned cluster;
	uint32_t event, life;

	two_clusters_up();
	expect(hal_noc_notify(1, 1) == 0);
	here = 1;
	expect(hal_noc_notify(0, 2) == 0);
	record.cluster[1].incarnation = 20;
	hal_noc_init(&record);
	expect(!hal_noc_poll(&cluster, &life, &event));
	expect(hal_noc_notify(0, 3) == 0);
	here = 0;
	expect(hal_noc_poll(&cluster, &life, &event) && event == 3);
	expect(!hal_noc_poll(&cluster, &life, &event));
	expect(hal_noc_notify(1, 4) == 0);
	here = 1;
	expect(hal_noc_poll(&cluster, &life, &event) && event == 4);
}

TEST(console_bytes_wrap_and_are_whole_or_refused)
{
	char text[3000], back[4096];

	two_clusters_up();
	here = 1;
	for (int round = 0; round < 4; round++) {
		memset(text, 'a' + round, sizeof(text));
		expect(hal_noc_console_write(text, sizeof(text)) == 0);
		expect(hal_noc_console_write(text, sizeof(text)) == -E_AGAIN);
		here = 0;
		expect(hal_noc_console_read(1, back, 1000) == 1000);
		expect(hal_noc_console_read(1, back + 1000, sizeof(back) - 1000) == 2000);
		expect(memcmp(text, back, sizeof(text)) == 0);
		expect(hal_noc_console_read(1, back, 1) == 0);
		here = 1;
	}
}

/* What cluster 1 can write to: the ring of its events to cluster 0. */
static struct window_ring *
ring_of_1_at_0(void)
{
	struct window_geometry g;

	window_geometry_init(&g, &record, 0);
	return (struct window_ring *)(void *)(area[0] + g.rings_at + g.ring_stride);
}

static void
notify_0(unsigned from, uint32_t event)
{
	here = from;
	expect_eq(hal_noc_notify(0, event), 0);
	here = 0;
}

TEST(an_event_that_was_not_counted_hides_nobody_elses)
{
	unsigned cluster;
	uint32_t event, life, before;

	two_clusters_up();
	before = ((struct window *)(void *)area[0])->activity;
	notify_0(1, 5);
	((struct window *)(void *)area[0])->activity = before;
	notify_0(0, 6);
	for (int i = 0; i < 2; i++)
		expect(hal_noc_poll(&cluster, &life, &event) && event == (cluster == 0 ? 6u : 5u));
	expect(!hal_noc_poll(&cluster, &life, &event));
	notify_0(0, 7);
	expect(hal_noc_poll(&cluster, &life, &event) && cluster == 0 && event == 7);
}

TEST(a_ring_that_cannot_be_is_dropped_at_once_and_said)
{
	unsigned cluster;
	uint32_t event, life;

	for (uint32_t spoilt = ENTRIES + 1; spoilt != 0; spoilt *= 2) {
		two_clusters_up();
		notify_0(1, 5);
		ring_of_1_at_0()->head += spoilt;
		expect(hal_noc_poll(&cluster, &life, &event) && cluster == 1 &&
			event == HAL_NOC_NONSENSE);
		expect(!hal_noc_poll(&cluster, &life, &event));
		notify_0(1, 6);
		expect(hal_noc_poll(&cluster, &life, &event) && cluster == 1 && event == 6);
	}
}

/*
 * Nothing that it wrote into its window at the start is read back: geometry, incarnation, how far
 * it has read.
 */
TEST(an_owner_does_not_believe_its_window)
{
	unsigned cluster, slot = 0;
	uint32_t event, life;

	two_clusters_up();
	notify_0(1, 5);
	memset(area[0] + sizeof(uint32_t) * 5, 0xee, sizeof(struct window) - sizeof(uint32_t) * 5);
	ring_of_1_at_0()->tail = 77;
	expect(hal_noc_poll(&cluster, &life, &event) && cluster == 1 && event == 5);
	ring_of_1_at_0()->tail = ring_of_1_at_0()->head;
	notify_0(1, 6);
	expect(hal_noc_poll(&cluster, &life, &event) && cluster == 1 && event == 6);
	for (slot = 0; hal_noc_slot_bytes(slot) != 0; slot++)
		expect((const char *)hal_noc_slot(slot) + hal_noc_slot_bytes(slot) <= area[0] +
			record.noc_window_bytes);
	expect_eq(slot, 10);
}

TEST(a_state_that_does_not_exist_is_no_life_and_can_become_dead)
{
	two_clusters_up();
	((struct window *)(void *)area[1])->state = 77;
	expect(!hal_noc_alive(1) && !hal_noc_is_dead(1));
	hal_noc_mark_dead(1);
	expect(hal_noc_is_dead(1));
	expect_eq(hal_noc_deaths(), 1);
}

TEST(console_counters_that_cannot_be_give_no_text)
{
	struct window_geometry g;
	struct window_ring *r;
	char back[64];

	two_clusters_up();
	window_geometry_init(&g, &record, 0);
	r = (struct window_ring *)(void *)(area[1] + g.console_at);
	for (uint32_t spoilt = WINDOW_CONSOLE_BYTES + 1; spoilt != 0;
		spoilt = spoilt * 2 & 0xffffffff) {
		r->head = r->tail + spoilt;
		expect_eq(hal_noc_console_ready(1), -E_INVAL);
		expect_eq(hal_noc_console_ready(1), 0);
		r->head = r->tail + spoilt;
		expect_eq(hal_noc_console_read(1, back, sizeof(back)), 0);
	}
	here = 1;
	expect_eq(hal_noc_console_write("again\n", 6), 0);
	here = 0;
	expect_eq(hal_noc_console_ready(1), 6);
	expect_eq(hal_noc_console_read(1, back, sizeof(back)), 6);
}

/* Home cores that run users may be in a user thread when something comes for them. */
TEST(a_home_core_that_runs_users_is_interrupted_and_no_other)
{
	two_clusters_up();
	record.roles[1] = ROLE_TC;
	here = 1;
	hal_noc_init(&record);
	here = 0;
	expect_eq(hal_noc_notify(1, 5), 0);
	expect(interrupts[1] == 1 && rings[1] == 0);
	expect_eq(hal_noc_notify(0, 5), 0);
	expect(interrupts[0] == 0 && rings[0] == 1);
	here = 1;
	hal_noc_home_runs_users(false);
	here = 0;
	expect_eq(hal_noc_notify(1, 5), 0);
	expect(interrupts[1] == 1 && rings[1] == 1);
	here = 1;
	hal_noc_home_runs_users(true);
	here = 0;
	hal_noc_mark_dead(1);
	expect(interrupts[1] == 2 && interrupts[0] == 0);
}

TEST(doorbells_are_inside_the_head_and_a_line_apart)
{
	two_clusters_up();
	for (unsigned i = 0; i < 3; i++)
		expect((char *)hal_noc_doorbell(1, i) == area[1] + 128 + 64 * i);
}

static int
print_size(char **argument)
{
	machine((uint32_t)atoi(argument[0]), (uint32_t)atoi(argument[1]),
		(uint32_t)atoi(argument[2]), (uint32_t)atoi(argument[3]),
		(uint32_t)atoi(argument[4]));
	printf("%zu\n", noc_window_bytes(&record));
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc == 6)
		return print_size(argv + 1);
	RUN(window_size_follows_the_documented_formula);
	RUN(slots_do_not_overlap_and_end_inside_the_window);
	RUN(ports_that_share_a_connector_have_credits);
	RUN(portal_ports_share_slots);
	RUN(put_user_joins_a_head_and_user_memory);
	RUN(put_reaches_the_peer_and_checks_owner_incarnation_and_length);
	RUN(events_arrive_in_order_once_and_a_full_ring_says_again);
	RUN(peers_are_served_in_turn);
	RUN(a_restarted_cluster_gets_nothing_from_its_earlier_life);
	RUN(console_bytes_wrap_and_are_whole_or_refused);
	RUN(an_event_that_was_not_counted_hides_nobody_elses);
	RUN(a_ring_that_cannot_be_is_dropped_at_once_and_said);
	RUN(an_owner_does_not_believe_its_window);
	RUN(a_state_that_does_not_exist_is_no_life_and_can_become_dead);
	RUN(console_counters_that_cannot_be_give_no_text);
	RUN(a_home_core_that_runs_users_is_interrupted_and_no_other);
	RUN(doorbells_are_inside_the_head_and_a_line_apart);
	return TEST_FAILED;
}
