/* SPDX-License-Identifier: MIT
 *
 * Unit tests of what a bad peer gets: cluster 3 is bad, the others go on. The fuzz test
 * (fuzz_test.c) looks for what was forgotten here.
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
#include <kernel/ikc/fake.h>

#define BAD 3

static unsigned char block[4 * FAKE_UNIT];

/* The bad cluster's home core says this, whatever it should do. */
static void
say(unsigned to, uint32_t event)
{
	here = BAD;
	expect_eq(hal_noc_notify(to, event), 0);
}

static void
look(unsigned cluster)
{
	while (fake_step(cluster, true) | fake_step(cluster, false))
		;
}

static void
bad_is_condemned_by(unsigned cluster, int messages)
{
	expect_eq(fake[cluster]->c.ikc.peer[BAD].state, PEER_DEAD);
	expect_eq(fake_messages, messages);
	fake[BAD]->up = false;
	pump();
	expect_eq(fake_messages, messages);
}

static void
others_go_on(void)
{
	struct thread *a = thr(0, 0), *b = thr(1, 0);
	int in = (int)call(b, kc_mailbox_create(b, 7)),
		out = (int)call(a, kc_mailbox_open(a, 1, 7));
	char msg[MAILBOX_MSG_SIZE];

	expect_eq(call(a, kc_mailbox_write(a, out, text(1))), 0);
	pump();
	expect_eq(call(b, kc_mailbox_read(b, in, ANY_SOURCE_CLUSTER, msg, fake_sender())), 0);
}

TEST(who_takes_no_events_but_wants_answers_is_condemned)
{
	fake_all_up();
	for (int n = 0; n < 1000 && fake[0]->c.ikc.peer[BAD].state == PEER_UP; n++) {
		say(0, wire_event(WIRE_REVOKE, 1, 0));
		look(0);
	}
	bad_is_condemned_by(0, 1);
	expect_eq(fake[0]->c.ikc.backlog_count, 0);
	expect_eq(fake[0]->c.chores, 0);
	others_go_on();
}

TEST(who_sends_what_does_not_exist_is_condemned)
{
	const uint32_t wrong[] = {wire_event(0, 1, 1), wire_event(WIRE_REVOKED + 1, 0, 0),
		wire_event(15, 0, 0),
		wire_event(WIRE_ARRIVED, FAKE_PORTS, 0), wire_event(WIRE_REVOKED, 255, 0)};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		fake_all_up();
		say(0, wrong[i]);
		say(0, wrong[i]);
		look(0);
		bad_is_condemned_by(0, 1);
		others_go_on();
	}
}

TEST(a_new_life_after_a_condemned_one_is_a_new_peer)
{
	fake_all_up();
	say(0, wire_event(15, 0, 0));
	look(0);
	bad_is_condemned_by(0, 1);
	fake_boot(BAD);
	pump();
	expect_eq(fake[0]->c.ikc.peer[BAD].state, PEER_UP);
}

/* Events that waited for room in the ring belong to the life that they were meant for. */
TEST(a_new_life_gets_no_events_of_the_last_one)
{
	fake_all_up();
	for (int n = 0; fake[0]->c.ikc.peer[BAD].backlog == 0; n++) {
		say(0, wire_event(WIRE_REVOKE, 1, 0));
		look(0);
		expect(n < 1000);
	}
	fake_boot(BAD);
	look(0);
	expect_eq(fake[0]->c.ikc.peer[BAD].state, PEER_UP);
	expect_eq(fake[0]->c.ikc.backlog_count, 0);
	expect_eq(fake_messages, 0);
}

/* Cluster 0 reads at port 2 from the bad cluster, which puts this block. */
static long
read_from_bad(struct wire_header h, size_t payload)
{
	static _Alignas(8) unsigned char slot[HAL_NOC_HEADER_BYTES + FAKE_UNIT];
	struct thread *t = thr(0, 0);
	int in;

	fake_all_up();
	in = (int)call(t, kc_portal_create(t, 2));
	call(t, kc_portal_allow(t, in, BAD, 0));
	call(t, kc_portal_read(t, in, (unsigned long)block, sizeof(block)));
	h.magic = WIRE_BLOCK;
	h.port = 2;
	h.incarnation = fake_record.cluster[BAD].incarnation;
	h.sequence = 1;
	h.source = BAD;
	memcpy(slot, &h, sizeof(h));
	here = BAD;
	expect_eq(hal_noc_put(0, hal_noc_portal_slot(2), fake_record.cluster[0].incarnation, slot,
		HAL_NOC_HEADER_BYTES + payload), 0);
	say(0, wire_event(WIRE_DATA, 2, 1));
	look(0);
	return fake_result(t);
}

TEST(a_block_that_says_more_than_fits_or_leaves_a_hole_is_refused)
{
	expect_eq(read_from_bad((struct wire_header){.length = 100, .total = 100}, 100), 100);
	expect_eq(read_from_bad((struct wire_header){.length = FAKE_UNIT + 1,
		.total = 4 * FAKE_UNIT}, FAKE_UNIT), -E_CONNRESET);
	expect_eq(read_from_bad((struct wire_header){.length = UINT32_MAX, .total = UINT64_MAX},
		FAKE_UNIT), -E_CONNRESET);
	expect_eq(read_from_bad((struct wire_header){.length = 1, .offset = FAKE_UNIT,
		.total = UINT64_MAX}, 1), -E_CONNRESET);
	expect_eq(read_from_bad((struct wire_header){.length = 1, .offset = UINT64_MAX, .total = 0},
		1), -E_CONNRESET);
}

TEST(a_receiver_cannot_take_more_than_it_was_sent)
{
	struct thread *t = thr(0, 0);
	int out;

	fake_all_up();
	out = (int)call(t, kc_portal_open(t, BAD, 1, 0));
	call(t, kc_portal_write(t, out, (unsigned long)block, 10));
	say(0, wire_event(WIRE_ALLOW, 1, 1));
	look(0);
	say(0, wire_event(WIRE_DONE, 1, 0xfffff));
	look(0);
	expect_eq(fake_result(t), 10);
}

int
main(void)
{
	fake_machine();
	RUN(who_takes_no_events_but_wants_answers_is_condemned);
	RUN(who_sends_what_does_not_exist_is_condemned);
	RUN(a_new_life_after_a_condemned_one_is_a_new_peer);
	RUN(a_new_life_gets_no_events_of_the_last_one);
	RUN(a_block_that_says_more_than_fits_or_leaves_a_hole_is_refused);
	RUN(a_receiver_cannot_take_more_than_it_was_sent);
	fake_end();
	return TEST_FAILED;
}
