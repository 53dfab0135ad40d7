/* SPDX-License-Identifier: MIT
 *
 * Restart of clusters: nothing starts before all others have settled with the life before, whoever
 * of them dies meanwhile. Four clusters played by one thread.
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
/* test: cluster_restart cluster_state */
#include <kernel/ikc/fake.h>

static long
restart(int cluster)
{
	return call(thr(0, 0), kc_cluster_restart(thr(0, 0), 2, cluster));
}

static uint32_t
state_of(int cluster)
{
	struct cluster_state s;

	expect_eq(call(thr(0, 0), kc_cluster_state(thr(0, 0), cluster, &s)), 0);
	return s.state;
}

static uint32_t
life_of(int cluster)
{
	return fake[0]->c.ikc.peer[cluster].incarnation;
}

/* Nothing of a restart is left anywhere. */
static void
all_is_quiet(void)
{
	for (unsigned i = 0; i < FAKE_CLUSTERS; i++) {
		const struct ikc_state *s = &fake[i]->c.ikc;

		expect_eq(s->restarts + s->settling, 0);
		expect_eq(fake[i]->c.chores, 0);
		for (unsigned k = 0; k < FAKE_CLUSTERS; k++)
			expect_eq(s->peer[k].asked + s->peer[k].moving + s->peer[k].restart, 0);
	}
}

TEST(a_cluster_is_restarted_whether_it_lives_or_not)
{
	for (int slow = 0; slow < 2; slow++) {
		fake_all_up();
		fake_is_slow = slow;
		expect_eq(restart(2), 0);
		expect_eq(state_of(2), CLUSTER_STOPS);
		expect_eq(restart(2), -E_BUSY);
		pump();
		expect_eq(state_of(2), CLUSTER_UP);
		expect_eq(life_of(2), 2);
		fake_kill(2, true);
		pump();
		expect_eq(state_of(2), CLUSTER_DEAD);
		expect_eq(restart(2), 0);
		pump();
		expect_eq(life_of(2), 3);
		all_is_quiet();
	}
}

/*
 * A core of cluster 1 has leave to put a block into cluster 2's window. Until it comes back the
 * cluster does not start.
 */
TEST(nothing_starts_while_a_core_may_still_write_to_it)
{
	static unsigned char source[FAKE_UNIT];
	struct thread *w = thr(1, 2), *r = thr(2, 2);
	int in, out;

	fake_all_up();
	in = (int)call(r, kc_portal_create(r, 3));
	out = (int)call(w, kc_portal_open(w, 2, 3, 1));
	expect_eq(call(w, kc_portal_write(w, out, (unsigned long)source, FAKE_UNIT)), -E_PARK);
	expect_eq(call(r, kc_portal_allow(r, in, 1, 1)), 0);
	while (fake_step(1, true) | fake_step(2, true))
		;
	expect_eq(fake[1]->c.ikc.peer[2].moving, 1);
	expect_eq(restart(2), 0);
	for (int n = 0; n < 100; n++)
		for (unsigned i = 0; i < FAKE_CLUSTERS; i++)
			fake_step(i, true);
	expect_eq(state_of(2), CLUSTER_STOPS);
	expect_eq(fake[1]->c.ikc.settling, 2);
	pump();
	expect_eq(fake_result(w), -E_HOSTDOWN);
	expect_eq(state_of(2), CLUSTER_UP);
	all_is_quiet();
}

/* The same when its process ends instead. */
TEST(the_end_of_a_process_settles_what_it_was_about_to_write)
{
	static unsigned char source[FAKE_UNIT];
	struct thread *w = thr(1, 6), *r = thr(2, 2);
	int in, out;

	fake_all_up();
	in = (int)call(r, kc_portal_create(r, 3));
	out = (int)call(w, kc_portal_open(w, 2, 3, 1));
	expect_eq(call(w, kc_portal_write(w, out, (unsigned long)source, FAKE_UNIT)), -E_PARK);
	expect_eq(call(r, kc_portal_allow(r, in, 1, 1)), 0);
	while (fake_step(1, true) | fake_step(2, true))
		;
	expect_eq(restart(2), 0);
	for (int n = 0; n < 100; n++)
		for (unsigned i = 0; i < FAKE_CLUSTERS; i++)
			fake_step(i, true);
	expect_eq(state_of(2), CLUSTER_STOPS);
	fake_process_ends(1, 1);
	pump();
	expect_eq(state_of(2), CLUSTER_UP);
	all_is_quiet();
}

TEST(who_dies_before_it_has_settled_is_stopped_instead)
{
	for (int noticed = 0; noticed < 2; noticed++) {
		fake_all_up();
		fake_is_slow = noticed;
		fake[1]->up = false;		/* it hangs */
		expect_eq(restart(2), 0);
		pump();
		expect_eq(state_of(2), CLUSTER_STOPS);
		expect_eq(fake[0]->c.ikc.peer[1].asked, 2);
		here = 0;			/* home sleeps meanwhile */
		expect(!peers_poll(&fake[0]->c) && !peers_poll(&fake[0]->c));
		if (noticed) {
			fake_kill(1, true);
			pump();
			expect_eq(state_of(1), CLUSTER_DEAD);
		} else {
			expect_eq(restart(1), 0);
			pump();
			expect_eq(state_of(1), CLUSTER_UP);
		}
		expect_eq(state_of(2), CLUSTER_UP);
		all_is_quiet();
	}
	fake_is_slow = false;
}

TEST(all_others_can_be_restarted_at_once)
{
	for (int slow = 0; slow < 2; slow++) {
		fake_all_up();
		fake_is_slow = slow;
		for (int n = 0; n < 5; n++) {
			for (int i = 1; i < FAKE_CLUSTERS; i++)
				expect_eq(restart(i), 0);
			pump();
			for (int i = 1; i < FAKE_CLUSTERS; i++) {
				expect_eq(state_of(i), CLUSTER_UP);
				expect_eq(life_of(i), n + 2);
			}
		}
		all_is_quiet();
	}
	fake_is_slow = false;
}

/* One that has been started and does not come up: it hangs, or it dies at once. */
TEST(a_life_that_does_not_come_up_can_be_restarted)
{
	fake_all_up();
	for (int dies = 0; dies < 2; dies++) {
		expect_eq(restart(3), 0);
		while (!fake_starts[3])
			for (unsigned i = 0; i < FAKE_CLUSTERS - 1; i++)
				fake_step(i, true);
		fake_starts[3] = false;
		if (dies)
			hal_noc_mark_dead(3);
		pump();
		expect_eq(state_of(3), dies ? CLUSTER_DEAD : CLUSTER_STARTS);
		expect_eq(restart(3), 0);
		pump();
		expect_eq(state_of(3), CLUSTER_UP);
	}
	all_is_quiet();
}

static bool
is_condemned_for(unsigned by, unsigned from, uint32_t event)
{
	fake_all_up();
	here = from;
	expect_eq(hal_noc_notify(by, event), 0);
	pump();
	return fake[by]->c.ikc.peer[from].state == PEER_DEAD;
}

TEST(only_cluster_0_asks_and_is_answered)
{
	expect(is_condemned_for(1, 2, wire_event(WIRE_SETTLE, 3, 0)));
	expect(is_condemned_for(0, 2, wire_event(WIRE_SETTLE, 3, 0)));
	expect(is_condemned_for(1, 2, wire_event(WIRE_SETTLED, 3, 0)));
	expect(is_condemned_for(0, 2, wire_event(WIRE_SETTLED, 2, 0)));
	expect(is_condemned_for(0, 2, wire_event(WIRE_SETTLED, 0, 0)));
	expect(is_condemned_for(0, 2, wire_event(WIRE_SETTLED, FAKE_CLUSTERS, 0)));
	expect(is_condemned_for(1, 0, wire_event(WIRE_SETTLE, 1, 0)));
	expect(is_condemned_for(1, 0, wire_event(WIRE_SETTLE, 0, 0)));
	expect(!is_condemned_for(0, 2, wire_event(WIRE_SETTLED, 3, 0)));	/* too late */
	all_is_quiet();
}

/* An answer to an earlier question is none. */
TEST(an_answer_without_its_question_starts_nothing)
{
	fake_all_up();
	fake[1]->up = false;
	expect_eq(restart(2), 0);
	pump();
	here = 1;
	expect_eq(hal_noc_notify(0, wire_event(WIRE_SETTLED, 3, 0)), 0);
	expect_eq(hal_noc_notify(0, wire_event(WIRE_SETTLED, 2, 1)), 0);
	pump();
	expect_eq(state_of(2), CLUSTER_STOPS);
	here = 1;
	expect_eq(hal_noc_notify(0, wire_event(WIRE_SETTLED, 2, 0)), 0);
	pump();
	expect_eq(state_of(2), CLUSTER_UP);
}

int
main(void)
{
	fake_machine();
	RUN(a_cluster_is_restarted_whether_it_lives_or_not);
	RUN(nothing_starts_while_a_core_may_still_write_to_it);
	RUN(the_end_of_a_process_settles_what_it_was_about_to_write);
	RUN(who_dies_before_it_has_settled_is_stopped_instead);
	RUN(all_others_can_be_restarted_at_once);
	RUN(a_life_that_does_not_come_up_can_be_restarted);
	RUN(only_cluster_0_asks_and_is_answered);
	RUN(an_answer_without_its_question_starts_nothing);
	fake_end();
	return TEST_FAILED;
}
