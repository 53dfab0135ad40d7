/* SPDX-License-Identifier: MIT
 *
 * Sync points of four clusters: rounds, signals that come early, ends that are closed, clusters
 * that die and restart.
 */
/*
 * needs: kernel/ikc/ikc.c kernel/ikc/endpoint.c kernel/ikc/wait.c kernel/ikc/peer.c
 * kernel/ikc/restart.c kernel/ikc/watch.c kernel/ikc/sync.c kernel/ikc/sync_event.c
 * kernel/ikc/channel.c kernel/ikc/mailbox.c kernel/ikc/mail_in.c kernel/ikc/mail_out.c
 * kernel/ikc/mail_credit.c kernel/ikc/stats.c kernel/ikc/portal.c kernel/ikc/portal_event.c
 * kernel/ikc/portal_turn.c kernel/ikc/portal_move.c hal/noc/shm/noc.c hal/noc/shm/events.c
 * hal/noc/shm/window.c base/bitmap.c kernel/object/handle.c kernel/object/quota.c
 * kernel/object/slab.c kernel/mem/frame.c */
/* cpu: coroutine */
/* test: sync_create sync_open sync_signal sync_wait */
#include <kernel/ikc/fake.h>

#define TO_ALL SYNC_ONE_TO_ALL
#define TO_ONE SYNC_ALL_TO_ONE

static const uint8_t all[] = {0, 1, 2, 3};

static int
create(unsigned cluster, int mode, int port)
{
	struct thread *t = thr(cluster, 0);

	return (int)call(t, kc_sync_create(t, mode, port, all, sizeof(all)));
}

static int
open_end(unsigned cluster, int mode, int port)
{
	struct thread *t = thr(cluster, 0);

	return (int)call(t, kc_sync_open(t, mode, port, all, sizeof(all)));
}

static long
give(unsigned cluster, int sync)
{
	struct thread *t = thr(cluster, 0);

	return call(t, kc_sync_signal(t, sync));
}

/* The wait of thread `index`: its result, or -E_PARK. */
static long
wait_in(unsigned cluster, int index, int sync)
{
	struct thread *t = thr(cluster, index);

	return call(t, kc_sync_wait(t, sync));
}

static long
try(unsigned cluster, int sync)
{
	long result = wait_in(cluster, 0, sync);

	if (result != -E_PARK)
		return result;
	fake_late(thr(cluster, 0));
	pump();
	return fake_result(thr(cluster, 0));
}

static void
close_end(unsigned cluster, int sync)
{
	struct thread *t = thr(cluster, 0);

	expect_eq(call(t, fake_close(t, sync)), 0);
}

/* Ends of one sync point in all clusters: `end`[cluster]. */
static void
all_open(int mode, int port, int *end)
{
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++) {
		bool waits = (c == 0) == (mode == TO_ONE);

		end[c] = waits ? create(c, mode, port) : open_end(c, mode, port);
		expect(end[c] > 0);
	}
}

TEST(the_one_waits_for_all)
{
	int end[FAKE_CLUSTERS];

	fake_all_up();
	all_open(TO_ONE, 0, end);
	for (int round = 0; round < 3; round++) {
		expect_eq(wait_in(0, 0, end[0]), -E_PARK);
		for (unsigned c = 1; c < FAKE_CLUSTERS; c++) {
			pump();
			expect(fake_is_parked(thr(0, 0)));
			expect_eq(give(c, end[c]), 0);
		}
		pump();
		expect_eq(fake_result(thr(0, 0)), 0);
	}
}

TEST(all_wait_for_the_one)
{
	int end[FAKE_CLUSTERS];

	fake_all_up();
	all_open(TO_ALL, 7, end);
	for (int round = 0; round < 3; round++) {
		for (unsigned c = 1; c < FAKE_CLUSTERS; c++)
			expect_eq(wait_in(c, 0, end[c]), -E_PARK);
		expect_eq(give(0, end[0]), 0);
		pump();
		for (unsigned c = 1; c < FAKE_CLUSTERS; c++)
			expect_eq(fake_result(thr(c, 0)), 0);
	}
}

TEST(signals_wait_for_the_waiting_end_to_be_made)
{
	int out[FAKE_CLUSTERS], in;

	fake_all_up();
	for (unsigned c = 1; c < FAKE_CLUSTERS; c++) {
		out[c] = open_end(c, TO_ONE, 1);
		expect_eq(give(c, out[c]), 0);
		pump();
		expect_eq(give(c, out[c]), -E_AGAIN);
	}
	in = create(0, TO_ONE, 1);
	expect_eq(try(0, in), 0);
	expect_eq(try(0, in), -E_TIMEDOUT);
	for (unsigned c = 1; c < FAKE_CLUSTERS; c++)
		expect_eq(give(c, out[c]), 0);
	pump();
	expect_eq(try(0, in), 0);
}

TEST(a_signal_of_the_next_round_counts_there_only)
{
	int end[FAKE_CLUSTERS];

	fake_all_up();
	all_open(TO_ONE, 2, end);
	expect_eq(give(1, end[1]), 0);
	expect_eq(give(2, end[2]), 0);
	pump();
	expect_eq(give(1, end[1]), -E_AGAIN);
	expect_eq(try(0, end[0]), -E_TIMEDOUT);
	expect_eq(wait_in(1, 0, end[1]), -E_PARK);
	expect_eq(give(3, end[3]), 0);
	pump();
	expect_eq(try(0, end[0]), 0);
	pump();
	expect_eq(fake_result(thr(1, 0)), 0);
	expect_eq(give(1, end[1]), 0);
	expect_eq(give(1, end[1]), -E_AGAIN);
	pump();
	expect_eq(try(0, end[0]), -E_TIMEDOUT);
	expect_eq(give(2, end[2]), 0);
	expect_eq(give(3, end[3]), 0);
	pump();
	expect_eq(try(0, end[0]), 0);
}

/* The ONE may signal again when all have taken. */
TEST(no_cluster_is_signalled_unless_all_can_be)
{
	int end[FAKE_CLUSTERS];

	fake_all_up();
	all_open(TO_ALL, 0, end);
	expect_eq(give(0, end[0]), 0);
	pump();
	for (unsigned c = 1; c < FAKE_CLUSTERS; c++) {
		expect_eq(give(0, end[0]), -E_AGAIN);
		expect_eq(try(c, end[c]), 0);
		pump();
		expect_eq(try(c, end[c]), -E_TIMEDOUT);
	}
	expect_eq(give(0, end[0]), 0);
}

TEST(lists_are_checked)
{
	static const struct { uint8_t cluster[5], count; bool to_all_in, to_one_in; } lists[] = {
		{{0, 1}, 2, false, true}, {{1, 0}, 2, true, false}, {{3, 2, 0}, 3, true, false},
		{{0}, 1, false, false}, {{0}, 0, false, false}, {{0, 0}, 2, false, false},
		{{0, 1, 1}, 3, false, false}, {{1, 0, 1}, 3, false, false},
		{{1, 2}, 2, false, false}, {{0, 4}, 2, false, false},
		{{0, 255}, 2, false, false}, {{0, 1, 2, 3, 0}, 5, false, false},
	};
	struct thread *t = thr(0, 0);

	fake_all_up();
	for (unsigned i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const uint8_t *list = lists[i].cluster;
		uint32_t n = lists[i].count;
		bool in[2] = {lists[i].to_all_in, lists[i].to_one_in};

		for (int mode = TO_ALL; mode <= TO_ONE; mode++) {
			long created = call(t, kc_sync_create(t, mode, 0, list, n)), opened;

			if (created > 0)
				fake_close(t, (int)created);
			opened = call(t, kc_sync_open(t, mode, 0, list, n));
			if (opened > 0)
				fake_close(t, (int)opened);
			expect_eq(created > 0 ? 0 : created, in[mode] ? 0 : -E_INVAL);
			expect_eq(opened > 0 ? 0 : opened, in[!mode] ? 0 : -E_INVAL);
		}
	}
	expect_eq(call(t, kc_sync_create(t, 2, 0, all, 4)), -E_INVAL);
	expect_eq(call(t, kc_sync_create(t, -1, 0, all, 4)), -E_INVAL);
	expect_eq(call(t, kc_sync_open(t, TO_ALL, SYNC_PORTS, all, 4)), -E_INVAL);
	expect_eq(call(t, kc_sync_open(t, TO_ALL, -1, all, 4)), -E_INVAL);
	expect_eq(ikc_ends(&fake[0]->c.ikc, CLASS_SYNC), 0);
}

TEST(a_cluster_has_one_end_of_a_point)
{
	int in, out;

	fake_all_up();
	in = create(0, TO_ONE, 3);
	expect_eq(create(0, TO_ONE, 3), -E_BUSY);
	expect_eq(open_end(0, TO_ALL, 3), -E_BUSY);
	out = open_end(0, TO_ALL, 4);
	expect(in > 0 && out > 0);
	expect_eq(ikc_ends(&fake[0]->c.ikc, CLASS_SYNC), 2);
	close_end(0, in);
	expect(open_end(0, TO_ALL, 3) > 0);
}

TEST(what_ends_cannot_do)
{
	int end[FAKE_CLUSTERS];
	struct thread *t = thr(0, 0);

	fake_all_up();
	all_open(TO_ONE, 0, end);
	expect_eq(give(0, end[0]), -E_BADF);
	expect_eq(give(0, 0), -E_BADF);
	expect_eq(try(0, 12345), -E_BADF);
	expect_eq(try(1, end[1]), 0);
	expect_eq(call(t, kc_mailbox_wait(t, end[0], ANY_SOURCE_CLUSTER)), -E_BADF);
	expect_eq(wait_in(0, 0, end[0]), -E_PARK);
}

TEST(a_round_ends_the_wait_of_the_oldest)
{
	int end[FAKE_CLUSTERS];

	fake_all_up();
	all_open(TO_ONE, 0, end);
	for (int i = 0; i < 3; i++)
		expect_eq(wait_in(0, i, end[0]), -E_PARK);
	for (int i = 0; i < 3; i++) {
		expect(fake_is_parked(thr(0, i)));
		for (unsigned c = 1; c < FAKE_CLUSTERS; c++)
			expect_eq(give(c, end[c]), 0);
		pump();
		expect_eq(fake_result(thr(0, i)), 0);
	}
	for (int i = 0; i < 3; i++)
		expect_eq(wait_in(0, i, end[0]), -E_PARK);
	fake_kill(3, true);
	pump();
	for (int i = 0; i < 3; i++)
		expect_eq(fake_result(thr(0, i)), -E_HOSTDOWN);
}

TEST(points_with_different_ports_are_apart)
{
	int a[FAKE_CLUSTERS], b[FAKE_CLUSTERS];

	fake_all_up();
	all_open(TO_ONE, 0, a);
	all_open(TO_ONE, 1, b);
	for (unsigned c = 1; c < FAKE_CLUSTERS; c++)
		expect_eq(give(c, b[c]), 0);
	pump();
	expect_eq(try(0, a[0]), -E_TIMEDOUT);
	expect_eq(try(0, b[0]), 0);
}

TEST(a_closed_end_says_so_to_those_who_signal)
{
	int end[FAKE_CLUSTERS], again;

	fake_all_up();
	all_open(TO_ONE, 0, end);
	for (unsigned c = 1; c < FAKE_CLUSTERS; c++)
		expect_eq(give(c, end[c]), 0);
	pump();
	expect_eq(try(0, end[0]), 0);
	pump();
	expect_eq(give(1, end[1]), 0);
	pump();
	close_end(0, end[0]);		/* a signal of 1 is pending */
	pump();
	expect_eq(give(1, end[1]), -E_PIPE);
	expect_eq(try(1, end[1]), -E_PIPE);
	again = create(0, TO_ONE, 0);
	expect_eq(give(2, end[2]), 0);
	pump();
	expect_eq(give(2, end[2]), -E_PIPE);
	for (unsigned c = 1; c < FAKE_CLUSTERS; c++) {
		close_end(c, end[c]);
		end[c] = open_end(c, TO_ONE, 0);
		expect_eq(try(0, again), -E_TIMEDOUT);
		expect_eq(give(c, end[c]), 0);
		pump();
	}
	expect_eq(try(0, again), 0);
}

/* What an end has signalled arrives when it is closed; the answer is for nobody else. */
TEST(the_signal_of_a_closed_end_arrives)
{
	int end[FAKE_CLUSTERS];

	fake_all_up();
	all_open(TO_ONE, 5, end);
	for (unsigned c = 1; c < FAKE_CLUSTERS; c++)
		expect_eq(give(c, end[c]), 0);
	close_end(1, end[1]);
	end[1] = open_end(1, TO_ONE, 5);
	expect_eq(give(1, end[1]), -E_AGAIN);
	pump();
	expect_eq(try(0, end[0]), 0);
	pump();
	expect_eq(fake[1]->c.ikc.sync[0].generation[5 + SYNC_PORTS], 0);
	expect(fake[2]->c.ikc.sync[0].generation[5 + SYNC_PORTS] != 0);
	expect_eq(give(1, end[1]), 0);
	pump();
	close_end(0, end[0]);
	pump();
	expect_eq(try(1, end[1]), -E_PIPE);
}

TEST(a_cluster_that_is_not_in_the_list_is_refused)
{
	static const uint8_t few[] = {0, 1};
	struct thread *t = thr(0, 0);
	int early, late, in;

	fake_all_up();
	early = open_end(2, TO_ONE, 0);
	expect_eq(give(2, early), 0);
	pump();
	in = (int)call(t, kc_sync_create(t, TO_ONE, 0, few, sizeof(few)));
	late = open_end(3, TO_ONE, 0);
	expect_eq(give(3, late), 0);
	pump();
	expect_eq(give(2, early), -E_PIPE);
	expect_eq(give(3, late), -E_PIPE);
	expect_eq(try(0, in), -E_TIMEDOUT);
}

TEST(an_end_that_signals_too_is_no_end_to_signal)
{
	int one, other;

	fake_all_up();
	one = open_end(0, TO_ALL, 0);
	other = open_end(1, TO_ONE, 0);
	expect_eq(give(1, other), 0);
	expect_eq(give(0, one), 0);
	pump();
	expect_eq(give(1, other), -E_PIPE);
	expect_eq(give(0, one), -E_PIPE);
}

TEST(the_death_of_a_partner_ends_waits)
{
	int to_one[FAKE_CLUSTERS], to_all[FAKE_CLUSTERS];

	fake_all_up();
	all_open(TO_ONE, 0, to_one);
	all_open(TO_ALL, 1, to_all);
	expect_eq(wait_in(0, 0, to_one[0]), -E_PARK);
	expect_eq(wait_in(1, 0, to_all[1]), -E_PARK);
	fake_kill(2, true);
	pump();
	expect_eq(fake_result(thr(0, 0)), -E_HOSTDOWN);
	expect_eq(try(0, to_one[0]), -E_HOSTDOWN);
	expect_eq(give(0, to_all[0]), -E_HOSTDOWN);
	expect(fake_is_parked(thr(1, 0)));
	fake_kill(0, true);
	pump();
	expect_eq(fake_result(thr(1, 0)), -E_HOSTDOWN);
	expect_eq(give(3, to_one[3]), -E_HOSTDOWN);
	expect_eq(try(3, to_one[3]), -E_HOSTDOWN);
}

TEST(a_complete_round_outlives_the_death_of_a_partner)
{
	int end[FAKE_CLUSTERS];

	fake_all_up();
	all_open(TO_ONE, 0, end);
	for (unsigned c = 1; c < FAKE_CLUSTERS; c++)
		expect_eq(give(c, end[c]), 0);
	pump();
	fake_kill(1, true);
	pump();
	expect_eq(try(0, end[0]), 0);
	expect_eq(try(0, end[0]), -E_HOSTDOWN);
}

TEST(a_restarted_partner_is_another_one)
{
	int end[FAKE_CLUSTERS];

	fake_all_up();
	all_open(TO_ONE, 0, end);
	expect_eq(give(1, end[1]), 0);
	pump();
	expect_eq(wait_in(0, 0, end[0]), -E_PARK);
	fake_kill(1, false);
	fake_boot(1);
	pump();
	expect_eq(fake_result(thr(0, 0)), -E_CONNRESET);
	close_end(0, end[0]);
	end[0] = create(0, TO_ONE, 0);
	for (unsigned c = 2; c < FAKE_CLUSTERS; c++) {
		close_end(c, end[c]);
		end[c] = open_end(c, TO_ONE, 0);
		expect_eq(give(c, end[c]), 0);
	}
	pump();
	expect_eq(try(0, end[0]), -E_TIMEDOUT);
	end[1] = open_end(1, TO_ONE, 0);
	expect_eq(give(1, end[1]), 0);
	pump();
	expect_eq(try(0, end[0]), 0);
}

TEST(a_restarted_one_is_another_one)
{
	int end[FAKE_CLUSTERS];

	fake_all_up();
	all_open(TO_ALL, 0, end);
	expect_eq(give(0, end[0]), 0);
	expect_eq(wait_in(1, 0, end[1]), -E_PARK);
	fake_kill(0, true);
	fake_boot(0);
	pump();
	expect_eq(fake_result(thr(1, 0)), -E_CONNRESET);
	expect_eq(try(2, end[2]), -E_CONNRESET);
}

/* Who is dead when an end is made is met in its next life. */
TEST(an_end_waits_for_a_dead_partner_to_come_back)
{
	int in, out;

	fake_all_up();
	fake_kill(1, true);
	pump();
	in = create(0, TO_ONE, 0);
	expect_eq(try(0, in), -E_HOSTDOWN);
	for (unsigned c = 2; c < FAKE_CLUSTERS; c++) {
		out = open_end(c, TO_ONE, 0);
		expect_eq(give(c, out), 0);
	}
	fake_boot(1);
	pump();
	expect_eq(wait_in(0, 0, in), -E_PARK);
	out = open_end(1, TO_ONE, 0);
	expect_eq(give(1, out), 0);
	pump();
	expect_eq(fake_result(thr(0, 0)), 0);
}

/* Clusters come up in any order: a signal to one that is not there yet waits for it. */
TEST(ends_may_be_older_than_their_partners)
{
	int out, in;

	fake_machine();
	fake_boot(0);
	out = open_end(0, TO_ALL, 0);
	expect_eq(give(0, out), -E_AGAIN);
	expect_eq(wait_in(0, 0, out), -E_PARK);
	for (unsigned c = 1; c < FAKE_CLUSTERS; c++) {
		fake_boot(c);
		pump();
		expect_eq(fake_is_parked(thr(0, 0)), c + 1 < FAKE_CLUSTERS);
	}
	expect_eq(fake_result(thr(0, 0)), 0);
	expect_eq(give(0, out), 0);
	pump();
	in = create(2, TO_ALL, 0);
	expect_eq(try(2, in), 0);
}

TEST(events_tell_of_rounds_and_of_room)
{
	int end[FAKE_CLUSTERS];

	fake_all_up();
	all_open(TO_ONE, 0, end);
	expect_eq(fake_bind(thr(0, 0), EVENT_SYNC, end[0], 3), 0);
	expect_eq(thr(0, 0)->bits, 0);
	expect_eq(fake_bind(thr(1, 0), EVENT_SYNC, end[1], 4), 0);
	expect_eq(thr(1, 0)->bits, 16);
	thr(1, 0)->bits = 0;
	for (unsigned c = 1; c < FAKE_CLUSTERS; c++) {
		expect_eq(thr(0, 0)->bits, 0);
		expect_eq(give(c, end[c]), 0);
		pump();
	}
	expect_eq(thr(0, 0)->bits, 8);
	expect_eq(thr(1, 0)->bits, 0);
	thr(0, 0)->bits = 0;
	expect_eq(try(0, end[0]), 0);
	pump();
	expect_eq(thr(0, 0)->bits, 0);
	expect_eq(thr(1, 0)->bits, 16);
	fake_kill(3, true);
	pump();
	expect_eq(thr(0, 0)->bits, 8);
	expect_eq(fake_bind(thr(0, 0), EVENT_SYNC, 77, 3), -E_BADF);
}

TEST(a_wait_ends_with_its_handle)
{
	int end[FAKE_CLUSTERS], copy;

	fake_all_up();
	all_open(TO_ONE, 0, end);
	copy = fake_give(thr(0, 0), end[0], thr(0, FAKE_THREADS / 2), RIGHT_WAIT | HANDLE_VIEW);
	expect_eq(wait_in(0, FAKE_THREADS / 2, copy), -E_PARK);
	close_end(0, end[0]);
	pump();
	expect(fake_is_parked(thr(0, FAKE_THREADS / 2)));
	expect_eq(ikc_ends(&fake[0]->c.ikc, CLASS_SYNC), 1);
	here = 0;
	fake_close(thr(0, FAKE_THREADS / 2), copy);
	pump();
	expect_eq(fake_result(thr(0, FAKE_THREADS / 2)), -E_BADF);
	expect_eq(ikc_ends(&fake[0]->c.ikc, CLASS_SYNC), 0);
}

TEST(rights_are_looked_at)
{
	struct thread *to = thr(1, FAKE_THREADS / 2);
	int end[FAKE_CLUSTERS], signal, waits;

	fake_all_up();
	all_open(TO_ONE, 0, end);
	signal = fake_give(thr(1, 0), end[1], to, RIGHT_SIGNAL);
	waits = fake_give(thr(1, 0), end[1], to, RIGHT_WAIT);
	expect_eq(call(to, kc_sync_signal(to, waits)), -E_ACCES);
	expect_eq(call(to, kc_sync_signal(to, signal)), 0);
	expect_eq(call(to, kc_sync_wait(to, signal)), -E_ACCES);
	expect_eq(fake_bind(to, EVENT_SYNC, signal, 0), -E_ACCES);
}

TEST(the_end_of_a_process_closes_its_ends)
{
	int end[FAKE_CLUSTERS];
	size_t charged;

	fake_all_up();
	charged = fake_charged(1, 0);
	all_open(TO_ONE, 0, end);
	expect(fake_charged(1, 0) > charged);
	expect_eq(wait_in(0, 0, end[0]), -E_PARK);
	expect_eq(give(1, end[1]), 0);
	pump();
	fake_process_ends(0, 0);
	pump();
	expect_eq(give(1, end[1]), -E_PIPE);
	close_end(1, end[1]);
	fake_process_starts(0, 0);
	end[0] = create(0, TO_ONE, 0);
	expect_eq(try(0, end[0]), -E_TIMEDOUT);
	expect_eq(ikc_ends(&fake[0]->c.ikc, CLASS_SYNC), 1);
	expect_eq(ikc_ends(&fake[1]->c.ikc, CLASS_SYNC), 0);
}

/* No event that a peer may send does more than cost its own signals. */
TEST(answers_and_signals_that_do_not_belong_change_nothing)
{
	int end[FAKE_CLUSTERS];

	fake_all_up();
	all_open(TO_ONE, 0, end);
	here = 1;
	for (int n = 0; n < 5; n++)
		hal_noc_notify(0, wire_event(WIRE_SYNC, 0, WIRE_SYNC_SIGNAL << WIRE_SYNC_WHAT));
	hal_noc_notify(0, wire_event(WIRE_SYNC, 0, WIRE_SYNC_TAKEN << WIRE_SYNC_WHAT));
	hal_noc_notify(0, wire_event(WIRE_SYNC, 0, WIRE_SYNC_REFUSED << WIRE_SYNC_WHAT));
	hal_noc_notify(0, wire_event(WIRE_SYNC, 5,
		WIRE_SYNC_TAKEN << WIRE_SYNC_WHAT | WIRE_SYNC_FROM_ONE));
	pump();
	expect_eq(try(0, end[0]), -E_TIMEDOUT);
	expect_eq(give(2, end[2]), 0);
	expect_eq(give(3, end[3]), 0);
	pump();
	expect_eq(try(0, end[0]), 0);
	expect_eq(try(0, end[0]), -E_TIMEDOUT);
	expect_eq(fake[0]->c.ikc.peer[1].state, PEER_UP);
	here = 1;
	hal_noc_notify(0, wire_event(WIRE_SYNC, SYNC_PORTS, WIRE_SYNC_SIGNAL << WIRE_SYNC_WHAT));
	pump();
	expect_eq(fake[0]->c.ikc.peer[1].state, PEER_DEAD);
}

int
main(void)
{
	fake_machine();
	RUN(the_one_waits_for_all);
	RUN(all_wait_for_the_one);
	RUN(signals_wait_for_the_waiting_end_to_be_made);
	RUN(a_signal_of_the_next_round_counts_there_only);
	RUN(no_cluster_is_signalled_unless_all_can_be);
	RUN(lists_are_checked);
	RUN(a_cluster_has_one_end_of_a_point);
	RUN(what_ends_cannot_do);
	RUN(a_round_ends_the_wait_of_the_oldest);
	RUN(points_with_different_ports_are_apart);
	RUN(a_closed_end_says_so_to_those_who_signal);
	RUN(the_signal_of_a_closed_end_arrives);
	RUN(a_cluster_that_is_not_in_the_list_is_refused);
	RUN(an_end_that_signals_too_is_no_end_to_signal);
	RUN(the_death_of_a_partner_ends_waits);
	RUN(a_complete_round_outlives_the_death_of_a_partner);
	RUN(a_restarted_partner_is_another_one);
	RUN(a_restarted_one_is_another_one);
	RUN(an_end_waits_for_a_dead_partner_to_come_back);
	RUN(ends_may_be_older_than_their_partners);
	RUN(events_tell_of_rounds_and_of_room);
	RUN(a_wait_ends_with_its_handle);
	RUN(rights_are_looked_at);
	RUN(the_end_of_a_process_closes_its_ends);
	RUN(answers_and_signals_that_do_not_belong_change_nothing);
	fake_end();
	return TEST_FAILED;
}
