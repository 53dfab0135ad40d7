/* SPDX-License-Identifier: MIT
 *
 * Unit tests of the end of mailboxes: ports that are closed, processes that end, clusters that die.
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
#include <kernel/ikc/mailbox_test.h>

TEST(a_closed_port_breaks_the_mailboxes_that_knew_it)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0);
	int in, out, fresh;

	fake_all_up();
	in = input(r, 5);
	out = output(s, 0, 5);
	write_to(s, out, 1);
	read_any(r, in);
	call(r, fake_close(r, in));
	fake_bind(s, EVENT_ROOM, 0, 0);
	expect_eq(write_to(s, out, 2), 0);
	expect_eq(fake_of(s)->wakeups, 1);
	expect_eq(write_to(s, out, 3), -E_PIPE);
	expect_eq(wait_on(s, out), -E_PIPE);
	fresh = output(s, 0, 5);
	expect(fresh != out);
	expect_eq(write_to(s, fresh, 4), 0);
	in = input(r, 5);
	expect_eq(read_any(r, in), 1);
	expect(is_text(4));
	expect_eq(write_to(s, out, 5), -E_PIPE);
}

TEST(a_port_created_again_does_not_get_messages_for_its_past_life)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0);
	int in, out;

	fake_all_up();
	in = input(r, 5);
	out = output(s, 0, 5);
	write_to(s, out, 1);
	read_any(r, in);
	call(r, fake_close(r, in));
	in = input(r, 5);
	expect_eq(write_to(s, out, 2), 0);
	expect_eq(read_any(r, in), -E_AGAIN);
	expect_eq(write_to(s, out, 3), -E_PIPE);
}

TEST(the_end_of_a_receiver_refuses_what_it_did_not_read)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0), *s2 = thr(1, 1);
	int in, out;

	fake_all_up();
	in = input(r, 5);
	out = output(s, 0, 5);
	write_to(s, out, 1);
	fake_bind(s, EVENT_ROOM, 0, 0);
	expect_eq(wait_on(s2, out), -E_PARK);
	expect_eq(wait_on(r, in), 0);
	fake_process_ends(0, 0);
	pump();
	expect_eq(fake_result(s2), -E_PIPE);
	expect_eq(fake_of(s)->wakeups, 1);
	expect_eq(wait_on(s, out), -E_PIPE);
	expect_eq(ikc_ends(&fake[0]->c.ikc, CLASS_MAILBOX), 0);
	fake_process_starts(0, 0);
	expect(input(thr(0, 0), 5) >= 0);
}

TEST(the_end_of_a_process_leaves_no_waiter_behind)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0), *s2 = thr(1, 4);
	int in, out, out2;

	fake_all_up();
	in = input(r, 5);
	out = output(s, 0, 5);
	out2 = output(s2, 0, 5);
	write_to(s, out, 1);
	expect_eq(wait_on(s, out), -E_PARK);
	expect_eq(wait_on(s2, out2), -E_PARK);
	fake_process_ends(1, 0);
	read_any(r, in);
	expect_eq(fake_result(s2), 0);
	expect_eq(write_to(s2, out2, 2), 0);
	expect_eq(ikc_ends(&fake[1]->c.ikc, CLASS_MAILBOX), 1);
}

TEST(closing_wakes_who_waits_for_it)
{
	struct thread *r = thr(0, 0), *r2 = thr(0, 1), *s = thr(1, 0), *s2 = thr(1, 1);
	int in, out;

	fake_all_up();
	in = input(r, 5);
	out = output(s, 0, 5);
	expect_eq(wait_on(r2, in), -E_PARK);
	expect_eq(call(r, fake_close(r, in)), 0);
	pump();
	expect_eq(fake_result(r2), -E_BADF);
	write_to(s, out, 1);
	expect_eq(wait_on(s2, out), -E_PARK);
	expect_eq(call(s, fake_close(s, out)), 0);
	pump();
	expect_eq(fake_result(s2), -E_BADF);
}

TEST(a_cluster_that_is_not_up_yet_is_waited_for)
{
	struct thread *s = thr(1, 0), *s2 = thr(1, 1), *r = thr(0, 0);
	int in, out;

	fake_machine();
	fake_boot(1);
	out = output(s, 0, 5);
	fake_bind(s2, EVENT_ROOM, 0, 0);
	expect_eq(write_to(s, out, 1), -E_AGAIN);
	expect_eq(wait_on(s, out), -E_PARK);
	expect_eq(write_to(s2, out, 1), -E_AGAIN);
	fake_boot(0);
	pump();
	expect_eq(fake_result(s), 0);
	expect_eq(write_to(s, out, 1), 0);
	in = input(r, 5);
	expect_eq(read_any(r, in), 1);
	expect_eq(fake_of(s2)->wakeups, 1);
}

/* test: cluster_watch */
TEST(a_death_ends_every_wait_for_the_dead)
{
	struct thread *s = thr(1, 0), *w = thr(1, 1), *r = thr(1, 2);
	int in, out;

	fake_all_up();
	in = input(r, 3);
	out = output(s, 0, 5);
	write_to(s, out, 1);
	expect_eq(wait_on(s, out), -E_PARK);
	fake_bind(w, EVENT_MAILBOX, in, 0);
	expect_eq(call(r, kc_mailbox_wait(r, in, 0)), -E_PARK);
	expect_eq(wait_on(thr(1, 3), in), -E_PARK);
	expect_eq(call(w, kc_cluster_watch(w, 0)), -E_PARK);
	fake_kill(0, true);
	pump();
	expect_eq(fake_result(s), -E_HOSTDOWN);
	expect_eq(fake_result(w), -E_HOSTDOWN);
	expect_eq(fake_result(r), -E_HOSTDOWN);
	expect_eq(call(r, kc_mailbox_wait(r, in, 0)), -E_HOSTDOWN);
	expect(fake_is_parked(thr(1, 3)));
	expect_eq(fake_of(w)->wakeups, 1);
	expect_eq(fake[1]->events[0].clusters_dead, 1);
	expect_eq(fake[1]->events[1].clusters_dead, 1);
	expect_eq(fake[2]->events[0].clusters_dead, 1);
	expect_eq(write_to(s, out, 1), -E_HOSTDOWN);
	expect_eq(wait_on(s, out), -E_HOSTDOWN);
	expect_eq(call(w, kc_cluster_watch(w, 0)), -E_HOSTDOWN);
	expect_eq(call(w, kc_cluster_watch(w, 1)), -E_INVAL);
	expect_eq(call(w, kc_cluster_watch(w, -1)), -E_INVAL);
	expect_eq(call(w, kc_cluster_watch(w, FAKE_CLUSTERS)), -E_INVAL);
}

TEST(what_the_dead_had_sent_can_still_be_read)
{
	struct thread *r = thr(1, 0);
	int in, out;

	fake_all_up();
	in = input(r, 5);
	out = output(thr(0, 0), 1, 5);
	write_to(thr(0, 0), out, 1);
	fake_kill(0, true);
	pump();
	expect_eq(read_any(r, in), 0);
	expect_eq(read_any(r, in), -E_AGAIN);
}

TEST(a_restarted_cluster_is_a_stranger)
{
	struct thread *s = thr(1, 0), *r = thr(1, 1);
	int in, out, out0, in0;

	fake_all_up();
	in = input(r, 5);
	out = output(s, 0, 5);
	in0 = input(thr(0, 0), 5);
	out0 = output(thr(0, 0), 1, 5);
	write_to(thr(0, 0), out0, 1);
	write_to(s, out, 2);
	fake_kill(0, false);
	expect_eq(wait_on(s, out), -E_PARK);
	fake_boot(0);
	expect_eq(read_any(r, in), -E_AGAIN);
	pump();
	expect_eq(fake_result(s), -E_CONNRESET);
	expect_eq(write_to(s, out, 3), -E_CONNRESET);
	expect_eq(wait_on(s, out), -E_CONNRESET);
	in0 = input(thr(0, 0), 5);
	expect_eq(read_any(thr(0, 0), in0), -E_AGAIN);
	out = output(s, 0, 5);
	expect_eq(write_to(s, out, 4), 0);
	expect_eq(read_any(thr(0, 0), in0), 1);
	expect(is_text(4));
	out0 = output(thr(0, 0), 1, 5);
	expect_eq(write_to(thr(0, 0), out0, 5), 0);
	expect_eq(read_any(r, in), 0);
	expect(is_text(5));
}

static uint32_t
silence_of(int cluster)
{
	struct cluster_state s;

	expect_eq(call(thr(1, 3), kc_cluster_state(thr(1, 3), cluster, &s)), 0);
	expect_eq(s.state, CLUSTER_UP);
	return s.silent;
}

TEST(a_silent_cluster_is_reported_and_no_more)
{
	struct thread *w = thr(1, 1), *told = thr(1, 2);

	fake_machine();
	fake_record.heartbeat_ms = 10;
	for (unsigned i = 0; i < FAKE_CLUSTERS; i++)
		fake_boot(i);
	pump();
	expect_eq(call(w, kc_cluster_watch(w, 0)), -E_PARK);
	expect_eq(fake_bind(told, EVENT_CLUSTER, 0, 3), 0);
	for (int beat = 0; beat < 50; beat++) {
		fake_now += 10000000;
		pump();
	}
	fake_now += 3600000000000;	/* a host that stood still for an hour */
	pump();
	expect(fake_is_parked(w));
	expect_eq(fake_messages, 0);
	fake_kill(0, false);
	for (int beat = 0; beat < 9; beat++) {
		fake_now += 10000000;
		pump();
	}
	expect_eq(silence_of(0), 9);
	expect_eq(fake_messages, 0);
	fake_now += 10000000;
	pump();
	expect_eq(fake_messages, 1);	/* of several that miss it, one speaks */
	expect_eq(fake_thread[1][2].wakeups, 1);
	for (int beat = 0; beat < 1000; beat++) {
		fake_now += 10000000;
		pump();
	}
	expect(fake_is_parked(w));	/* silence is not death, however long */
	expect(hal_noc_alive(0));
	expect_eq(fake_messages, 1);
	here = 0;
	hal_noc_heartbeat();
	fake_now += 10000000;
	pump();
	expect_eq(silence_of(0), 0);
	expect_eq(fake_messages, 2);
	expect_eq(fake_thread[1][2].wakeups, 2);
}

int
main(void)
{
	fake_machine();
	RUN(a_closed_port_breaks_the_mailboxes_that_knew_it);
	RUN(a_port_created_again_does_not_get_messages_for_its_past_life);
	RUN(the_end_of_a_receiver_refuses_what_it_did_not_read);
	RUN(the_end_of_a_process_leaves_no_waiter_behind);
	RUN(closing_wakes_who_waits_for_it);
	RUN(a_cluster_that_is_not_up_yet_is_waited_for);
	RUN(a_death_ends_every_wait_for_the_dead);
	RUN(what_the_dead_had_sent_can_still_be_read);
	RUN(a_restarted_cluster_is_a_stranger);
	RUN(a_silent_cluster_is_reported_and_no_more);
	fake_end();
	return TEST_FAILED;
}
