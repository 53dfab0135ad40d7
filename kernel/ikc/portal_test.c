/* SPDX-License-Identifier: MIT
 *
 * Unit tests of portals: four clusters played by one thread.
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
/* test: portal_start portal_wait */
#include <kernel/ikc/fake.h>

#define LONG (10 * FAKE_UNIT + 3)

static unsigned char source[LONG], target[LONG];

static int
input(struct thread *t, int port)
{
	return (int)call(t, kc_portal_create(t, port));
}

static int
output(struct thread *t, int cluster, int port, int local)
{
	return (int)call(t, kc_portal_open(t, cluster, port, local));
}

static long
allow(struct thread *t, int id, int cluster, int local)
{
	return call(t, kc_portal_allow(t, id, cluster, local));
}

static long
send(struct thread *t, int id, size_t len)
{
	return call(t, kc_portal_write(t, id, (unsigned long)source, len));
}

static long
receive(struct thread *t, int id, size_t len)
{
	return call(t, kc_portal_read(t, id, (unsigned long)target, len));
}

static void
fill(unsigned seed)
{
	for (size_t i = 0; i < LONG; i++)
		source[i] = (unsigned char)(i * 7 + (i >> 8) + seed);
	memset(target, 0xee, LONG);
}

static bool
arrived(size_t len)
{
	for (size_t i = len; i < LONG; i++)
		if (target[i] != 0xee)
			return false;
	return memcmp(source, target, len) == 0;
}

static int in, out;

/* Sender: cluster 1, thread 0, local port 4; receiver: cluster 0, thread 0, port 2. */
static void
connected(void)
{
	fake_all_up();
	in = input(thr(0, 0), 2);
	out = output(thr(1, 0), 0, 2, 4);
	fill(1);
}

static bool
ports_are_idle(void)
{
	for (int c = 0; c < FAKE_CLUSTERS; c++) {
		const struct ikc_state *s = &fake[c]->c.ikc;

		for (int p = 0; fake[c]->up && p < FAKE_PORTS; p++)
			if (s->portal[p].state != PORTAL_IDLE || s->portal[p].connector != 0)
				return false;
		if (fake[c]->up && (!list_is_empty(&s->queue) ||
			bitmap_count(s->idle, s->portal_slots) != s->portal_slots))
			return false;
	}
	return true;
}

/* test: portal_create, portal_open, portal_allow, portal_read, portal_write */
TEST(bad_arguments_are_refused)
{
	struct thread *t = thr(0, 0), *other = thr(0, 4);
	int id, o, again;

	fake_all_up();
	expect_eq(input(t, -1), -E_INVAL);
	expect_eq(input(t, FAKE_PORTS), -E_INVAL);
	expect_eq(output(t, FAKE_CLUSTERS, 0, 0), -E_INVAL);
	expect_eq(output(t, 1, FAKE_PORTS, 0), -E_INVAL);
	expect_eq(output(t, 1, 0, -1), -E_INVAL);
	id = input(t, 1);
	o = output(t, 1, 1, 1);
	expect_eq(input(other, 1), -E_BUSY);
	again = output(t, 1, 1, 1);
	expect(again > 0 && again != o);
	expect_eq(output(other, 1, 1, 1), -E_BUSY);
	expect_eq(allow(t, id, FAKE_CLUSTERS, 0), -E_INVAL);
	expect_eq(allow(t, id, -1, 0), -E_INVAL);
	expect_eq(allow(t, id, 1, FAKE_PORTS), -E_INVAL);
	expect_eq(allow(t, o, 1, 1), -E_BADF);
	expect_eq(allow(other, id, 1, 1), -E_BADF);
	expect_eq(receive(t, o, 1), -E_BADF);
	expect_eq(receive(t, -1, 1), -E_BADF);
	expect_eq(send(t, id, 1), -E_BADF);
	expect_eq(send(other, o, 1), -E_BADF);
	expect_eq(send(t, o, (size_t)-1), -E_INVAL);
	expect_eq(receive(t, id, (size_t)-5), -E_INVAL);
	expect_eq(receive(t, id, 1), -E_ACCES);
	expect_eq(allow(t, id, 1, 1), 0);
	expect_eq(allow(t, id, 1, 1), -E_BUSY);
	expect_eq(call(t, fake_close(t, o)), 0);
	expect_eq(call(t, fake_close(t, o)), -E_BADF);
	expect_eq(ikc_ends(&fake[0]->c.ikc, CLASS_PORTAL), 2);
	expect_eq(call(t, fake_close(t, again)), 0);
	expect_eq(ikc_ends(&fake[0]->c.ikc, CLASS_PORTAL), 1);
}

static void
transfer(unsigned cluster, size_t sent, size_t wanted)
{
	struct thread *r = thr(0, 0), *s = thr(cluster, cluster == 0 ? 1 : 0);
	size_t moved = sent < wanted ? sent : wanted;
	bool reader_first = (sent + wanted) % 2;
	int id = input(r, 3), o = output(s, 0, 3, 5);

	fill((unsigned)sent);
	if (reader_first) {
		expect_eq(allow(r, id, (int)cluster, 5), 0);
		expect_eq(receive(r, id, wanted), -E_PARK);
		pump();
		send(s, o, sent);
	} else {
		expect_eq(send(s, o, sent), -E_PARK);
		pump();
		expect_eq(allow(r, id, (int)cluster, 5), 0);
		pump();
		expect(fake_is_parked(s));
		receive(r, id, wanted);
	}
	pump();
	expect_eq(fake_result(s), (long)moved);
	expect_eq(fake_result(r), (long)moved);
	expect(arrived(moved));
	expect_eq(receive(r, id, 1), -E_ACCES);
	expect_eq(call(r, fake_close(r, id)), 0);
	expect_eq(call(s, fake_close(s, o)), 0);
}

TEST(any_length_is_moved_whole_or_cut_to_the_shorter)
{
	static const size_t sizes[] = {0, 1, FAKE_UNIT - 1, FAKE_UNIT, FAKE_UNIT + 1, 2 * FAKE_UNIT,
		LONG};

	fake_all_up();
	for (size_t i = 0; i < 7; i++)
		for (size_t j = 0; j < 7; j++) {
			transfer(1, sizes[i], sizes[j]);
			transfer(0, sizes[i], sizes[j]);
		}
	expect(ports_are_idle());
	expect_eq(ikc_ends(&fake[0]->c.ikc, CLASS_PORTAL) + ikc_ends(&fake[1]->c.ikc, CLASS_PORTAL),
		0);
}

TEST(only_the_allowed_sender_transfers)
{
	struct thread *r = thr(0, 0), *s2 = thr(2, 0);
	int out2;

	connected();
	out2 = output(s2, 0, 2, 4);
	expect_eq(send(s2, out2, 5), -E_PARK);
	expect_eq(send(thr(1, 0), out, LONG), -E_PARK);
	allow(r, in, 1, 4);
	expect_eq(receive(r, in, LONG), -E_PARK);
	pump();
	expect_eq(fake_result(r), LONG);
	expect(arrived(LONG));
	expect(fake_is_parked(s2));
	allow(r, in, 2, 4);
	receive(r, in, LONG);
	pump();
	expect_eq(fake_result(s2), 5);
	expect_eq(fake_result(r), 5);
}

TEST(one_thread_at_a_time_uses_a_side)
{
	struct thread *r = thr(0, 0), *r2 = thr(0, 1), *s = thr(1, 0), *s2 = thr(1, 1);

	connected();
	allow(r, in, 1, 4);
	expect_eq(receive(r, in, LONG), -E_PARK);
	expect_eq(receive(r2, in, LONG), -E_BUSY);
	send(s, out, LONG);
	expect_eq(send(s2, out, LONG), -E_BUSY);
	pump();
	expect_eq(fake_result(s), LONG);
	expect_eq(fake_result(r), LONG);
}

TEST(a_fault_on_one_side_ends_the_transfer_on_both)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0);

	connected();
	allow(r, in, 1, 4);
	expect_eq(receive(r, in, LONG), -E_PARK);
	pump();
	expect_eq(call(s, kc_portal_write(s, out, 64, LONG)), -E_FAULT);
	pump();
	expect_eq(fake_result(r), -E_PIPE);
	allow(r, in, 1, 4);
	send(s, out, LONG);
	pump();
	call(r, kc_portal_read(r, in, 64, LONG));
	pump();
	expect_eq(fake_result(r), -E_FAULT);
	expect_eq(fake_result(s), -E_PIPE);
	expect(ports_are_idle());
	allow(r, in, 1, 4);
	send(s, out, LONG);
	receive(r, in, LONG);
	pump();
	expect_eq(fake_result(r), LONG);
	expect(arrived(LONG));
}

/* Let a transfer run for some steps and stop there. */
static void
half_way(int steps)
{
	connected();
	allow(thr(0, 0), in, 1, 4);
	receive(thr(0, 0), in, LONG);
	send(thr(1, 0), out, LONG);
	for (int i = 0; i < steps; i++)
		fake_step((unsigned)i / 2 % 2, i % 2);
}

TEST(the_end_of_the_reader_at_any_moment_frees_the_writer_and_the_port)
{
	for (int steps = 0; steps < 90; steps++) {
		struct thread *s = thr(1, 0), *r2 = thr(0, 4);
		int id;

		half_way(steps);
		fake_process_ends(0, 0);
		pump();
		if (!fake_is_parked(s))
			expect(fake_result(s) == -E_PIPE || fake_result(s) == LONG);
		else
			expect_eq(s->transfer->state, PORTAL_ALLOWED);
		expect(ports_are_idle());
		id = input(r2, 2);
		expect_eq(allow(r2, id, 1, 4), 0);
		fill(2);
		receive(r2, id, LONG);
		if (!fake_is_parked(s))
			send(s, out, LONG);
		pump();
		expect_eq(fake_result(s), LONG);
		expect_eq(fake_result(r2), LONG);
		expect(arrived(LONG));
	}
}

TEST(the_end_of_the_writer_at_any_moment_frees_the_reader)
{
	for (int steps = 0; steps < 90; steps++) {
		struct thread *s2 = thr(1, 4), *r = thr(0, 0);
		int o;

		half_way(steps);
		fake_process_ends(1, 0);
		pump();
		o = output(s2, 0, 2, 4);
		if (!fake_is_parked(r)) {
			expect(fake_result(r) == -E_PIPE || fake_result(r) == LONG);
			allow(r, in, 1, 4);
			receive(r, in, LONG);
		}
		fill(2);
		send(s2, o, LONG);
		pump();
		expect_eq(fake_result(r), LONG);
		expect(arrived(LONG));
		expect(ports_are_idle());
	}
}

/*
 * The handle that a call goes through: closed, or its view revoked, while another handle keeps the
 * portal.
 */
enum loss { CLOSED, REVOKED, LOSSES };

static void
lose(struct thread *t, int handle, int view, enum loss how)
{
	struct handles *handles = &t->proc->handles;

	here = t->cluster->id;
	expect_eq(how == CLOSED ? handle_close(handles, handle) : handle_revoke(handles, view), 0);
}

TEST(a_handle_that_is_gone_at_any_moment_ends_the_transfer_once)
{
	for (int steps = 0; steps < 90; steps++)
		for (int what = 0; what < 2 * LOSSES; what++) {
			struct thread *loser = thr((unsigned)what % 2, 0),
				*other = thr(1 - (unsigned)what % 2, 0);
			int *handle = what % 2 ? &out : &in, view = 0, kept;
			enum loss how = (enum loss)(what / 2);

			connected();
			here = loser->cluster->id;
			kept = *handle;
			view = (int)handle_duplicate(&loser->proc->handles, kept,
				&loser->proc->handles, RIGHTS_ALL | HANDLE_VIEW);
			*handle = (int)handle_duplicate(&loser->proc->handles, view,
				&loser->proc->handles, RIGHT_READ | RIGHT_WRITE);
			allow(thr(0, 0), what % 2 ? in : kept, 1, 4);
			receive(thr(0, 0), in, LONG);
			send(thr(1, 0), out, LONG);
			for (int i = 0; i < steps; i++)
				fake_step((unsigned)i / 2 % 2, i % 2);
			lose(loser, *handle, view, how);
			pump();
			expect(!fake_is_parked(loser));
			expect(fake_result(loser) == -E_BADF || fake_result(loser) == LONG ||
				fake_result(loser) == -E_PIPE);
			expect(loser->transfer == NULL);
			/* the portal is as good as new for who has a handle */
			*handle = kept;
			if (!fake_is_parked(other)) {
				expect(fake_result(other) == -E_PIPE || fake_result(other) == LONG);
				if (fake[0]->c.ikc.portal[2].state == PORTAL_IDLE)
					expect_eq(allow(thr(0, 0), in, 1, 4), 0);
			}
			/* a writer that still waits has perhaps put its first block */
			fill(1);
			if (!fake_is_parked(thr(0, 0)))
				receive(thr(0, 0), in, LONG);
			if (!fake_is_parked(thr(1, 0)))
				send(thr(1, 0), out, LONG);
			pump();
			expect_eq(fake_result(thr(0, 0)), LONG);
			expect_eq(fake_result(thr(1, 0)), LONG);
			expect(arrived(LONG));
		}
}

/* While its core moves a block, the last handle goes: the portal is closed after the block. */
TEST(a_portal_without_handles_is_closed_after_the_block)
{
	for (int steps = 0; steps < 90; steps++)
		for (unsigned what = 0; what < 4; what++) {
			unsigned side = what % 2;
			struct thread *t = thr(side, 0);

			half_way(steps);
			here = side;
			expect_eq(handle_close(&t->proc->handles, side ? out : in), 0);
			if (what > 1)		/* the process ends before the block does */
				fake_process_ends(side, 0);
			pump();
			expect(what > 1 || !fake_is_parked(t));
			expect_eq(ikc_ends(&fake[side]->c.ikc, CLASS_PORTAL), 0);
			expect(t->transfer == NULL);
			t = thr(1 - side, 0);
			expect(fake_is_parked(t) || fake_result(t) == -E_PIPE ||
				fake_result(t) == LONG);
			if (what < 2)
				fake_process_ends(side, 0);
			fake_process_ends(1 - side, 0);
			pump();
			expect(ports_are_idle());
		}
}

TEST(the_death_of_a_cluster_at_any_moment_ends_the_transfer)
{
	for (int steps = 0; steps < 90; steps++)
		for (unsigned dead = 0; dead < 2; dead++) {
			struct thread *left = thr(1 - dead, 0);

			half_way(steps);
			fake_kill(dead, true);
			pump();
			expect(!fake_is_parked(left));
			expect(fake_result(left) == -E_HOSTDOWN || fake_result(left) == LONG);
			expect(ports_are_idle());
		}
}

TEST(the_restart_of_a_cluster_at_any_moment_ends_the_transfer)
{
	for (int steps = 0; steps < 90; steps++)
		for (unsigned dead = 0; dead < 2; dead++) {
			struct thread *left = thr(1 - dead, 0), *fresh = thr(dead, 0);

			half_way(steps);
			fake_kill(dead, false);
			fake_boot(dead);
			pump();
			expect(!fake_is_parked(left));
			expect(fake_result(left) == -E_CONNRESET || fake_result(left) == LONG);
			if (dead == 0) {
				in = input(fresh, 2);
				expect_eq(send(left, out, 1), -E_CONNRESET);
				call(left, fake_close(left, out));
				out = output(left, 0, 2, 4);
			} else {
				out = output(fresh, 0, 2, 4);
			}
			fill(3);
			allow(thr(0, 0), in, 1, 4);
			receive(thr(0, 0), in, LONG);
			send(thr(1, 0), out, LONG);
			pump();
			expect_eq(fake_result(left), LONG);
			expect_eq(fake_result(fresh), LONG);
			expect(arrived(LONG));
		}
}

TEST(an_allowance_waits_for_the_sender_and_its_cluster)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0);

	fake_machine();
	fake_boot(0);
	in = input(r, 2);
	fill(4);
	expect_eq(allow(r, in, 1, 4), 0);
	expect_eq(receive(r, in, LONG), -E_PARK);
	fake_boot(1);
	pump();
	out = output(s, 0, 2, 4);
	send(s, out, LONG);
	pump();
	expect_eq(fake_result(r), LONG);
	expect_eq(fake_result(s), LONG);
	fake_kill(1, true);
	pump();
	expect_eq(allow(r, in, 1, 4), -E_HOSTDOWN);
}

TEST(a_writer_waits_for_a_cluster_that_is_not_up_yet)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0);

	fake_machine();
	fake_boot(1);
	out = output(s, 0, 2, 4);
	fill(5);
	expect_eq(send(s, out, LONG), -E_PARK);
	fake_boot(0);
	pump();
	in = input(r, 2);
	allow(r, in, 1, 4);
	receive(r, in, LONG);
	pump();
	expect_eq(fake_result(r), LONG);
	expect_eq(fake_result(s), LONG);
}

/* --- writes that are started --- */

static long
start(struct thread *t, int id, size_t len)
{
	return call(t, kc_portal_start(t, id, (unsigned long)source, len));
}

static long
wait_for(struct thread *t, int id)
{
	return call(t, kc_portal_wait(t, id));
}

TEST(a_write_is_started_and_completed_later)
{
	static const size_t lens[] = {0, 1, FAKE_UNIT, FAKE_UNIT + 1, LONG};
	struct thread *r = thr(0, 0), *s = thr(1, 0);
	int in, out;

	fake_all_up();
	in = input(r, 2);
	out = output(s, 0, 2, 3);
	for (unsigned i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		fill(i);
		expect_eq(start(s, out, lens[i]), -E_AGAIN);
		expect_eq(wait_for(s, out), -E_INVAL);
		expect_eq(allow(r, in, 1, 3), 0);
		pump();
		expect_eq(start(s, out, lens[i]), 0);
		expect_eq(receive(r, in, LONG), -E_PARK);
		pump();
		expect_eq(fake_is_parked(r), lens[i] > FAKE_UNIT);
		if (fake_is_parked(r)) {
			expect_eq(wait_for(s, out), -E_PARK);
			pump();
			expect_eq(fake_result(s), lens[i]);
		} else {
			expect_eq(wait_for(s, out), lens[i]);
		}
		expect_eq(fake_result(r), lens[i]);
		expect(arrived(lens[i]));
		expect_eq(wait_for(s, out), -E_INVAL);
	}
}

/* The thread can do anything else meanwhile, and is told when there is something to do. */
TEST(a_thread_waits_for_others_while_its_write_is_under_way)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0);
	int in, out, mail;

	fake_all_up();
	fill(1);
	in = input(r, 2);
	out = output(s, 0, 2, 3);
	mail = (int)call(s, kc_mailbox_create(s, 1));
	expect_eq(fake_bind(s, EVENT_PORTAL, out, 4), 0);
	allow(r, in, 1, 3);
	pump();
	s->bits = 0;
	expect_eq(start(s, out, LONG), 0);
	expect_eq(call(s, kc_mailbox_wait(s, mail, ANY_SOURCE_CLUSTER)), -E_PARK);
	receive(r, in, LONG);
	pump();
	expect(fake_is_parked(s));
	expect_eq(s->bits, 16);
	fake_late(s);
	pump();
	expect_eq(fake_result(s), -E_TIMEDOUT);
	expect_eq(wait_for(s, out), -E_PARK);
	pump();
	expect_eq(fake_result(s), LONG);
	expect(arrived(LONG));
}

TEST(a_deadline_leaves_a_write_started)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0);
	int in, out;

	fake_all_up();
	fill(2);
	in = input(r, 2);
	out = output(s, 0, 2, 3);
	allow(r, in, 1, 3);
	pump();
	start(s, out, LONG);
	for (int i = 0; i < 2; i++) {
		expect_eq(wait_for(s, out), -E_PARK);
		pump();
		fake_late(s);
		pump();
		expect_eq(fake_result(s), -E_TIMEDOUT);
	}
	receive(r, in, LONG);
	pump();
	expect_eq(wait_for(s, out), -E_PARK);
	pump();
	expect_eq(fake_result(s), LONG);
	expect_eq(fake_result(r), LONG);
	expect(arrived(LONG));
}

TEST(a_thread_takes_part_in_one_transfer)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0), *other = thr(1, 1);
	int in, out, second, own;

	fake_all_up();
	fill(3);
	in = input(r, 2);
	out = output(s, 0, 2, 3);
	second = output(s, 0, 4, 3);
	own = input(s, 6);
	allow(r, in, 1, 3);
	allow(s, own, 2, 2);
	pump();
	expect_eq(start(s, out, FAKE_UNIT), 0);
	expect_eq(start(s, out, 1), -E_BUSY);
	expect_eq(send(s, out, 1), -E_BUSY);
	expect_eq(send(s, second, 1), -E_BUSY);
	expect_eq(receive(s, own, 1), -E_BUSY);
	expect_eq(send(other, out, 1), -E_BUSY);
	expect_eq(start(other, out, 1), -E_BUSY);
	expect_eq(wait_for(other, out), -E_INVAL);
	expect_eq(wait_for(s, second), -E_INVAL);
	expect_eq(wait_for(s, own), -E_BADF);
	receive(r, in, LONG);
	pump();
	expect_eq(wait_for(s, out), FAKE_UNIT);
	expect(arrived(FAKE_UNIT));
}

/* What ends a write that was started, at each stage: before and after the first block was taken. */
enum end { HANDLE_GONE, THREAD_GONE, PROCESS_GONE, READER_GONE, PEER_DEAD_NOW, PEER_RESTARTED,
	ENDS };

static void
end_in_the_middle(enum end how, bool taken)
{
	static const long wanted[ENDS] = {-E_BADF, 0, 0, -E_PIPE, -E_HOSTDOWN, -E_CONNRESET};
	struct thread *r = thr(0, 0), *s = thr(1, 0);
	int in, out;

	fake_all_up();
	fill(4);
	in = input(r, 2);
	out = output(s, 0, 2, 3);
	allow(r, in, 1, 3);
	pump();
	expect_eq(start(s, out, LONG), 0);
	if (taken)
		receive(r, in, LONG);
	pump();
	if (how == HANDLE_GONE)
		call(s, fake_close(s, out));
	else if (how == THREAD_GONE)
		call(s, portal_abandon(s, 0));
	else if (how == PROCESS_GONE)
		fake_process_ends(1, 0);
	else if (how == READER_GONE)
		fake_process_ends(0, 0);
	else
		fake_kill(0, how == PEER_DEAD_NOW);
	if (how == PEER_RESTARTED)
		fake_boot(0);
	pump();
	if (wanted[how] != 0)
		expect_eq(wait_for(s, out), wanted[how]);
	else if (taken)
		expect_eq(fake_result(r), -E_PIPE);
	expect(s->transfer == NULL);
	if (how != THREAD_GONE && how != PROCESS_GONE && how != HANDLE_GONE)
		expect_eq(wait_for(s, out), -E_INVAL);
	if (how <= PROCESS_GONE)
		expect_eq(fake[0]->c.ikc.portal[2].state, taken ? PORTAL_IDLE : PORTAL_ABORTED);
	expect_eq(ikc_ends(&fake[1]->c.ikc, CLASS_PORTAL), how > PROCESS_GONE ||
		how == THREAD_GONE);
}

TEST(writes_that_are_started_end_with_what_they_need)
{
	for (int how = 0; how < ENDS; how++) {
		end_in_the_middle((enum end)how, false);
		end_in_the_middle((enum end)how, true);
	}
}

TEST(a_start_that_cannot_read_its_memory_ends_the_transfer)
{
	struct thread *r = thr(0, 0), *s = thr(1, 0);
	int in, out;

	fake_all_up();
	in = input(r, 2);
	out = output(s, 0, 2, 3);
	allow(r, in, 1, 3);
	pump();
	expect_eq(receive(r, in, LONG), -E_PARK);
	expect_eq(call(s, kc_portal_start(s, out, 8, 100)), -E_FAULT);
	pump();
	expect_eq(fake_result(r), -E_PIPE);
	expect_eq(wait_for(s, out), -E_INVAL);
	expect_eq(call(s, kc_portal_start(s, out, 8, ~0ul)), -E_INVAL);
	expect_eq(call(s, kc_portal_start(s, 77, 8, 1)), -E_BADF);
	expect_eq(wait_for(s, 77), -E_BADF);
}

/* Whether or not ports share connectors. */
static void
run_all(void)
{
	RUN(bad_arguments_are_refused);
	RUN(any_length_is_moved_whole_or_cut_to_the_shorter);
	RUN(only_the_allowed_sender_transfers);
	RUN(one_thread_at_a_time_uses_a_side);
	RUN(the_end_of_the_reader_at_any_moment_frees_the_writer_and_the_port);
	RUN(the_end_of_the_writer_at_any_moment_frees_the_reader);
	RUN(a_handle_that_is_gone_at_any_moment_ends_the_transfer_once);
	RUN(a_portal_without_handles_is_closed_after_the_block);
	RUN(the_death_of_a_cluster_at_any_moment_ends_the_transfer);
	RUN(the_restart_of_a_cluster_at_any_moment_ends_the_transfer);
	RUN(an_allowance_waits_for_the_sender_and_its_cluster);
	RUN(a_writer_waits_for_a_cluster_that_is_not_up_yet);
}

int
main(void)
{
	fake_machine();
	run_all();
	fake_portal_connectors = 1;
	run_all();
	fake_portal_connectors = 0;
	RUN(a_fault_on_one_side_ends_the_transfer_on_both);
	RUN(a_write_is_started_and_completed_later);
	RUN(a_thread_waits_for_others_while_its_write_is_under_way);
	RUN(a_deadline_leaves_a_write_started);
	RUN(a_thread_takes_part_in_one_transfer);
	RUN(writes_that_are_started_end_with_what_they_need);
	RUN(a_start_that_cannot_read_its_memory_ends_the_transfer);
	fake_end();
	return TEST_FAILED;
}
