/* SPDX-License-Identifier: MIT
 *
 * Home looks at its peers in steps: each ends with the first peer that has changed, and the next
 * goes on behind it.
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

static unsigned
dead(unsigned cluster)
{
	unsigned n = 0;

	for (unsigned i = 0; i < FAKE_CLUSTERS; i++)
		n += fake[cluster]->c.ikc.peer[i].state == PEER_DEAD;
	return n;
}

TEST(of_deaths_at_once_each_step_takes_one_and_none_is_forgotten)
{
	for (unsigned first = 0; first < FAKE_CLUSTERS; first++) {
		fake_all_up();
		fake[0]->c.ikc.peer_next = first;
		for (unsigned i = 1; i < FAKE_CLUSTERS; i++)
			fake_kill(i, true);
		here = 0;
		for (unsigned n = 1; n < FAKE_CLUSTERS; n++) {
			expect(peers_poll(&fake[0]->c));
			expect_eq(dead(0), n);
		}
		while (peers_poll(&fake[0]->c))
			;
		expect_eq(dead(0), FAKE_CLUSTERS - 1);
		expect_eq(fake[0]->c.ikc.clusters_dead, FAKE_CLUSTERS - 1);
	}
}

TEST(a_death_while_a_look_is_under_way_is_noticed_behind_it_too)
{
	fake_all_up();
	fake_kill(3, true);
	here = 0;
	fake[0]->c.ikc.peer_next = 2;
	expect(peers_poll(&fake[0]->c));
	expect_eq(fake[0]->c.ikc.peer_next, 0);
	fake_kill(2, true);
	here = 0;
	while (peers_poll(&fake[0]->c))
		;
	expect_eq(dead(0), 2);
}

TEST(one_event_is_taken_at_a_time)
{
	struct thread *from[3], *to;
	int in, found = 0;

	fake_all_up();
	to = thr(0, 0);
	in = (int)call(to, kc_mailbox_create(to, 1));
	for (unsigned i = 0; i < 3; i++) {
		int out;

		from[i] = thr(i + 1, 0);
		out = (int)call(from[i], kc_mailbox_open(from[i], 0, 1));
		expect_eq(call(from[i], kc_mailbox_write(from[i], out, text((int)i))), 0);
	}
	expect(in >= 0);
	for (unsigned n = 1; n <= 3; n++) {
		here = 0;
		expect(ikc_poll(&fake[0]->c));
		expect_eq(fake[0]->c.ikc.in[1].arrivals, n);
	}
	while (ikc_poll(&fake[0]->c))
		found++;
	expect_eq(found, 0);
}

/* A step without a reason does nothing, so that an idle home can sleep. */
TEST(nothing_is_looked_at_without_a_reason)
{
	fake_all_up();
	here = 0;
	fake_steps_left = 3;
	expect(!peers_poll(&fake[0]->c));
	fake_steps_left = -1ul;
}

int
main(void)
{
	fake_machine();
	RUN(of_deaths_at_once_each_step_takes_one_and_none_is_forgotten);
	RUN(a_death_while_a_look_is_under_way_is_noticed_behind_it_too);
	RUN(one_event_is_taken_at_a_time);
	RUN(nothing_is_looked_at_without_a_reason);
	fake_end();
	return TEST_FAILED;
}
