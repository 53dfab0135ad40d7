/* SPDX-License-Identifier: MIT
 *
 * Unit tests of what is counted of mailboxes, portals and sync points.
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

#define LONG (3 * FAKE_UNIT + 7)

static struct port_stats
stats(struct thread *t, int object, int class)
{
	struct port_stats s = {0};

	expect_eq(call(t, kc_port_stats(t, object, class, &s)), 0);
	return s;
}

TEST(messages_are_counted_at_both_ends_and_in_their_class)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0);
	int in, out, other;

	fake_all_up();
	in = input(r, 3);
	out = output(s, 0, 3);
	other = output(s, 0, 4);
	for (int n = 0; n < 5; n++) {
		expect_eq(write_to(s, out, n), 0);
		expect_eq(write_to(s, out, n), -E_AGAIN);
		expect_eq(read_any(r, in), 1);
		expect_eq(read_any(r, in), -E_AGAIN);
	}
	expect_eq(write_to(s, other, 9), 0);
	expect_eq(stats(r, in, 0).reads, 5);
	expect_eq(stats(r, in, 0).writes, 0);
	expect_eq(stats(r, in, 0).volume, 5 * MAILBOX_MSG_SIZE);
	expect_eq(stats(s, out, 0).writes, 5);
	expect_eq(stats(s, out, 0).reads, 0);
	expect_eq(stats(s, other, 0).volume, MAILBOX_MSG_SIZE);
	expect_eq(stats(s, 0, CLASS_MAILBOX).writes, 6);
	expect_eq(stats(s, 0, CLASS_MAILBOX).opens, 2);
	expect_eq(stats(r, 0, CLASS_MAILBOX).reads, 5);
	expect_eq(stats(r, 0, CLASS_MAILBOX).volume, 5 * MAILBOX_MSG_SIZE);
	expect_eq(stats(r, 0, CLASS_PORTAL).reads, 0);
	call(s, fake_close(s, out));
	expect_eq(stats(s, 0, CLASS_MAILBOX).closes, 1);
	expect_eq(stats(s, 0, CLASS_MAILBOX).opens, 2);
}

TEST(latency_is_the_time_until_the_receiver_has_it_and_is_taken_from_the_first_question_on)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0);
	int in, out;

	fake_all_up();
	fake_now = 1000;
	in = input(r, 3);
	out = output(s, 0, 3);
	for (int n = 0; n < 3; n++) {
		expect_eq(write_to(s, out, n), 0);
		fake_now += 700;
		expect_eq(read_any(r, in), 1);
		fake_now += 50;
		expect_eq(stats(s, out, 0).latency_ns, (uint64_t)n * 700);
	}
	expect_eq(stats(s, 0, CLASS_MAILBOX).latency_ns, 1400);
	expect_eq(stats(r, in, 0).latency_ns, 0);
}

TEST(transfers_and_their_bytes_are_counted)
{
	static unsigned char from[LONG], to[LONG];
	struct thread *r = thr(0, 0), *s = thr(1, 0);
	int in, out;

	fake_all_up();
	in = (int)call(r, kc_portal_create(r, 2));
	out = (int)call(s, kc_portal_open(s, 0, 2, 1));
	stats(s, out, 0);
	for (unsigned len = 0, n = 0; n < 2; n++, len = LONG) {
		fake_now += 10;
		expect_eq(call(r, kc_portal_allow(r, in, 1, 1)), 0);
		pump();
		call(s, kc_portal_write(s, out, (unsigned long)from, LONG));
		fake_now += 300;
		call(r, kc_portal_read(r, in, (unsigned long)to, len));
		pump();
		expect_eq(fake_result(r), len);
		expect_eq(fake_result(s), len);
	}
	expect_eq(stats(r, in, 0).reads, 2);
	expect_eq(stats(r, in, 0).volume, LONG);
	expect_eq(stats(s, out, 0).writes, 2);
	expect_eq(stats(s, out, 0).volume, LONG);
	expect_eq(stats(s, out, 0).latency_ns, 600);
	expect_eq(stats(s, 0, CLASS_PORTAL).volume, LONG);
	expect_eq(stats(r, 0, CLASS_PORTAL).creates, 1);
}

TEST(signals_and_rounds_are_counted)
{
	static const uint8_t list[2] = {0, 1};
	struct thread *r = thr(0, 0), *s = thr(1, 0);
	int in, out;

	fake_all_up();
	in = (int)call(r, kc_sync_create(r, SYNC_ALL_TO_ONE, 0, list, 2));
	out = (int)call(s, kc_sync_open(s, SYNC_ALL_TO_ONE, 0, list, 2));
	stats(s, out, 0);
	for (int n = 0; n < 3; n++) {
		fake_now += 5;
		expect_eq(call(s, kc_sync_signal(s, out)), 0);
		pump();
		fake_now += 20;
		expect_eq(call(r, kc_sync_wait(r, in)), 0);
		pump();
	}
	expect_eq(stats(r, in, 0).reads, 3);
	expect_eq(stats(s, out, 0).writes, 3);
	expect_eq(stats(s, out, 0).latency_ns, 60);
	expect_eq(stats(s, 0, CLASS_SYNC).latency_ns, 60);
	expect_eq(stats(r, 0, CLASS_SYNC).reads, 3);
}

TEST(wrong_questions_are_refused)
{
	struct thread *t = thr(0, 0);
	struct port_stats s;

	fake_all_up();
	expect_eq(call(t, kc_port_stats(t, 0, -1, &s)), -E_INVAL);
	expect_eq(call(t, kc_port_stats(t, 0, CLASSES, &s)), -E_INVAL);
	expect_eq(call(t, kc_port_stats(t, 77, 0, &s)), -E_BADF);
}

int
main(void)
{
	fake_machine();
	RUN(messages_are_counted_at_both_ends_and_in_their_class);
	RUN(latency_is_the_time_until_the_receiver_has_it_and_is_taken_from_the_first_question_on);
	RUN(transfers_and_their_bytes_are_counted);
	RUN(signals_and_rounds_are_counted);
	RUN(wrong_questions_are_refused);
	fake_end();
	return TEST_FAILED;
}
