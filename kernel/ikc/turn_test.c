/* SPDX-License-Identifier: MIT
 *
 * Unit tests of portal ports that share connectors: four clusters played by one thread. Cluster 0
 * receives, the others send. A thread that was woken and does not come is one that the test does
 * not run.
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

/* cluster 1 + i sends to port i of cluster 0, which its thread i reads */
#define PAIRS 3
#define LONG (4 * FAKE_UNIT + 3)
#define LOOK_NS 1000000			/* a turn lasts that long at least */
#define LATE_LOOKS 5000

static unsigned char source[PAIRS][LONG], target[PAIRS][LONG];
static int in[PAIRS], out[PAIRS];

static struct thread *
reader(unsigned i)
{
	return thr(0, (int)i);
}

static struct thread *
writer(unsigned i)
{
	return thr(1 + i, 0);
}

static struct ikc_state *
state(void)
{
	return &fake[0]->c.ikc;
}

static void
connected(unsigned connectors)
{
	fake_portal_connectors = connectors;
	fake_all_up();
	for (unsigned i = 0; i < PAIRS; i++) {
		in[i] = (int)call(reader(i), kc_portal_create(reader(i), (int)i));
		out[i] = (int)call(writer(i), kc_portal_open(writer(i), 0, (int)i, 5));
		for (unsigned k = 0; k < LONG; k++)
			source[i][k] = (unsigned char)(k * 7 + (k >> 8) + i);
		memset(target[i], 0xee, LONG);
	}
}

static void
allow(unsigned i)
{
	expect_eq(call(reader(i), kc_portal_allow(reader(i), in[i], 1 + (int)i, 5)), 0);
}

static long
receive(unsigned i)
{
	return call(reader(i), kc_portal_read(reader(i), in[i], (unsigned long)target[i], LONG));
}

static long
send(unsigned i, size_t len)
{
	return call(writer(i), kc_portal_write(writer(i), out[i], (unsigned long)source[i], len));
}

/* Everything that home cores can do, and the threads other than this one. */
static void
pump_without(const struct thread *away)
{
	bool any;

	do {
		any = false;
		for (unsigned c = 0; c < FAKE_CLUSTERS; c++) {
			any |= fake_step(c, true);
			for (int i = 0; fake[c]->up && i < FAKE_THREADS; i++)
				any |= thr(c, i) != away && fake_finish(thr(c, i));
		}
	} while (any);
}

/* Looks at turns, so many as there are. */
static void
time_passes(unsigned looks, const struct thread *away)
{
	while (looks-- > 0) {
		fake_now += LOOK_NS;
		pump_without(away);
	}
}

static bool
is_done(unsigned i, long moved)
{
	return fake_result(reader(i)) == moved && fake_result(writer(i)) == moved &&
		memcmp(source[i], target[i], (size_t)moved) == 0;
}

/* Nobody has a connector or waits for one. */
static bool
all_are_idle(void)
{
	for (int p = 0; p < FAKE_PORTS; p++)
		if (state()->portal[p].connector != 0)
			return false;
	return list_is_empty(&state()->queue) && fake[0]->c.chores == 0 &&
		bitmap_count(state()->idle, state()->portal_slots) == state()->portal_slots;
}

TEST(transfers_take_turns)
{
	for (unsigned connectors = 1; connectors <= 2; connectors++) {
		connected(connectors);
		for (unsigned i = 0; i < PAIRS; i++) {
			allow(i);
			expect_eq(receive(i), -E_PARK);
		}
		pump();
		for (unsigned i = 0; i < PAIRS; i++)
			expect_eq(send(i, LONG), -E_PARK);
		pump();
		for (unsigned i = 0; i < PAIRS; i++)
			expect(is_done(i, LONG));
		expect(all_are_idle());
	}
}

/* With as many connectors as ports nothing is asked: a block comes before somebody reads. */
TEST(ports_with_slots_of_their_own_wait_for_nobody)
{
	connected(0);
	allow(0);
	pump();
	expect_eq(send(0, 5), -E_PARK);
	pump();
	expect_eq(state()->portal[0].state, PORTAL_FULL);
	expect_eq(receive(0), 5);
	pump();
	expect(is_done(0, 5));
}

TEST(what_nobody_reads_has_no_connector)
{
	connected(1);
	expect_eq(fake_bind(reader(0), EVENT_PORTAL, in[0], 3), 0);
	allow(0);
	pump();
	expect_eq(send(0, LONG), -E_PARK);
	pump();
	expect(all_are_idle());
	expect_eq(reader(0)->bits, 1 << 3);	/* there is something to read */
	allow(1);
	receive(1);
	send(1, LONG);
	pump();
	expect(is_done(1, LONG));
	receive(0);
	pump();
	expect(is_done(0, LONG));
}

/* A deadline passes while the port waits for its turn, or has it: who reads next gets the data. */
TEST(a_reader_that_leaves_is_followed_by_another)
{
	for (int granted = 0; granted < 2; granted++) {
		connected(1);
		expect_eq(fake_bind(reader(0), EVENT_PORTAL, in[0], 3), 0);
		allow(1);
		receive(1);
		pump();
		if (!granted) {
			send(1, LONG);
			pump_without(writer(1));	/* it has the connector */
		}
		allow(0);
		receive(0);
		pump_without(writer(1));
		send(0, LONG);
		pump_without(granted ? writer(0) : writer(1));
		reader(0)->bits = 0;
		fake_late(reader(0));
		pump_without(granted ? writer(0) : writer(1));
		expect_eq(fake_result(reader(0)), -E_TIMEDOUT);
		expect_eq(reader(0)->bits, 1 << 3);
		pump();
		expect(fake_is_parked(writer(0)));
		receive(0);
		pump();
		expect(is_done(0, LONG));
		expect(granted || is_done(1, LONG));
		expect(all_are_idle());
	}
}

/*
 * The writer whose turn it is does not come: the others go on after a while, and it does when it
 * comes.
 */
TEST(a_writer_that_does_not_come_loses_its_turn)
{
	connected(1);
	for (unsigned i = 0; i < 2; i++) {
		allow(i);
		receive(i);
	}
	pump();
	send(0, LONG);
	pump_without(writer(0));
	expect_eq(state()->portal[0].connector, 1);
	time_passes(3, writer(0));
	expect_eq(state()->portal[0].connector, 1);	/* nobody else wants it */
	send(1, LONG);
	pump_without(writer(0));
	expect(!is_done(1, LONG));
	time_passes(3, writer(0));
	expect(is_done(1, LONG));
	expect(all_are_idle());
	pump();
	expect(is_done(0, LONG));
}

/* The reader for whom a block has come does not come: the block is dropped, and put again. */
TEST(a_reader_that_does_not_come_loses_its_turn)
{
	for (unsigned block = 0; block < 4; block++) {
		connected(1);
		allow(0);
		receive(0);
		pump();
		send(0, LONG);
		while (state()->portal[0].state != PORTAL_FULL ||
			((struct wire_header *)hal_noc_slot(hal_noc_portal_slot(0)))->offset !=
			(uint64_t)block * FAKE_UNIT) {
			fake_step(1, true);
			fake_step(1, false);
			if (!fake_finish(reader(0)))
				fake_step(0, true);
			here = 0;
		}
		pump_without(reader(0));
		allow(1);
		receive(1);
		send(1, LONG);
		time_passes(4, reader(0));
		expect(is_done(1, LONG));
		expect(all_are_idle());
		pump();
		expect(is_done(0, LONG));
		expect(all_are_idle());
	}
}

/* Who needs more time for each turn than a turn lasts at first gets there while others wait. */
TEST(a_slow_writer_gets_there)
{
	unsigned looks = 0;

	connected(1);
	for (unsigned i = 0; i < 2; i++) {
		allow(i);
		receive(i);
	}
	pump();
	send(0, LONG);
	pump_without(writer(0));
	while (fake_is_parked(writer(0)) && looks < 2000) {
		if (!fake_is_parked(writer(1))) {
			if (!fake_is_parked(reader(1))) {
				allow(1);
				receive(1);
			}
			send(1, LONG);
		}
		time_passes(1, writer(0));
		if (looks++ % 20 == 19)		/* it comes that seldom */
			fake_finish(writer(0));
	}
	expect(looks < 2000);
	expect(is_done(0, LONG));
}

TEST(turns_begin_in_the_order_in_which_they_were_waited_for)
{
	static const unsigned order[] = {2, 0, 1};

	connected(1);
	allow(2);
	receive(2);
	pump();
	send(2, LONG);
	pump_without(writer(2));
	for (unsigned n = 1; n < PAIRS; n++) {
		allow(order[n]);
		receive(order[n]);
		pump_without(writer(2));
		send(order[n], 2 * FAKE_UNIT);
		pump_without(writer(2));
	}
	for (unsigned n = 0; n < PAIRS; n++) {
		expect_eq(state()->portal[order[n]].connector, 1);
		if (n == PAIRS - 1)
			break;
		for (int k = 0; k < 4; k++)
			fake_step(1 + order[n], k % 2 == 0);
		for (int k = 0; k < 4; k++)
			fake_step(0, true);
		fake_finish(reader(order[n]));
	}
	pump();
	for (unsigned i = 0; i < PAIRS; i++)
		expect(!fake_is_parked(reader(i)) && !fake_is_parked(writer(i)));
	expect(all_are_idle());
}

/* A write is started when its turn has come, and the turn is given back if nobody starts. */
TEST(a_write_is_started_in_its_turn)
{
	struct thread *w = writer(0);

	connected(1);
	expect_eq(fake_bind(w, EVENT_PORTAL, out[0], 4), 0);
	allow(0);
	pump();
	expect_eq(call(w, kc_portal_start(w, out[0], (unsigned long)source[0], LONG)), -E_AGAIN);
	w->bits = 0;
	pump();
	expect_eq(w->bits, 0);
	receive(0);
	pump();
	expect_eq(w->bits, 1 << 4);
	expect_eq(state()->portal[0].connector, 1);
	allow(1);
	receive(1);
	pump();
	send(1, LONG);
	time_passes(4, NULL);
	expect(is_done(1, LONG));
	expect(all_are_idle());
	w->bits = 0;
	expect_eq(call(w, kc_portal_start(w, out[0], (unsigned long)source[0], LONG)), -E_AGAIN);
	pump();
	expect_eq(w->bits, 1 << 4);
	expect_eq(call(w, kc_portal_start(w, out[0], (unsigned long)source[0], LONG)), 0);
	pump();
	expect_eq(call(w, kc_portal_wait(w, out[0])), -E_PARK);
	pump();
	expect(is_done(0, LONG));
	expect(all_are_idle());
}

/* A grant that is there is used by whoever writes. */
TEST(a_write_goes_at_once_when_its_turn_has_come)
{
	struct thread *w = writer(0);

	connected(1);
	allow(0);
	receive(0);
	pump();
	expect_eq(call(w, kc_portal_start(w, out[0], (unsigned long)source[0], 5)), -E_AGAIN);
	pump();
	expect_eq(send(0, 5), -E_PARK);
	expect_eq(w->transfer->state, PORTAL_WAITING);
	pump();
	expect(is_done(0, 5));
}

/* The same cluster sends and receives: answers come at once. */
TEST(a_cluster_sends_to_itself)
{
	struct thread *w, *first = thr(0, 4);
	int to[PAIRS];

	connected(1);
	for (unsigned i = 0; i < PAIRS; i++) {
		w = thr(0, 4 + (int)i);
		to[i] = (int)call(w, kc_portal_open(w, 0, (int)i, 1));
		expect_eq(call(reader(i), kc_portal_allow(reader(i), in[i], 0, 1)), 0);
		receive(i);
		expect_eq(call(w, kc_portal_start(w, to[i], (unsigned long)source[i], LONG)),
			i == 0 ? 0 : -E_AGAIN);
		if (i == 0)
			continue;
		/* nobody starts what it has asked for */
		expect_eq(call(w, fake_close(w, to[i])), 0);
	}
	expect_eq(call(first, kc_portal_wait(first, to[0])), -E_PARK);
	time_passes(12, NULL);
	expect_eq(fake_result(first), LONG);
	expect(memcmp(source[0], target[0], LONG) == 0);
	fake_process_ends(0, 0);
	pump();
	expect(all_are_idle());
}

/* Whoever has the connector dies, or its process ends: at each step of its transfer. */
TEST(the_end_of_who_has_the_connector_frees_it_at_any_moment)
{
	enum { WRITER_DIES, WRITER_ENDS, READER_LATE, READER_CLOSES, WRITER_LATE, KINDS };

	for (int kind = 0; kind < KINDS; kind++)
		for (int steps = 0; steps < 60; steps++) {
			connected(1);
			for (unsigned i = 0; i < 2; i++) {
				allow(i);
				receive(i);
			}
			pump();
			send(0, LONG);
			send(1, LONG);
			for (int i = 0; i < steps; i++)
				fake_step((unsigned)i / 2 % 3, i % 2);
			if (kind == WRITER_DIES)
				fake_kill(1, true);
			else if (kind == WRITER_ENDS)
				fake_process_ends(1, 0);
			else if (kind == READER_CLOSES)
				call(thr(0, 3), fake_close(thr(0, 3), in[0]));
			else if (kind == READER_LATE && reader(0)->state == THREAD_WAITING)
				fake_late(reader(0));
			else if (kind == WRITER_LATE && writer(0)->state == THREAD_WAITING)
				fake_late(writer(0));
			pump();
			time_passes(4, NULL);
			expect(is_done(1, LONG));
			expect(all_are_idle() || kind == READER_LATE);
			if (kind == READER_LATE && fake_is_parked(writer(0))) {
				if (state()->portal[0].state == PORTAL_IDLE)
					allow(0);
				receive(0);
				pump();
				expect(is_done(0, LONG));
			}
			expect(all_are_idle());
		}
}

/*
 * A kernel that takes a grant and says nothing: it counts as dead when others have waited very
 * long.
 */
TEST(a_kernel_that_keeps_a_connector_is_condemned)
{
	connected(1);
	for (unsigned i = 0; i < 2; i++) {
		allow(i);
		receive(i);
	}
	pump();
	send(0, LONG);
	while (state()->portal[0].connector == 0) {
		fake_step(1, true);
		fake_step(0, true);
	}
	fake[1]->up = false;			/* it does nothing any more, and nobody knows */
	send(1, LONG);
	pump();
	expect(!is_done(1, LONG));
	time_passes(LATE_LOOKS - 1, NULL);
	expect_eq(state()->peer[1].state, PEER_UP);
	expect(!is_done(1, LONG));
	time_passes(8, NULL);
	expect_eq(state()->peer[1].state, PEER_DEAD);
	expect_eq(fake_result(reader(0)), -E_HOSTDOWN);
	expect(is_done(1, LONG));
	expect(all_are_idle());
}

/* What no kernel says about connectors, or at a time when none says it. */
TEST(nonsense_about_connectors_harms_nobody)
{
	static const enum wire_kind kinds[] = {WIRE_ASK, WIRE_RETURN, WIRE_RETURNED, WIRE_NEXT,
		WIRE_DATA};

	connected(1);
	for (unsigned k = 0; k < 5; k++) {
		here = 1;
		hal_noc_notify(0, wire_event(kinds[k], 1, k == 3 ? 0 : 1));
		pump();
	}
	expect_eq(state()->peer[1].state, PEER_UP);
	allow(1);
	receive(1);
	pump();
	send(1, LONG);
	pump_without(writer(1));
	for (unsigned k = 0; k < 5; k++) {
		here = 1;				/* of a port whose sender is cluster 2 */
		hal_noc_notify(0, wire_event(kinds[k], 1, k == 3 ? 0 : 1));
		pump_without(writer(1));
	}
	pump();
	expect(is_done(1, LONG));
	here = 1;
	hal_noc_notify(0, wire_event(WIRE_NEXT, 1, 1));	/* there is no such connector */
	pump();
	expect_eq(state()->peer[1].state, PEER_DEAD);
	expect(all_are_idle());
	connected(0);
	here = 1;
	hal_noc_notify(0, wire_event(WIRE_ASK, 1, 0));	/* nor is there such an event here */
	pump();
	expect_eq(state()->peer[1].state, PEER_DEAD);
}

int
main(void)
{
	fake_machine();
	RUN(transfers_take_turns);
	RUN(ports_with_slots_of_their_own_wait_for_nobody);
	RUN(what_nobody_reads_has_no_connector);
	RUN(a_reader_that_leaves_is_followed_by_another);
	RUN(a_writer_that_does_not_come_loses_its_turn);
	RUN(a_reader_that_does_not_come_loses_its_turn);
	RUN(a_slow_writer_gets_there);
	RUN(turns_begin_in_the_order_in_which_they_were_waited_for);
	RUN(a_write_is_started_in_its_turn);
	RUN(a_write_goes_at_once_when_its_turn_has_come);
	RUN(a_cluster_sends_to_itself);
	RUN(the_end_of_who_has_the_connector_frees_it_at_any_moment);
	RUN(a_kernel_that_keeps_a_connector_is_condemned);
	RUN(nonsense_about_connectors_harms_nobody);
	fake_end();
	return TEST_FAILED;
}
