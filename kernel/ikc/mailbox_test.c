/* SPDX-License-Identifier: MIT
 *
 * Unit tests of mailboxes: four clusters played by one thread.
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

/* test: mailbox_create */
TEST(create_refuses_bad_and_open_ports)
{
	struct thread *t = thr(0, 0), *other = thr(0, 4);

	fake_all_up();
	expect_eq(input(t, -1), -E_INVAL);
	expect_eq(input(t, FAKE_PORTS), -E_INVAL);
	expect(input(t, 3) >= 0);
	expect_eq(input(t, 3), -E_BUSY);
	expect_eq(input(other, 3), -E_BUSY);
	expect_eq(ikc_ends(&fake[0]->c.ikc, CLASS_MAILBOX), 1);
}

/* test: mailbox_open */
TEST(open_refuses_bad_targets_and_makes_a_mailbox_each_time)
{
	struct thread *t = thr(0, 0), *sibling = thr(0, 1), *other = thr(0, 4);
	int id, again;

	fake_all_up();
	expect_eq(output(t, -1, 0), -E_INVAL);
	expect_eq(output(t, FAKE_CLUSTERS, 0), -E_INVAL);
	expect_eq(output(t, 1, FAKE_PORTS), -E_INVAL);
	expect_eq(output(t, 1, -1), -E_INVAL);
	id = output(t, 1, 2);
	again = output(sibling, 1, 2);
	expect(again > 0 && again != id);
	expect(output(other, 1, 2) > 0);
	expect_eq(ikc_ends(&fake[0]->c.ikc, CLASS_MAILBOX), 3);
	expect_eq(call(t, fake_close(t, id)), 0);
	expect_eq(call(t, fake_close(t, id)), -E_BADF);
	expect_eq(write_to(t, id, 0), -E_BADF);
	expect_eq(write_to(t, again, 0), 0);
	expect_eq(call(t, fake_close(t, again)), 0);
	expect_eq(ikc_ends(&fake[0]->c.ikc, CLASS_MAILBOX), 1);
}

/* Until its table or its account is full; the other process has its own. */
TEST(endpoints_run_out_with_an_error)
{
	struct thread *t = thr(0, 0), *other = thr(0, 4);
	long handle = 0;
	int made = 0;

	fake_all_up();
	for (int round = 0; round < 20 && handle >= 0; round++)
		for (int i = 0; i < FAKE_CLUSTERS * FAKE_PORTS * FAKE_PORTS && handle >= 0;
			i++, made++)
			handle = call(t,
				kc_portal_open(t, i % FAKE_CLUSTERS, i / FAKE_CLUSTERS % FAKE_PORTS,
				i / FAKE_CLUSTERS / FAKE_PORTS));
	expect_eq(handle, -E_MFILE);
	expect_eq(made, HANDLES_MAX + 1);
	expect_eq(ikc_ends(&fake[0]->c.ikc, CLASS_PORTAL), FAKE_CLUSTERS * FAKE_PORTS * FAKE_PORTS);
	expect_eq(output(t, 1, 1), -E_MFILE);
	expect_eq(input(t, 1), -E_MFILE);
	expect_eq(call(t, kc_portal_create(t, 1)), -E_MFILE);
	expect_eq(call(other, kc_portal_open(other, 1, 1, 1)), -E_BUSY);
	expect(output(other, 1, 1) >= 0 && input(other, 1) >= 0);
	expect_eq(ikc_ends(&fake[0]->c.ikc, CLASS_MAILBOX), 2);
	fake_process_ends(0, 0);
	expect_eq(ikc_ends(&fake[0]->c.ikc, CLASS_PORTAL), 0);
	expect(call(other, kc_portal_open(other, 1, 1, 1)) >= 0);
}

TEST(an_account_that_is_used_up_opens_nothing)
{
	struct thread *t = thr(0, 0);
	size_t used;

	fake_all_up();
	expect(input(t, 0) >= 0);
	used = fake_charged(0, 0);
	fake[0]->proc[0].quota->limit[QUOTA_BYTES] = used;
	expect_eq(input(t, 1), -E_NOMEM);
	expect_eq(output(t, 1, 1), -E_NOMEM);
	expect_eq(call(t, kc_portal_create(t, 1)), -E_NOMEM);
	expect_eq(call(t, kc_portal_open(t, 1, 1, 1)), -E_NOMEM);
	expect_eq(fake_charged(0, 0), used);
	expect_eq(ikc_ends(&fake[0]->c.ikc, CLASS_MAILBOX) + ikc_ends(&fake[0]->c.ikc,
		CLASS_PORTAL), 1);
	fake[0]->proc[0].quota->limit[QUOTA_BYTES] = used + 4096;
	expect(input(t, 1) >= 0 && call(t, kc_portal_create(t, 1)) >= 0);
}

/* test: mailbox_write, mailbox_read, mailbox_wait */
TEST(foreign_closed_and_wrong_ids_are_bad)
{
	struct thread *t = thr(0, 0), *other = thr(0, 4);
	int in, out;

	fake_all_up();
	in = input(t, 1);
	out = output(t, 1, 1);
	for (int wrong = -2; wrong < 3; wrong++)
		expect_eq(write_to(t, wrong, 0), -E_BADF);
	expect(in > 0 && out > 0);
	expect_eq(write_to(t, in, 0), -E_BADF);
	expect_eq(read_any(t, out), -E_BADF);
	expect_eq(write_to(other, out, 0), -E_BADF);
	expect_eq(read_any(other, in), -E_BADF);
	expect_eq(wait_on(other, in), -E_BADF);
	expect_eq(wait_on(t, 0x7fffffff), -E_BADF);
	expect_eq(call(other, fake_close(other, in)), -E_BADF);
	expect_eq(call(t, kc_mailbox_read(t, in, FAKE_CLUSTERS, msg, fake_sender())), -E_INVAL);
	expect_eq(call(t, kc_mailbox_read(t, in, -2, msg, fake_sender())), -E_INVAL);
	expect_eq(call(t, fake_close(t, in)), 0);
	expect_eq(read_any(t, in), -E_BADF);
	expect(input(t, 1) != in);
	expect_eq(read_any(t, in), -E_BADF);
}

TEST(one_message_per_cluster_and_port_is_under_way)
{
	struct thread *s = thr(1, 0), *other = thr(1, 4), *r = thr(0, 0);
	int in, out, out2;

	fake_all_up();
	in = input(r, 2);
	out = output(s, 0, 2);
	out2 = output(other, 0, 2);
	expect_eq(read_any(r, in), -E_AGAIN);
	expect_eq(write_to(s, out, 1), 0);
	expect_eq(write_to(s, out, 2), -E_AGAIN);
	expect_eq(write_to(other, out2, 2), -E_AGAIN);
	expect_eq(read_any(r, in), 1);
	expect(is_text(1));
	expect_eq(write_to(other, out2, 3), 0);
	expect_eq(read_any(r, in), 1);
	expect(is_text(3));
	expect_eq(read_any(r, in), -E_AGAIN);
	/* only the process that has the port sees that something comes */
	expect_eq(fake[0]->events[0].mailbox_arrivals[2], 2);
	expect_eq(fake[0]->events[1].mailbox_arrivals[2], 0);
}

TEST(a_cluster_can_write_to_itself)
{
	struct thread *s = thr(0, 1), *r = thr(0, 0);
	int in, out;

	fake_all_up();
	in = input(r, 2);
	out = output(s, 0, 2);
	for (int n = 0; n < 20; n++) {
		expect_eq(call(s, kc_mailbox_write(s, out, text(n))), 0);
		expect_eq(call(s, kc_mailbox_write(s, out, text(n))), -E_AGAIN);
		expect_eq(call(r, kc_mailbox_read(r, in, 0, msg, fake_sender())), 0);
		expect(is_text(n));
	}
}

TEST(sources_are_served_in_turn_and_can_be_chosen)
{
	struct thread *r = thr(0, 0);
	int in, out[FAKE_CLUSTERS], got[FAKE_CLUSTERS] = {0};

	fake_all_up();
	in = input(r, 2);
	for (int i = 0; i < FAKE_CLUSTERS; i++) {
		out[i] = output(thr((unsigned)i, 1), 0, 2);
		expect_eq(write_to(thr((unsigned)i, 1), out[i], i), 0);
	}
	expect_eq(call(r, kc_mailbox_read(r, in, 2, msg, fake_sender())), 2);
	expect(is_text(2));
	expect_eq(call(r, kc_mailbox_read(r, in, 2, msg, fake_sender())), -E_AGAIN);
	pump();
	for (int n = 0; n < 40; n++) {
		long source = read_any(r, in);

		if (source < 0)
			continue;
		got[source]++;
		write_to(thr((unsigned)source, 1), out[source], n);
	}
	for (int i = 0; i < FAKE_CLUSTERS; i++)
		expect(i == 2 ? got[i] == 0 : got[i] == 13 || got[i] == 14);
}

TEST(a_reader_waits_until_a_message_is_there)
{
	struct thread *r = thr(0, 0), *r2 = thr(0, 1), *s = thr(1, 0);
	int in, out;

	fake_all_up();
	in = input(r, 2);
	out = output(s, 0, 2);
	expect_eq(wait_on(r, in), -E_PARK);
	expect_eq(wait_on(r2, in), -E_PARK);
	expect_eq(write_to(s, out, 1), 0);
	expect_eq(fake_result(r), 0);
	expect_eq(fake_result(r2), 0);
	expect_eq(wait_on(r, in), 0);
	expect_eq(read_any(r, in), 1);
}

/* test: event_bind */
TEST(who_has_bound_a_mailbox_is_told_of_each_arrival_and_of_what_is_there)
{
	struct thread *r = thr(0, 0), *r2 = thr(0, 1), *s = thr(1, 0);
	int in, out;

	fake_all_up();
	in = input(r, 2);
	out = output(s, 0, 2);
	expect_eq(fake_bind(r, EVENT_MAILBOX, in, 3), 0);
	expect_eq(fake_of(r)->wakeups, 0);
	expect_eq(write_to(s, out, 1), 0);
	expect_eq(r->bits, 8);
	expect_eq(fake_bind(r2, EVENT_MAILBOX, in, 0), 0);
	expect_eq(r2->bits, 1);
	read_any(r, in);
	write_to(s, out, 2);
	expect_eq(fake_of(r)->wakeups, 1);
	expect_eq(fake_of(r2)->wakeups, 2);
	expect_eq(fake_bind(r, EVENT_MAILBOX, 12345, 0), -E_BADF);
	expect_eq(fake_bind(r, EVENT_PORTAL, in, 0), -E_BADF);
	expect_eq(fake_bind(r, EVENT_ROOM, 1, 0), -E_INVAL);
	expect_eq(fake_bind(r, 77, 0, 0), -E_INVAL);
}

TEST(the_death_of_a_cluster_is_told_to_one_process)
{
	struct thread *a = thr(1, 0), *b = thr(1, 1), *other = thr(1, 4);

	fake_all_up();
	expect_eq(fake_bind(a, EVENT_CLUSTER, 1, 0), -E_INVAL);
	expect_eq(fake_bind(a, EVENT_CLUSTER, FAKE_CLUSTERS, 0), -E_INVAL);
	expect_eq(fake_bind(a, EVENT_CLUSTER, 0, 2), 0);
	expect_eq(fake_bind(other, EVENT_CLUSTER, 0, 0), -E_BUSY);
	expect_eq(fake_bind(b, EVENT_CLUSTER, 0, 2), 0);
	fake_kill(0, true);
	pump();
	expect_eq(a->bits, 0);
	expect_eq(b->bits, 4);
	expect_eq(fake_bind(a, EVENT_CLUSTER, 0, 1), 0);
	expect_eq(a->bits, 2);
}

/* test: event_bind */
TEST(portals_tell_of_blocks_and_allowances)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0);
	static char data[64];
	int in, out;

	fake_all_up();
	in = (int)call(r, kc_portal_create(r, 4));
	out = (int)call(s, kc_portal_open(s, 0, 4, 6));
	expect_eq(fake_bind(r, EVENT_PORTAL, in, 0), 0);
	expect_eq(fake_bind(s, EVENT_PORTAL, out, 1), 0);
	expect_eq(call(r, kc_portal_allow(r, in, 1, 6)), 0);
	pump();
	expect_eq(s->bits, 2);
	expect_eq(r->bits, 0);
	call(s, kc_portal_write(s, out, (unsigned long)data, sizeof(data)));
	pump();
	expect_eq(r->bits, 1);
	expect_eq(fake_bind(r, EVENT_PORTAL, in, 5), 0);
	expect_eq(r->bits, 33);
	call(r, kc_portal_read(r, in, (unsigned long)data, sizeof(data)));
	pump();
	expect_eq(fake_result(r), (long)sizeof(data));
}

TEST(a_reader_that_wants_one_source_waits_for_news)
{
	struct thread *r = thr(0, 0);
	int in, out1, out2;

	fake_all_up();
	in = input(r, 2);
	out1 = output(thr(1, 0), 0, 2);
	out2 = output(thr(2, 0), 0, 2);
	write_to(thr(1, 0), out1, 1);
	expect_eq(wait_on(r, in), 0);
	expect_eq(call(r, kc_mailbox_read(r, in, 2, msg, fake_sender())), -E_AGAIN);
	expect_eq(call(r, kc_mailbox_wait(r, in, FAKE_CLUSTERS)), -E_INVAL);
	expect_eq(call(r, kc_mailbox_wait(r, in, 2)), -E_PARK);
	write_to(thr(2, 0), out2, 2);
	expect_eq(fake_result(r), 0);
	expect_eq(call(r, kc_mailbox_read(r, in, 2, msg, fake_sender())), 2);
	expect_eq(read_any(r, in), 1);
}

TEST(a_free_slot_ends_the_wait_of_all_who_want_it)
{
	struct thread *r = thr(0, 0), *a = thr(1, 0), *b = thr(1, 4);
	int in, out, out_b;

	fake_all_up();
	in = input(r, 2);
	out = output(a, 0, 2);
	out_b = output(b, 0, 2);
	expect_eq(wait_on(a, out), 0);
	write_to(a, out, 1);
	expect_eq(wait_on(b, out_b), -E_PARK);
	expect_eq(wait_on(a, out), -E_PARK);
	read_any(r, in);
	expect_eq(fake_result(a), 0);
	expect_eq(fake_result(b), 0);
	expect_eq(write_to(b, out_b, 2), 0);
	expect_eq(write_to(a, out, 3), -E_AGAIN);
	expect_eq(wait_on(a, out), -E_PARK);
	read_any(r, in);
	expect_eq(fake_result(a), 0);
	expect_eq(write_to(a, out, 3), 0);
	read_any(r, in);
	expect(is_text(3));
}

TEST(who_was_refused_a_full_slot_is_told_when_it_is_free)
{
	struct thread *r = thr(0, 0);
	int in, out[3];

	fake_all_up();
	in = input(r, 2);
	for (int i = 0; i < 3; i++)
		out[i] = output(thr(1, i), 0, 2);
	fake_bind(thr(1, 1), EVENT_ROOM, 0, 0);
	fake_bind(thr(1, 2), EVENT_ROOM, 0, 0);
	write_to(thr(1, 0), out[0], 1);
	expect_eq(write_to(thr(1, 0), out[1], 2), -E_AGAIN);
	expect_eq(write_to(thr(1, 1), out[1], 2), -E_AGAIN);
	read_any(r, in);
	expect_eq(fake_of(thr(1, 1))->wakeups, 1);
	expect_eq(fake_of(thr(1, 2))->wakeups, 0);
	write_to(thr(1, 0), out[0], 1);
	for (int i = 0; i < 3; i++)
		expect_eq(write_to(thr(1, i), out[i], 2), -E_AGAIN);
	read_any(r, in);
	expect_eq(fake_of(thr(1, 1))->wakeups, 2);
	expect_eq(fake_of(thr(1, 2))->wakeups, 1);
	/* thread 0 learns of what it missed before it asked to be told */
	expect_eq(fake_of(thr(1, 0))->wakeups, 0);
	fake_bind(thr(1, 0), EVENT_ROOM, 0, 0);
	expect_eq(fake_of(thr(1, 0))->wakeups, 1);
}

TEST(who_was_refused_several_slots_is_told_of_each)
{
	struct thread *w = thr(1, 0);
	int in[2], out[2];

	fake_all_up();
	fake_bind(w, EVENT_ROOM, 0, 0);
	for (int i = 0; i < 2; i++) {
		in[i] = input(thr(0, 0), 2 + i);
		out[i] = output(w, 0, 2 + i);
		write_to(w, out[i], 1);
		expect_eq(write_to(w, out[i], 2), -E_AGAIN);
	}
	for (int i = 1; i >= 0; i--) {
		read_any(thr(0, 0), in[i]);
		expect_eq(fake_of(w)->wakeups, 2 - i);
		expect_eq(write_to(w, out[0], 3), i == 0 ? 0 : -E_AGAIN);
	}
}

TEST(a_message_to_a_port_nobody_created_yet_waits)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0);
	int in, out;

	fake_all_up();
	out = output(s, 0, 5);
	expect_eq(write_to(s, out, 7), 0);
	expect_eq(write_to(s, out, 8), -E_AGAIN);
	in = input(r, 5);
	expect_eq(wait_on(r, in), 0);
	expect_eq(read_any(r, in), 1);
	expect(is_text(7));
}

TEST(a_port_that_is_closed_refuses_what_nobody_read)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0);
	int in, out;

	fake_all_up();
	in = input(r, 5);
	out = output(s, 0, 5);
	write_to(s, out, 7);
	expect_eq(call(r, fake_close(r, in)), 0);
	pump();
	expect_eq(write_to(s, out, 8), -E_PIPE);
	in = input(r, 5);
	expect_eq(read_any(r, in), -E_AGAIN);
}

/* test: handle_duplicate, handle_revoke */
TEST(a_copy_of_a_handle_can_do_what_its_rights_say)
{
	struct thread *r = thr(0, 0), *r2 = thr(0, 4), *s = thr(1, 0), *s2 = thr(1, 4);
	int in, out, reads, waits, writes;

	fake_all_up();
	in = input(r, 5);
	out = output(s, 0, 5);
	reads = fake_give(r, in, r2, RIGHT_READ);
	waits = fake_give(r, in, r2, RIGHT_WAIT);
	writes = fake_give(s, out, s2, RIGHT_WRITE);
	expect_eq(write_to(s2, writes, 1), 0);
	expect_eq(wait_on(s2, writes), -E_ACCES);
	expect_eq(wait_on(r2, reads), -E_ACCES);
	expect_eq(fake_bind(r2, EVENT_MAILBOX, reads, 0), -E_ACCES);
	expect_eq(read_any(r2, waits), -E_ACCES);
	expect_eq(wait_on(r2, waits), 0);
	expect_eq(write_to(r2, reads, 1), -E_BADF);
	expect_eq(read_any(r2, reads), 1);
	expect_eq(fake_give(r2, reads, r, RIGHTS_ALL), -E_ACCES);
	/* the port lives as long as one of them */
	expect_eq(call(r, fake_close(r, in)), 0);
	expect_eq(call(r2, fake_close(r2, waits)), 0);
	expect_eq(input(r, 5), -E_BUSY);
	expect_eq(call(r2, fake_close(r2, reads)), 0);
	expect(input(r, 5) > 0);
}

TEST(a_message_says_which_process_wrote_it_not_which_opened)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0), *s2 = thr(1, 4);
	struct mail_sender from[2];
	int in, out, given;

	fake_all_up();
	in = input(r, 5);
	out = output(s, 0, 5);
	given = fake_give(s, out, s2, RIGHT_WRITE);
	for (int i = 0; i < 2; i++) {
		write_to(i ? s2 : s, i ? given : out, i);
		expect_eq(call(r, kc_mailbox_read(r, in, 1, msg, &from[i])), 1);
		pump();
	}
	expect_eq(from[0].badge, (uint32_t)s->proc->id);
	expect_eq(from[1].badge, (uint32_t)s2->proc->id);
}

/*
 * Those that wait through a handle that is dead get -E_BADF, once; others of the same port go on
 * waiting.
 */
TEST(a_revoked_handle_ends_the_waits_through_it)
{
	struct thread *r = thr(0, 0), *r2 = thr(0, 4), *r3 = thr(0, 5), *s = thr(1, 0),
		*s2 = thr(1, 4);
	int in, out, view, given, out_view, out_given;

	fake_all_up();
	in = input(r, 5);
	out = output(s, 0, 5);
	view = fake_give(r, in, r, RIGHTS_ALL | HANDLE_VIEW);
	given = fake_give(r, view, r2, RIGHTS_ALL);
	out_view = fake_give(s, out, s, RIGHTS_ALL | HANDLE_VIEW);
	out_given = fake_give(s, out_view, s2, RIGHTS_ALL);
	expect_eq(wait_on(r, in), -E_PARK);
	expect_eq(wait_on(r2, given), -E_PARK);
	expect_eq(wait_on(r3, given), -E_PARK);
	expect_eq(fake_revoke(thr(0, 1), view), 0);
	pump();
	expect_eq(fake_result(r2), -E_BADF);
	expect_eq(fake_result(r3), -E_BADF);
	expect(fake_is_parked(r));
	expect_eq(wait_on(r2, given), -E_BADF);
	expect_eq(read_any(r2, given), -E_BADF);
	write_to(s, out, 1);
	expect_eq(fake_result(r), 0);
	expect_eq(wait_on(s, out), -E_PARK);
	expect_eq(wait_on(s2, out_given), -E_PARK);
	expect_eq(fake_revoke(thr(1, 1), out_view), 0);
	pump();
	expect_eq(fake_result(s2), -E_BADF);
	expect(fake_is_parked(s));
	read_any(r, in);
	expect_eq(fake_result(s), 0);
}

/* --- forwarding --- */

static struct mail_sender
origin_of(struct thread *t)
{
	struct mail_sender from = {99, 99};

	expect_eq(call(t, kc_mailbox_origin(t, &from)), 0);
	return from;
}

/* Thread 0 of cluster 1 asks 2, which has 3 answer: that knows both. */
TEST(a_forwarded_message_says_who_asked_and_who_forwarded_it)
{
	struct thread *asks = thr(1, 0), *forwards = thr(2, 0), *answers = thr(3, 0);
	int in, to, last, again;
	struct mail_sender by, from;

	fake_all_up();
	in = input(forwards, 3);
	last = input(answers, 4);
	to = output(forwards, 3, 4);
	again = output(answers, 2, 3);
	expect_eq(call(forwards, kc_mailbox_forward(forwards, to, text(0))), -E_INVAL);
	expect_eq(call(forwards, kc_mailbox_origin(forwards, &from)), -E_INVAL);
	expect_eq(write_to(asks, output(asks, 2, 3), 1), 0);
	expect_eq(read_any(forwards, in), 1);
	from = origin_of(forwards);
	expect(from.cluster == 1 && from.badge == asks->proc->badge);
	expect_eq(call(forwards, kc_mailbox_forward(forwards, to, text(2))), 0);
	pump();
	expect_eq(call(answers, kc_mailbox_read(answers, last, ANY_SOURCE_CLUSTER, msg, &by)), 2);
	expect(is_text(2) && by.cluster == 2 && by.badge == forwards->proc->badge);
	from = origin_of(answers);
	expect(from.cluster == 1 && from.badge == asks->proc->badge);
	/* forwarded again it is still for the first */
	expect_eq(call(answers, kc_mailbox_forward(answers, again, text(3))), 0);
	pump();
	expect_eq(read_any(forwards, in), 3);
	expect_eq(origin_of(forwards).cluster, 1);
	/* its own messages are not */
	pump();
	expect_eq(write_to(forwards, to, 4), 0);
	expect_eq(read_any(answers, last), 2);
	expect_eq(origin_of(answers).cluster, 2);
}

int
main(void)
{
	fake_machine();
	RUN(create_refuses_bad_and_open_ports);
	RUN(open_refuses_bad_targets_and_makes_a_mailbox_each_time);
	RUN(endpoints_run_out_with_an_error);
	RUN(an_account_that_is_used_up_opens_nothing);
	RUN(foreign_closed_and_wrong_ids_are_bad);
	RUN(one_message_per_cluster_and_port_is_under_way);
	RUN(a_cluster_can_write_to_itself);
	RUN(sources_are_served_in_turn_and_can_be_chosen);
	RUN(a_reader_waits_until_a_message_is_there);
	RUN(a_reader_that_wants_one_source_waits_for_news);
	RUN(who_has_bound_a_mailbox_is_told_of_each_arrival_and_of_what_is_there);
	RUN(the_death_of_a_cluster_is_told_to_one_process);
	RUN(portals_tell_of_blocks_and_allowances);
	RUN(a_free_slot_ends_the_wait_of_all_who_want_it);
	RUN(who_was_refused_a_full_slot_is_told_when_it_is_free);
	RUN(who_was_refused_several_slots_is_told_of_each);
	RUN(a_message_to_a_port_nobody_created_yet_waits);
	RUN(a_port_that_is_closed_refuses_what_nobody_read);
	RUN(a_copy_of_a_handle_can_do_what_its_rights_say);
	RUN(a_message_says_which_process_wrote_it_not_which_opened);
	RUN(a_revoked_handle_ends_the_waits_through_it);
	RUN(a_forwarded_message_says_who_asked_and_who_forwarded_it);
	fake_end();
	return TEST_FAILED;
}
