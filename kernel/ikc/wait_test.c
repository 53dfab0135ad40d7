/* SPDX-License-Identifier: MIT
 *
 * Unit tests of what happens when many wait for one thing: they go on in the order in which they
 * came, a few at a time, and only as long as what they wait for is there; and what a cluster's
 * death means for all ports is done in short steps.
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

#define PORT 2
/* threads that one step wakes or tells, and one more that it is called for */
#define STEP_MOST 7
#define WAITERS (FAKE_THREADS - 1)	/* thread 0 does the rest */

static int out[FAKE_THREADS];

/*
 * Cluster 1 has the port; all threads of cluster 0 have opened it and the first has filled the
 * slot.
 */
static int
fill_slot(void)
{
	int in;

	fake_all_up();
	in = (int)call(thr(1, 0), kc_mailbox_create(thr(1, 0), PORT));
	for (int i = 0; i < FAKE_THREADS; i++)
		out[i] = (int)call(thr(0, i), kc_mailbox_open(thr(0, i), 1, PORT));
	expect_eq(call(thr(0, 0), kc_mailbox_write(thr(0, 0), out[0], text(0))), 0);
	pump();
	return in;
}

static void
all_wait(void)
{
	for (int i = 1; i <= WAITERS; i++)
		expect_eq(call(thr(0, i), kc_mailbox_wait(thr(0, i), out[i], 0)), -E_PARK);
}

static long
take(int in)
{
	unsigned char msg[MAILBOX_MSG_SIZE];

	return call(thr(1, 0), kc_mailbox_read(thr(1, 0), in, ANY_SOURCE_CLUSTER, msg,
		fake_sender()));
}

/* Threads of cluster 0 that are ready; each before `most` and none behind it. */
static int
ready_in_order(void)
{
	int n = 0;

	while (n < WAITERS && fake_of(thr(0, n + 1))->ready)
		n++;
	for (int i = n + 1; i <= WAITERS; i++)
		expect(!fake_of(thr(0, i))->ready);
	return n;
}

static bool
home_step(bool (*step)(struct cluster *))
{
	here = 0;
	return step(&fake[0]->c);
}

TEST(writers_go_on_in_order_a_few_at_a_time)
{
	int in = fill_slot(), before, now;

	all_wait();
	expect_eq(take(in), 0);
	expect(home_step(ikc_poll));
	now = ready_in_order();
	expect(now > 0 && now < WAITERS);
	do {
		before = now;
		expect(home_step(ikc_look));
		now = ready_in_order();
		expect(now - before <= STEP_MOST);
	} while (now < WAITERS);
	while (home_step(ikc_look))
		continue;
	expect_eq(fake[0]->c.chores, 0);
	pump();
	for (int i = 1; i <= WAITERS; i++)
		expect_eq(fake_result(thr(0, i)), 0);
}

TEST(who_comes_too_late_keeps_its_place)
{
	int in = fill_slot(), first;

	all_wait();
	expect_eq(take(in), 0);
	expect(home_step(ikc_poll));
	first = ready_in_order();
	expect(fake_finish(thr(0, 1)));
	expect_eq(call(thr(0, 1), kc_mailbox_write(thr(0, 1), out[1], text(1))), 0);
	expect_eq(call(thr(0, 1), kc_mailbox_wait(thr(0, 1), out[1], 0)), -E_PARK);
	pump();
	for (int i = 1; i <= WAITERS; i++)
		expect_eq(fake_is_parked(thr(0, i)), i == 1 || i > first);
	expect_eq(take(in), 0);
	expect(home_step(ikc_poll));
	expect(fake_of(thr(0, first + 1))->ready);
	pump();
	for (int i = 1; i <= WAITERS; i++)
		expect_eq(fake_result(thr(0, i)), 0);
}

TEST(a_wait_that_ends_otherwise_disturbs_no_look)
{
	int in = fill_slot();

	all_wait();
	expect_eq(take(in), 0);
	expect(home_step(ikc_poll));
	for (int i = 1; i <= WAITERS; i++)
		if (!fake_of(thr(0, i))->ready)
			fake_late(thr(0, i));
	expect(home_step(ikc_look));
	expect(!home_step(ikc_look));
	pump();
	expect_eq(fake_result(thr(0, WAITERS)), -E_TIMEDOUT);
	expect_eq(fake[0]->c.chores, 0);
}

TEST(readers_go_on_as_long_as_there_is_a_message)
{
	int in, to, first;
	unsigned char msg[MAILBOX_MSG_SIZE];

	fake_all_up();
	in = (int)call(thr(0, 0), kc_mailbox_create(thr(0, 0), PORT));
	to = (int)call(thr(1, 0), kc_mailbox_open(thr(1, 0), 0, PORT));
	for (int i = 1; i < FAKE_THREADS / 2; i++)
		expect_eq(call(thr(0, i), kc_mailbox_wait(thr(0, i), in, ANY_SOURCE_CLUSTER)),
			-E_PARK);
	for (int i = FAKE_THREADS / 2; i <= WAITERS; i++) {
		out[i] = fake_give(thr(0, 0), in, thr(0, i), RIGHTS_ALL);
		expect_eq(call(thr(0, i), kc_mailbox_wait(thr(0, i), out[i], 1)), -E_PARK);
	}
	expect_eq(call(thr(1, 0), kc_mailbox_write(thr(1, 0), to, text(1))), 0);
	expect(home_step(ikc_poll));
	first = ready_in_order();
	expect(first > 0 && first < WAITERS);
	expect_eq(call(thr(0, 0), kc_mailbox_read(thr(0, 0), in, ANY_SOURCE_CLUSTER, msg,
		fake_sender())), 1);
	pump();
	for (int i = 1; i <= WAITERS; i++)
		expect_eq(fake_is_parked(thr(0, i)), i > first);
	expect_eq(call(thr(1, 0), kc_mailbox_write(thr(1, 0), to, text(2))), 0);
	pump();
	for (int i = 1; i <= WAITERS; i++)
		expect_eq(fake_result(thr(0, i)), 0);
}

TEST(those_who_missed_a_slot_are_told_in_order_while_it_is_free)
{
	int in = fill_slot(), told = 0;

	for (int i = 1; i <= WAITERS; i++) {
		fake_bind(thr(0, i), EVENT_ROOM, 0, 0);
		expect_eq(call(thr(0, i), kc_mailbox_write(thr(0, i), out[i], text(i))), -E_AGAIN);
	}
	expect_eq(take(in), 0);
	expect(home_step(ikc_poll));
	while (told < WAITERS && fake_of(thr(0, told + 1))->wakeups == 1)
		told++;
	expect(told > 0 && told < WAITERS);
	expect_eq(call(thr(0, 1), kc_mailbox_write(thr(0, 1), out[1], text(1))), 0);
	pump();
	for (int i = 1; i <= WAITERS; i++)
		expect_eq(fake_of(thr(0, i))->wakeups, i <= told);
	expect_eq(take(in), 0);
	pump();
	for (int i = 2; i <= WAITERS; i++)
		expect_eq(fake_of(thr(0, i))->wakeups, 1);
	expect_eq(fake[0]->c.chores, 0);
}

TEST(who_misses_again_is_told_only_of_the_next_free_slot)
{
	int in = fill_slot(), other[FAKE_THREADS];
	int to3 = (int)call(thr(0, 0), kc_mailbox_open(thr(0, 0), 2, PORT));

	expect_eq(call(thr(0, 0), kc_mailbox_write(thr(0, 0), to3, text(0))), 0);
	for (int i = 1; i <= WAITERS; i++) {
		other[i] = (int)call(thr(0, i), kc_mailbox_open(thr(0, i), 2, PORT));
		fake_bind(thr(0, i), EVENT_ROOM, 0, 0);
		expect_eq(call(thr(0, i), kc_mailbox_write(thr(0, i), out[i], text(i))), -E_AGAIN);
		expect_eq(call(thr(0, i), kc_mailbox_write(thr(0, i), other[i], text(i))),
			-E_AGAIN);
	}
	expect_eq(take(in), 0);
	for (int n = 0; home_step(ikc_poll) | home_step(ikc_look); n++) {
		expect(n < 2 * FAKE_THREADS);
		for (int i = 1; i <= WAITERS; i++)
			expect_eq(call(thr(0, i), kc_mailbox_write(thr(0, i), other[i], text(i))),
				-E_AGAIN);
	}
	for (int i = 1; i <= WAITERS; i++)
		expect_eq(fake_of(thr(0, i))->wakeups, 1);
}

TEST(who_misses_one_slot_twice_is_told_of_the_other_too)
{
	int in = fill_slot();
	int to3 = (int)call(thr(0, 0), kc_mailbox_open(thr(0, 0), 2, PORT));

	expect_eq(call(thr(0, 0), kc_mailbox_write(thr(0, 0), to3, text(0))), 0);
	fake_bind(thr(0, 0), EVENT_ROOM, 0, 0);
	expect_eq(call(thr(0, 0), kc_mailbox_write(thr(0, 0), out[0], text(1))), -E_AGAIN);
	expect_eq(call(thr(0, 0), kc_mailbox_write(thr(0, 0), to3, text(1))), -E_AGAIN);
	expect_eq(call(thr(0, 0), kc_mailbox_write(thr(0, 0), to3, text(1))), -E_AGAIN);
	expect_eq(take(in), 0);
	pump();
	expect_eq(fake_of(thr(0, 0))->wakeups, 1);
}

TEST(a_slot_takes_memory_while_somebody_uses_it)
{
	struct mail_out **slot;
	size_t before;
	int in, to;

	fake_all_up();
	to = (int)call(thr(0, 0), kc_mailbox_open(thr(0, 0), 1, PORT + 1));
	before = fake[0]->c.all.used[QUOTA_BYTES];
	in = (int)call(thr(1, 0), kc_mailbox_create(thr(1, 0), PORT));
	expect_eq(call(thr(0, 0), fake_close(thr(0, 0), to)), 0);
	expect(fake[0]->c.all.used[QUOTA_BYTES] < before);
	to = (int)call(thr(0, 0), kc_mailbox_open(thr(0, 0), 1, PORT));
	slot = mail_out_at(&fake[0]->c, 1, PORT);
	expect(*slot != NULL);
	expect_eq(call(thr(0, 0), kc_mailbox_write(thr(0, 0), to, text(0))), 0);
	fake_bind(thr(0, 0), EVENT_ROOM, 0, 0);
	expect_eq(call(thr(0, 0), kc_mailbox_write(thr(0, 0), to, text(1))), -E_AGAIN);
	expect_eq(call(thr(0, 0), fake_close(thr(0, 0), to)), 0);
	expect_eq(fake_of(thr(0, 0))->wakeups, 1);
	expect(*slot == NULL);
	/* the message that was left there is known to the next */
	to = (int)call(thr(0, 0), kc_mailbox_open(thr(0, 0), 1, PORT));
	expect_eq(call(thr(0, 0), kc_mailbox_write(thr(0, 0), to, text(1))), -E_AGAIN);
	expect_eq(call(thr(0, 0), fake_close(thr(0, 0), to)), 0);
	pump();
	expect_eq(take(in), 0);
	pump();
	to = (int)call(thr(0, 0), kc_mailbox_open(thr(0, 0), 1, PORT));
	expect_eq(call(thr(0, 0), kc_mailbox_write(thr(0, 0), to, text(1))), 0);
	expect_eq(call(thr(0, 0), fake_close(thr(0, 0), to)), 0);
	pump();
	expect_eq(take(in), 0);
	/* a mailbox that is closed unused leaves nothing */
	to = (int)call(thr(0, 0), kc_mailbox_open(thr(0, 0), 1, PORT));
	expect(*slot != NULL);
	expect_eq(call(thr(0, 0), fake_close(thr(0, 0), to)), 0);
	expect(*slot == NULL);
	expect(fake[0]->c.all.used[QUOTA_BYTES] < before);
}

/* test: handle_revoke */
TEST(all_waits_through_a_revoked_view_end)
{
	int view;

	fill_slot();
	view = (int)handle_duplicate(&thr(0, 0)->proc->handles, out[0], &thr(0, 0)->proc->handles,
		RIGHTS_ALL | HANDLE_VIEW);
	for (int i = 1; i <= WAITERS; i++) {
		out[i] = i < FAKE_THREADS / 2 ? view :
			fake_give(thr(0, 0), view, thr(0, i), RIGHTS_ALL);
		expect_eq(call(thr(0, i), kc_mailbox_wait(thr(0, i), out[i], 0)), -E_PARK);
	}
	expect_eq(call(thr(0, 0), fake_revoke(thr(0, 0), view)), 0);
	pump();
	for (int i = 1; i < FAKE_THREADS / 2; i++)
		/* through the handle that has revoked */
		expect_eq(fake_is_parked(thr(0, i)), true);
	for (int i = FAKE_THREADS / 2; i <= WAITERS; i++)
		expect_eq(fake_result(thr(0, i)), -E_BADF);
}

/* What a step does is counted by the threads that it wakes. */
static int
ready_count(void)
{
	int n = 0;

	for (int i = 0; i < FAKE_THREADS; i++)
		n += fake_of(thr(0, i))->ready + fake_of(thr(0, i))->wakeups;
	return n;
}

TEST(a_death_is_told_in_steps_and_the_processes_hear_of_it_first)
{
	int before = 0, steps = 0;

	fill_slot();
	for (int i = 1; i < FAKE_THREADS / 2; i++)
		expect_eq(call(thr(0, i), kc_mailbox_wait(thr(0, i), out[i], 0)), -E_PARK);
	for (int i = FAKE_THREADS / 2; i <= WAITERS; i++)
		expect_eq(call(thr(0, i), kc_cluster_watch(thr(0, i), 1)), -E_PARK);
	fake_kill(1, true);
	while (home_step(peers_poll) | home_step(ikc_poll) | home_step(ikc_look)) {
		expect(ready_count() - before <= 2 * STEP_MOST);
		before = ready_count();
		expect(before == 0 || fake[0]->events[0].clusters_dead == 1);
		steps++;
	}
	expect(steps >= FAKE_PORTS);
	expect_eq(before, WAITERS);
	pump();
	for (int i = 1; i <= WAITERS; i++)
		expect_eq(fake_result(thr(0, i)), -E_HOSTDOWN);
}

/* Its death and its next life are noticed at once. */
TEST(a_restart_ends_the_waits_for_the_past_life)
{
	int in;

	fill_slot();
	in = (int)call(thr(0, 0), kc_mailbox_create(thr(0, 0), PORT));
	expect_eq(call(thr(0, 1), kc_mailbox_wait(thr(0, 1), out[1], 0)), -E_PARK);
	expect_eq(call(thr(0, 2), kc_mailbox_wait(thr(0, 2), in, 1)), -E_PARK);
	expect_eq(call(thr(0, 3), kc_cluster_watch(thr(0, 3), 1)), -E_PARK);
	expect_eq(call(thr(0, 4), kc_mailbox_write(thr(0, 4), out[4], text(4))), -E_AGAIN);
	fake_boot(1);
	pump();
	expect_eq(fake_result(thr(0, 1)), -E_CONNRESET);
	expect_eq(fake_result(thr(0, 2)), -E_HOSTDOWN);
	expect_eq(fake_result(thr(0, 3)), -E_HOSTDOWN);
	expect_eq(call(thr(0, 4), kc_mailbox_write(thr(0, 4), out[4], text(4))), -E_CONNRESET);
	expect_eq(call(thr(0, 0), kc_mailbox_write(thr(0, 0), out[0], text(4))), -E_CONNRESET);
	expect_eq(fake[0]->c.chores, 0);
}

/* The first message of a new life makes us notice it, and is not lost meanwhile. */
TEST(an_event_of_a_new_life_waits_until_all_know_of_it)
{
	unsigned char msg[MAILBOX_MSG_SIZE];
	int in, to;

	fake_all_up();
	in = (int)call(thr(0, 0), kc_mailbox_create(thr(0, 0), PORT));
	fake_boot(1);
	here = 1;
	while (ikc_poll(&fake[1]->c))
		continue;
	to = (int)call(thr(1, 0), kc_mailbox_open(thr(1, 0), 0, PORT));
	expect_eq(call(thr(1, 0), kc_mailbox_write(thr(1, 0), to, text(1))), 0);
	expect(home_step(ikc_poll));
	expect_eq(call(thr(0, 0), kc_mailbox_read(thr(0, 0), in, 1, msg, fake_sender())), -E_AGAIN);
	pump();
	expect_eq(call(thr(0, 0), kc_mailbox_read(thr(0, 0), in, 1, msg, fake_sender())), 1);
	expect_eq(call(thr(0, 0), kc_mailbox_read(thr(0, 0), in, 1, msg, fake_sender())), -E_AGAIN);
}

/* Closing refuses what nobody has read in steps; the next life of the port gets none of it. */
TEST(messages_of_a_closed_port_are_refused_later_and_never_read)
{
	unsigned char msg[MAILBOX_MSG_SIZE];
	int in, to[FAKE_CLUSTERS], next;

	fake_all_up();
	in = (int)call(thr(0, 0), kc_mailbox_create(thr(0, 0), PORT));
	for (int i = 0; i < FAKE_CLUSTERS; i++) {
		to[i] = (int)call(thr(i, 1), kc_mailbox_open(thr(i, 1), 0, PORT));
		expect_eq(call(thr(i, 1), kc_mailbox_write(thr(i, 1), to[i], text(i))), 0);
	}
	pump();
	here = 0;
	fake[0]->c.ikc.looking = queue_watchers(0);
	/* a look is under way: nothing begins at once */
	list_push_front(&fake[0]->c.ikc.peer[0].watchers, &fake[0]->c.ikc.mark);
	fake[0]->c.chores++;
	expect_eq(call(thr(0, 0), fake_close(thr(0, 0), in)), 0);
	next = (int)call(thr(0, 0), kc_mailbox_create(thr(0, 0), PORT));
	expect(next > 0);
	expect_eq(call(thr(0, 0), kc_mailbox_read(thr(0, 0), next, ANY_SOURCE_CLUSTER, msg,
		fake_sender())), -E_AGAIN);
	pump();
	expect_eq(call(thr(0, 0), kc_mailbox_read(thr(0, 0), next, ANY_SOURCE_CLUSTER, msg,
		fake_sender())), -E_AGAIN);
	for (int i = 0; i < FAKE_CLUSTERS; i++)
		expect_eq(call(thr(i, 1), kc_mailbox_write(thr(i, 1), to[i], text(i))), -E_PIPE);
	expect_eq(fake[0]->c.chores, 0);
}

/* Of a past life there may be as many as one likes: they are not gone through. */
TEST(a_port_has_no_more_output_portals_than_local_ports)
{
	struct portal_allow *a;
	int open = 0;

	fake_all_up();
	for (int life = 0; life < 4; life++) {
		for (int local = FAKE_PORTS - 1; local >= 0; local--) {
			int id = (int)call(thr(0, 0), kc_portal_open(thr(0, 0), 1, PORT, local));

			expect_eq(call(thr(0, 0), kc_portal_write(thr(0, 0), id, 4096, 1)),
				-E_PARK);
			pump();
			fake_late(thr(0, 0));
			pump();
		}
		fake_boot(1);
		pump();
	}
	a = portal_allow_at(&fake[0]->c, 1, PORT);
	for (const struct endpoint *ep = a->endpoints; ep != NULL; ep = ep->next, open++)
		expect(ep->next == NULL || ep->local_port < ep->next->local_port);
	expect_eq(open, FAKE_PORTS);
	expect_eq(ikc_ends(&fake[0]->c.ikc, CLASS_PORTAL), 4 * FAKE_PORTS);
	fake_process_ends(0, 0);
	expect_eq(ikc_ends(&fake[0]->c.ikc, CLASS_PORTAL), 0);
	expect(a->endpoints == NULL);
}

int
main(void)
{
	fake_machine();
	RUN(writers_go_on_in_order_a_few_at_a_time);
	RUN(who_comes_too_late_keeps_its_place);
	RUN(a_wait_that_ends_otherwise_disturbs_no_look);
	RUN(readers_go_on_as_long_as_there_is_a_message);
	RUN(those_who_missed_a_slot_are_told_in_order_while_it_is_free);
	RUN(who_misses_again_is_told_only_of_the_next_free_slot);
	RUN(who_misses_one_slot_twice_is_told_of_the_other_too);
	RUN(a_slot_takes_memory_while_somebody_uses_it);
	RUN(all_waits_through_a_revoked_view_end);
	RUN(a_death_is_told_in_steps_and_the_processes_hear_of_it_first);
	RUN(a_restart_ends_the_waits_for_the_past_life);
	RUN(an_event_of_a_new_life_waits_until_all_know_of_it);
	RUN(messages_of_a_closed_port_are_refused_later_and_never_read);
	RUN(a_port_has_no_more_output_portals_than_local_ports);
	fake_end();
	return TEST_FAILED;
}
