/* SPDX-License-Identifier: MIT
 *
 * Unit tests of mailbox ports that share one connector: what nobody reads holds back nothing else,
 * and what waits at its sender goes where it should, whoever ends meanwhile.
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

#define UNREAD 0			/* the port that nobody reads */

/*
 * A machine with one connector, which holds a message of each cluster for cluster 0's port UNREAD.
 */
static void
crowded(void)
{
	fake_connectors = 1;
	fake_all_up();
	input(thr(0, 7), UNREAD);
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++)
		expect_eq(write_to(thr(c, 7), output(thr(c, 7), 0, UNREAD), (int)c), 0);
}

static long
read_from(struct thread *t, int id, int source)
{
	long result = call(t, kc_mailbox_read(t, id, source, msg, fake_sender()));

	pump();
	return result;
}

/* Is the message of a cluster for a port kept in that cluster? */
static bool
is_kept(unsigned cluster, unsigned port)
{
	const struct mail_out *o = *mail_out_at(&fake[cluster]->c, 0, port);

	return o != NULL && o->kept != NULL;
}

TEST(what_nobody_reads_holds_back_no_other_port)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0);

	crowded();
	for (int round = 0; round < 3; round++) {
		for (int p = 1; p < FAKE_PORTS; p++) {
			int in = input(r, p), out = output(s, 0, p);

			expect_eq(write_to(s, out, 10 * p), 0);
			expect_eq(write_to(s, out, 11 * p), -E_AGAIN);
			expect_eq(read_any(r, in), 1);
			expect(is_text(10 * p));
			expect_eq(write_to(s, out, 11 * p), 0);
			expect_eq(read_any(r, in), 1);
			expect(is_text(11 * p));
			expect(!is_kept(1, (unsigned)p));
			call(r, fake_close(r, in));
			call(s, fake_close(s, out));
			pump();
		}
	}
}

TEST(all_clusters_get_their_turn_at_a_port_also_the_own_one)
{
	struct thread *r = thr(0, 0);
	unsigned seen = 0;
	int in;

	crowded();
	in = input(r, 3);
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++)
		expect_eq(write_to(thr(c, 1), output(thr(c, 1), 0, 3), (int)c), 0);
	for (unsigned n = 0; n < FAKE_CLUSTERS; n++) {
		long from = read_any(r, in);

		expect(from >= 0 && from < FAKE_CLUSTERS && is_text((int)from));
		seen |= 1u << from;
	}
	expect_eq(seen, (1u << FAKE_CLUSTERS) - 1);
	expect_eq(read_any(r, in), -E_AGAIN);
}

TEST(whoever_waits_for_one_cluster_gets_its_message_before_those_of_others)
{
	struct thread *r = thr(0, 0);
	int in;

	crowded();
	in = input(r, 3);
	for (unsigned c = 1; c < FAKE_CLUSTERS; c++)
		expect_eq(write_to(thr(c, 1), output(thr(c, 1), 0, 3), (int)c), 0);
	expect_eq(read_from(r, in, 3), -E_AGAIN);	/* the others have the credits */
	expect_eq(read_from(r, in, 3), 3);
	expect(is_text(3));
	expect_eq(read_from(r, in, 2) == 2 || read_from(r, in, 2) == 2, 1);
	expect(is_text(2));
	expect_eq(read_any(r, in), 1);
	expect(is_text(1));
}

TEST(a_wait_for_one_cluster_ends_when_its_message_could_come)
{
	struct thread *r = thr(0, 0);
	int in;

	crowded();
	in = input(r, 3);
	for (unsigned c = 1; c < 3; c++)
		expect_eq(write_to(thr(c, 1), output(thr(c, 1), 0, 3), (int)c), 0);
	expect_eq(call(r, kc_mailbox_wait(r, in, 3)), -E_PARK);
	expect_eq(write_to(thr(3, 1), output(thr(3, 1), 0, 3), 3), 0);
	expect_eq(fake_result(r), 0);
	expect_eq(read_from(r, in, 3), 3);
	expect_eq(read_any(r, in) + read_any(r, in), 3);
}

TEST(a_message_that_waits_is_for_the_next_life_of_a_port_or_is_refused)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0);
	int in, out, fresh;

	crowded();
	out = output(s, 0, 3);
	expect_eq(write_to(s, out, 1), 0);	/* nobody has created it yet */
	in = input(r, 3);
	pump();
	expect_eq(read_any(r, in), 1);
	for (unsigned c = 2; c < FAKE_CLUSTERS; c++)
		write_to(thr(c, 1), output(thr(c, 1), 0, 3), 5);
	expect_eq(write_to(s, out, 2), 0);
	expect(is_kept(1, 3));
	fresh = output(s, 0, 3);
	call(r, fake_close(r, in));
	pump();
	expect(!is_kept(1, 3) && !is_kept(2, 3) && !is_kept(3, 3));
	expect_eq(write_to(s, out, 3), -E_PIPE);
	expect_eq(write_to(s, fresh, 4), 0);
	in = input(r, 3);
	pump();
	expect_eq(read_any(r, in), 1);
	expect(is_text(4));
}

TEST(what_a_process_wrote_arrives_after_its_end_and_is_paid_for_until_then)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0);
	struct quota *all = &fake[1]->c.all;
	size_t before, with;
	int in;

	crowded();
	in = input(r, 3);
	before = all->used[QUOTA_BYTES];
	expect_eq(write_to(s, output(s, 0, 3), 7), 0);
	with = all->used[QUOTA_BYTES];
	expect(with >= before + sizeof(struct mail_kept));
	expect(fake_charged(1, 0) >= sizeof(struct mail_kept));
	fake_process_ends(1, 0);
	pump();
	expect(is_kept(1, 3));
	expect_eq(read_any(r, in), 1);
	expect(is_text(7));
	expect(!is_kept(1, 3));
	expect(all->used[QUOTA_BYTES] < before);
}

TEST(without_memory_a_message_that_would_wait_is_not_written)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0);
	struct quota *q;
	size_t limit;
	int in, out;

	crowded();
	q = s->proc->quota;
	in = input(r, 3);
	out = output(s, 0, 3);
	limit = q->limit[QUOTA_BYTES];
	q->limit[QUOTA_BYTES] = q->used[QUOTA_BYTES];
	expect_eq(write_to(s, out, 1), -E_NOMEM);
	expect_eq(read_any(r, in), -E_AGAIN);
	q->limit[QUOTA_BYTES] = limit;
	expect_eq(write_to(s, out, 2), 0);
	expect_eq(read_any(r, in), 1);
	expect(is_text(2));
}

TEST(a_dead_receiver_gives_back_what_waits_for_it)
{
	struct thread *s = thr(1, 0), *w = thr(1, 1);
	size_t before;
	int out;

	crowded();
	out = output(s, 0, 3);
	before = fake_charged(1, 0);
	expect_eq(write_to(s, out, 1), 0);
	expect(fake_charged(1, 0) > before);
	expect_eq(call(w, kc_mailbox_wait(w, out, 0)), -E_PARK);
	fake_kill(0, true);
	pump();
	expect_eq(fake_result(w), -E_HOSTDOWN);
	expect_eq(fake_charged(1, 0), before);
	expect_eq(write_to(s, out, 2), -E_HOSTDOWN);
	fake_boot(0);
	pump();
	expect_eq(write_to(s, out, 3), -E_CONNRESET);
	expect_eq(*connected_at(&fake[1]->c, 0), 0);
}

/* Cluster 3 has all that it can have of a port, in the way that `how` says, and dies. */
static void
dies_with_credits(int how)
{
	struct thread *r = thr(0, 0);
	int in;

	crowded();
	in = input(r, 3);
	if (how == 0) {				/* it is granted one, and puts nothing */
		call(thr(3, 1), kc_mailbox_write(thr(3, 1), output(thr(3, 1), 0, 3), text(3)));
		fake_step(0, true);
		fake[3]->up = false;
	} else {				/* its message lies there */
		expect_eq(write_to(thr(3, 1), output(thr(3, 1), 0, 3), 3), 0);
	}
	for (unsigned c = 1; c < 3; c++)
		expect_eq(write_to(thr(c, 1), output(thr(c, 1), 0, 3), (int)c), 0);
	fake_kill(3, true);
	pump();
	if (how == 1)
		expect_eq(read_from(r, in, 3), 3);
	expect_eq(read_any(r, in) + read_any(r, in), 3);
	expect_eq(read_any(r, in), -E_AGAIN);
	expect_eq(fake[0]->c.ikc.in[3].credit[0] + fake[0]->c.ikc.in[3].credit[1], 0);
	fake_boot(3);
	pump();
	write_to(thr(3, 1), output(thr(3, 1), 0, UNREAD), 8);
	expect_eq(write_to(thr(3, 1), output(thr(3, 1), 0, 3), 9), 0);
	expect_eq(read_any(r, in), 3);
	expect(is_text(9));
}

TEST(a_dead_sender_gives_back_the_credits_that_it_has)
{
	dies_with_credits(0);
	dies_with_credits(1);
}

TEST(a_silent_cluster_holds_one_credit_of_a_port_and_no_more)
{
	struct thread *r = thr(0, 0);
	int in;

	crowded();
	in = input(r, 3);
	fake[3]->up = false;			/* and says it lives */
	here = 0;
	for (uint32_t n = 0; n < 4; n++)
		event_take(&fake[0]->c, 3, wire_event(WIRE_WANT, 3, n));
	pump();
	expect_eq(fake[0]->c.ikc.in[3].credit[0], 4);
	for (unsigned c = 1; c < 3; c++)
		expect_eq(write_to(thr(c, 1), output(thr(c, 1), 0, 3), (int)c), 0);
	expect_eq(read_any(r, in) + read_any(r, in), 3);
}

TEST(events_that_do_not_belong_change_nothing)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0);
	int in, out;

	crowded();
	in = input(r, 3);
	out = output(s, 0, 3);
	here = 0;
	event_take(&fake[0]->c, 1, wire_event(WIRE_ARRIVED, 3, WIRE_CREDIT));
	event_take(&fake[0]->c, 1, wire_event(WIRE_ARRIVED, 3, WIRE_CREDIT + 1));
	expect_eq(read_any(r, in), -E_AGAIN);
	here = 1;
	event_take(&fake[1]->c, 0, wire_event(WIRE_GRANT, 3, WIRE_CREDIT));
	event_take(&fake[1]->c, 0, wire_event(WIRE_GRANT, 4, WIRE_CREDIT));
	expect_eq(write_to(s, out, 1), 0);
	here = 0;
	event_take(&fake[0]->c, 1, wire_event(WIRE_WANT, 3, 77));
	event_take(&fake[0]->c, 1, wire_event(WIRE_ARRIVED, 3, 0));
	expect_eq(read_any(r, in), 1);
	expect(is_text(1));
	expect_eq(read_any(r, in), -E_AGAIN);
}

int
main(void)
{
	fake_machine();
	RUN(what_nobody_reads_holds_back_no_other_port);
	RUN(all_clusters_get_their_turn_at_a_port_also_the_own_one);
	RUN(whoever_waits_for_one_cluster_gets_its_message_before_those_of_others);
	RUN(a_wait_for_one_cluster_ends_when_its_message_could_come);
	RUN(a_message_that_waits_is_for_the_next_life_of_a_port_or_is_refused);
	RUN(what_a_process_wrote_arrives_after_its_end_and_is_paid_for_until_then);
	RUN(without_memory_a_message_that_would_wait_is_not_written);
	RUN(a_dead_receiver_gives_back_what_waits_for_it);
	RUN(a_dead_sender_gives_back_the_credits_that_it_has);
	RUN(a_silent_cluster_holds_one_credit_of_a_port_and_no_more);
	RUN(events_that_do_not_belong_change_nothing);
	fake_end();
	return TEST_FAILED;
}
