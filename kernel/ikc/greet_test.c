/* SPDX-License-Identifier: MIT
 *
 * Unit tests of clusters that start one after the other: whoever could not send to one that was not
 * up learns that it is.
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

/* A message from a thread of cluster 1 to a port of cluster 0. */
static long
send_to(struct thread *t, int port)
{
	static unsigned char msg[MAILBOX_MSG_SIZE];
	int out = (int)call(t, kc_mailbox_open(t, 0, port));
	long result = call(t, kc_mailbox_write(t, out, msg));

	pump();
	return result;
}

/* It stands in a list of its cluster then, and not in that of a slot. */
TEST(who_misses_several_slots_of_a_cluster_learns_that_it_is_up)
{
	struct thread *t = thr(1, 0);

	fake_machine();
	fake_boot(1);
	fake_bind(t, EVENT_ROOM, 0, 0);
	expect_eq(send_to(t, 5), -E_AGAIN);
	expect_eq(send_to(t, 6), -E_AGAIN);
	fake_boot(0);
	pump();
	expect_eq(fake_of(t)->wakeups, 1);
	expect_eq(send_to(t, 5), 0);
	expect_eq(send_to(t, 6), 0);
}

int
main(void)
{
	fake_machine();
	RUN(who_misses_several_slots_of_a_cluster_learns_that_it_is_up);
	fake_end();
	return TEST_FAILED;
}
