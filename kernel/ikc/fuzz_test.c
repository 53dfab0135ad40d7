/* SPDX-License-Identifier: MIT
 *
 * Three honest clusters and a bad one (badpeer.h) on one NoC. The honest ones exchange messages and
 * blocks with each other, which must all arrive whole and in order (tests/golden/mailbox.h), and
 * talk to the bad one, which may fail in any way that has an end. No look around of a home core
 * takes more than STEPS operations; nobody panics; a bad life is condemned at most once by each
 * cluster. When the bad cluster is gone at last, nobody waits for it any more, and when all
 * processes have ended, nothing is left in any table.
 *
 * usage: fuzz_test [SEEDS [FIRST]]
 */
/*
 * needs: kernel/ikc/ikc.c kernel/ikc/endpoint.c kernel/ikc/wait.c kernel/ikc/peer.c
 * kernel/ikc/restart.c kernel/ikc/watch.c kernel/ikc/sync.c kernel/ikc/sync_event.c
 * kernel/ikc/channel.c kernel/ikc/mailbox.c kernel/ikc/mail_in.c kernel/ikc/mail_out.c
 * kernel/ikc/mail_credit.c kernel/ikc/stats.c kernel/ikc/portal.c kernel/ikc/portal_event.c
 * kernel/ikc/portal_turn.c kernel/ikc/portal_move.c hal/noc/shm/noc.c hal/noc/shm/events.c
 * hal/noc/shm/window.c base/bitmap.c kernel/object/handle.c kernel/object/quota.c
 * kernel/object/slab.c kernel/mem/frame.c hal/noc/shm/console.c */
/* cpu: coroutine */
/* gate: 300 */
#include <unistd.h>
#include <tests/hostile/badpeer.h>
#include <tests/hostile/hostile.h>
#include <tests/golden/mailbox.h>
#include <tests/golden/sync.h>

#define ACTIONS 60			/* per seed */
#define STEPS 4000			/* of one look around; more than all tables together need */
/* of looks around until all is quiet: of 6,000 seeds one takes between 400 and 450, no other 350 */
#define ROUNDS 1000
/* mailbox ports; portal ports of the honest clusters among themselves */
#define PORTS 4
#define LONG (3 * FAKE_UNIT + 7)
#define LOOKS 6000			/* at turns that do not end; then a kernel is condemned */

/*
 * Threads of each honest cluster: 0 to 2 serve honest traffic, the others talk to the bad cluster,
 * each in its own way.
 */
enum { MAILER, WRITER, READER, MEETER, BAD_READER = FAKE_THREADS / 2, BAD_WRITER, BAD_WAITER,
	BAD_WATCHER };

static struct golden_mailbox golden[HONEST][PORTS];
static int in[HONEST][PORTS];
static int out[HONEST][FAKE_CLUSTERS][PORTS];
static int bad_in[HONEST], bad_out[HONEST], bad_mail[HONEST];
static long written[HONEST];		/* bytes of the last write to the bad cluster */
static struct golden_sync to_one, to_all[HONEST];
static int sync_one[HONEST], sync_all[HONEST], bad_sync_in[HONEST], bad_sync_out[HONEST];
static int made[HONEST], taken[HONEST], with_bad[HONEST], from_bad[HONEST];	/* channels */
static unsigned char source[LONG], target[LONG + 1], sink[LONG];
static unsigned long seed, seeds = 6000, first = 1;

/* At the end, however it comes. */
static void
tell_seed(void)
{
	printf(seed < first + seeds ? "seed %lu\n" : "all seeds below %lu\n", seed);
	fflush(stdout);
}

void __sanitizer_set_death_callback(void (*callback)(void));

/* --- the machine goes on --- */

static bool
look_around(unsigned cluster)
{
	bool any;

	fake_steps_left = STEPS;
	any = fake_step(cluster, true);
	fake_steps_left = -1ul;
	return any | fake_step(cluster, false);
}

static void
console_is_read(void)
{
	char text[100];

	here = 0;
	fake_steps_left = STEPS;
	for (unsigned c = 1; c < FAKE_CLUSTERS; c++) {
		int ready = hal_noc_console_ready(c);

		expect(ready <= WINDOW_CONSOLE_BYTES);
		if (ready < 0)
			ikc_condemn(&fake[0]->c, c, "has spoilt its console ring");
		else
			hal_noc_console_read(c, text, sizeof(text));
	}
	fake_steps_left = -1ul;
}

/* Everything happens that can, while the bad cluster makes `moves` moves. */
static void
settle(unsigned moves)
{
	unsigned quiet = 0, rounds = 0;

	while (quiet < HONEST || moves > 0) {
		if (moves > 0 && draw(2)) {
			bad_move();
			moves--;
		}
		quiet = look_around(rounds++ % HONEST) ? 0 : quiet + 1;
		if (rounds > ROUNDS) {
			printf("FAIL the machine does not come to rest\n");
			exit(1);
		}
	}
	for (unsigned c = 0; c < HONEST; c++)
		expect(!fake[c]->c.ikc.peer[BAD].overrun);
}

/* --- mailboxes --- */

static void
open_mail(unsigned cluster)
{
	struct thread *t = thr(cluster, MAILER);

	for (int p = 0; p < PORTS; p++) {
		in[cluster][p] = (int)call(t, kc_mailbox_create(t, p));
		golden_mailbox_init(&golden[cluster][p]);
		for (int c = 0; c < FAKE_CLUSTERS; c++)
			out[cluster][c][p] = (int)call(t, kc_mailbox_open(t, c, p));
	}
}

static void
write_mail(void)
{
	unsigned from = draw(HONEST), to = draw(HONEST), port = draw(PORTS);
	struct thread *t = thr(from, MAILER);
	int number = (int)draw(1000000);
	long result = call(t, kc_mailbox_write(t, out[from][to][port], text(number)));

	expect_eq(result, golden_mailbox_write(&golden[to][port], (int)from, number) == 0 ? 0 :
		-E_AGAIN);
}

/* Fails, or does what it likes; a mailbox that broke is opened again. */
static void
write_bad_mail(void)
{
	unsigned from = draw(HONEST), port = draw(PORTS);
	struct thread *t = thr(from, MAILER);
	long result = call(t, kc_mailbox_write(t, out[from][BAD][port], text(1)));

	expect(result == 0 || result == -E_AGAIN || result == -E_PIPE || result == -E_HOSTDOWN ||
		result == -E_CONNRESET);
	if (result == 0 || result == -E_AGAIN)
		return;
	expect_eq(call(t, fake_close(t, out[from][BAD][port])), 0);
	out[from][BAD][port] = (int)call(t, kc_mailbox_open(t, BAD, (int)port));
}

/* Whoever looks at the slot finds it changed. */
static void
change_slot(char *at)
{
	if (draw(3) == 0)
		*(uint16_t *)(void *)((uintptr_t)at / 2 * 2) = (uint16_t)odd_word();
}

static long
read_mail(unsigned at, unsigned port, int wanted, char *msg)
{
	struct thread *t = thr(at, MAILER);
	bool is_hostile = wanted == BAD && draw(2);
	long result;

	if (is_hostile)
		hostile_begin((char *)bad_mail_slot(at,
			*mail_at(&fake[at]->c, BAD, port) & WIRE_PLACE,
			port, BAD), WINDOW_MAIL_BYTES, change_slot);
	result = call(t, kc_mailbox_read(t, in[at][port], wanted, msg, fake_sender()));
	if (is_hostile)
		hostile_end();
	return result;
}

static void
read_one(unsigned at, unsigned port, int wanted)
{
	char msg[MAILBOX_MSG_SIZE];
	long result = read_mail(at, port, wanted, msg);
	int number;

	if (result == -E_AGAIN && wanted != BAD && fake_connectors != 0) {
		settle(0);		/* it comes now that there is room, or somebody wants it */
		result = read_mail(at, port, wanted, msg);
	}
	if (result == BAD || (result == -E_AGAIN && wanted == BAD))
		return;
	if (result == -E_AGAIN) {
		if (wanted == ANY_SOURCE_CLUSTER)
			expect(golden_mailbox_is_empty(&golden[at][port]));
		else
			expect_eq(golden_mailbox_read(&golden[at][port], wanted, &number),
				GOLDEN_AGAIN);
		return;
	}
	expect(result >= 0 && result < HONEST &&
		golden_mailbox_read(&golden[at][port], (int)result, &number) == 0);
	if (test_state.wrong == 0)
		expect(memcmp(msg, text(number), MAILBOX_MSG_SIZE) == 0);
}

/* --- portals --- */

/* The bad one may have the connector, until it counts as dead. */
static void
wait_for_turns(const struct thread *reader, const struct thread *writer)
{
	for (int n = 0; n < LOOKS && fake_portal_connectors != 0 &&
		(fake_is_parked(reader) || fake_is_parked(writer)); n++) {
		fake_now += 1000000;
		settle(0);
	}
}

/* One whole transfer between honest clusters, in the middle of what the bad one does. */
static void
transfer(void)
{
	unsigned from = draw(HONEST), to = draw(HONEST), port = draw(PORTS), len = draw(LONG + 1);
	struct thread *writer = thr(from, WRITER), *reader = thr(to, READER);
	int input = (int)call(reader, kc_portal_create(reader, (int)port));
	int output = (int)call(writer, kc_portal_open(writer, (int)to, (int)port, (int)from));

	for (unsigned i = 0; i < len; i++)
		source[i] = (unsigned char)draw(256);
	memset(target, 0xee, sizeof(target));
	expect_eq(call(reader, kc_portal_allow(reader, input, (int)from, (int)from)), 0);
	call(reader, kc_portal_read(reader, input, (unsigned long)target, len));
	call(writer, kc_portal_write(writer, output, (unsigned long)source, len));
	settle(2);
	wait_for_turns(reader, writer);
	expect_eq(fake_result(reader), len);
	expect_eq(fake_result(writer), len);
	expect(memcmp(source, target, len) == 0 && target[len] == 0xee);
	expect_eq(call(reader, fake_close(reader, input)), 0);
	expect_eq(call(writer, fake_close(writer, output)), 0);
}

/* --- sync points --- */

/* A wait at an end, if it need not last. */
static long
try_sync(unsigned cluster, int sync)
{
	struct thread *t = thr(cluster, MAILER);
	long result = call(t, kc_sync_wait(t, sync));

	if (result != -E_PARK)
		return result;
	fake_late(t);
	fake_step(cluster, false);
	return fake_result(t);
}

/* Cluster 0 waits for the others at port 0, and signals them at port 1. */
static void
open_syncs(unsigned c)
{
	static const uint8_t list[HONEST] = {0, 1, 2};
	struct thread *t = thr(c, MAILER);

	sync_one[c] = (int)(c == 0 ? call(t, kc_sync_create(t, SYNC_ALL_TO_ONE, 0, list, HONEST)) :
		call(t, kc_sync_open(t, SYNC_ALL_TO_ONE, 0, list, HONEST)));
	sync_all[c] = (int)(c == 0 ? call(t, kc_sync_open(t, SYNC_ONE_TO_ALL, 1, list, HONEST)) :
		call(t, kc_sync_create(t, SYNC_ONE_TO_ALL, 1, list, HONEST)));
	expect(sync_one[c] > 0 && sync_all[c] > 0);
	to_one = (struct golden_sync){.wanted = 6};
	to_all[c] = (struct golden_sync){.wanted = 1};
}

static void
meet_all_to_one(unsigned c)
{
	struct thread *t = thr(c, MAILER);

	if (c == 0)
		expect_eq(try_sync(0, sync_one[0]), golden_sync_take(&to_one) ? 0 : -E_TIMEDOUT);
	else
		expect_eq(call(t, kc_sync_signal(t, sync_one[c])),
			golden_sync_signal(&to_one, c) ? 0 : -E_AGAIN);
}

static void
meet_one_to_all(unsigned c)
{
	struct thread *t = thr(c, MAILER);
	bool may = to_all[1].pending == 0 && to_all[2].pending == 0;

	if (c != 0) {
		expect_eq(try_sync(c, sync_all[c]),
			golden_sync_take(&to_all[c]) ? 0 : -E_TIMEDOUT);
		return;
	}
	expect_eq(call(t, kc_sync_signal(t, sync_all[0])), may ? 0 : -E_AGAIN);
	if (may)
		to_all[1].pending = to_all[2].pending = 1;
}

/* Waits for the bad cluster, or signals it; an end that broke is made again. */
static void
meet_bad(unsigned c)
{
	const uint8_t list[2] = {(uint8_t)c, BAD};
	struct thread *t = thr(c, MEETER);
	int *end = draw(2) ? &bad_sync_in[c] : &bad_sync_out[c];
	bool in = end == &bad_sync_in[c];
	long result;

	if (fake_is_parked(t))
		return;
	if (*end <= 0)
		*end = (int)(in ? call(t, kc_sync_create(t, SYNC_ALL_TO_ONE, 6, list, 2)) :
			call(t, kc_sync_open(t, SYNC_ONE_TO_ALL, 7, list, 2)));
	if (!in && draw(2))
		result = call(t, kc_sync_signal(t, *end));
	else
		result = call(t, kc_sync_wait(t, *end));
	expect(result == 0 || result == -E_PARK || result == -E_AGAIN || result == -E_PIPE ||
		result == -E_HOSTDOWN || result == -E_CONNRESET);
	if (result != 0 && result != -E_PARK && result != -E_AGAIN) {
		expect_eq(call(t, fake_close(t, *end)), 0);
		*end = 0;
	}
}

/* Channels: of each honest cluster one with the next honest one, and one with the bad one. */
static void
drop_channel(struct thread *t, int *ch)
{
	if (*ch > 0)
		expect_eq(call(t, fake_close(t, *ch)), 0);
	*ch = 0;
}

static void
channel_between_honest(unsigned from)
{
	unsigned to = (from + 1) % HONEST;
	struct thread *maker = thr(from, MAILER), *taker = thr(to, MAILER);
	uint32_t number;

	drop_channel(maker, &made[from]);
	drop_channel(taker, &taken[from]);
	settle(0);
	made[from] = (int)call(maker,
		kc_channel_create(maker, out[from][to][0], 1 + (int)draw(2), &number));
	settle(draw(3));
	if (made[from] == -E_NOSPC || made[from] == -E_NOMEM)	/* the bad one has them */
		return;
	expect(made[from] > 0);
	taken[from] = (int)call(taker, kc_channel_open(taker, in[to][0], (int)from, number));
	expect(taken[from] > 0);
	taker->bits = 0;
	expect_eq(fake_bind(taker, EVENT_CHANNEL, taken[from], 7), 0);
	expect_eq(call(maker, kc_channel_wake(maker, made[from])), 0);
	settle(draw(3));
	expect(taker->bits & 1 << 7);
}

/* Whatever the bad one says of it. */
static void
channel_with_bad(unsigned cluster)
{
	struct thread *t = thr(cluster, BAD_WAITER), *reader = thr(cluster, MAILER);
	long result = 0;
	uint32_t number;

	if (fake_is_parked(t))
		return;
	if (draw(3) == 0)
		drop_channel(t, &with_bad[cluster]);
	if (draw(3) == 0)
		drop_channel(reader, &from_bad[cluster]);
	if (with_bad[cluster] <= 0)
		with_bad[cluster] = (int)call(t,
			kc_channel_create(t, bad_mail[cluster], 1, &number));
	else
		result = call(t, kc_channel_wake(t, with_bad[cluster]));
	if (from_bad[cluster] <= 0)
		from_bad[cluster] = (int)call(reader, kc_channel_open(reader,
			in[cluster][draw(PORTS)], BAD, draw(FAKE_CHANNELS + 1)));
	else
		call(reader, kc_channel_wake(reader, from_bad[cluster]));
	expect(result == 0 || result == -E_PIPE || result == -E_HOSTDOWN);
}

static void
open_bad_ends(unsigned cluster)
{
	struct thread *reader = thr(cluster, BAD_READER), *writer = thr(cluster, BAD_WRITER),
		*waiter = thr(cluster, BAD_WAITER);

	bad_in[cluster] = (int)call(reader, kc_portal_create(reader, BAD_PORTS));
	bad_out[cluster] = (int)call(writer,
		kc_portal_open(writer, BAD, BAD_PORTS + 1, (int)draw(3)));
	bad_mail[cluster] = (int)call(waiter, kc_mailbox_open(waiter, BAD, 0));
	fake_of(reader)->result = fake_of(writer)->result = 0;
	bad_sync_in[cluster] = bad_sync_out[cluster] = 0;
	made[cluster] = taken[cluster] = with_bad[cluster] = from_bad[cluster] = 0;
}

static void
read_bad_portal(struct thread *t, unsigned cluster)
{
	expect(fake_result(t) <= LONG);
	call(t, kc_portal_allow(t, bad_in[cluster], BAD, (int)draw(3)));
	call(t, kc_portal_read(t, bad_in[cluster], (unsigned long)sink, LONG));
}

/* Whatever the bad cluster says, it has taken no more than there was. */
static void
write_bad_portal(struct thread *t, unsigned cluster)
{
	unsigned len = draw(LONG);
	long e;

	expect(fake_result(t) <= written[cluster]);
	if (fake_result(t) == -E_CONNRESET) {
		call(t, fake_close(t, bad_out[cluster]));
		bad_out[cluster] = (int)call(t,
			kc_portal_open(t, BAD, BAD_PORTS + 1, (int)draw(3)));
	}
	if (draw(2)) {
		expect(call(t, kc_portal_wait(t, bad_out[cluster])) <= written[cluster]);
		if (fake_is_parked(t))
			return;
		e = call(t, kc_portal_start(t, bad_out[cluster], (unsigned long)sink, len));
	} else {
		e = call(t, kc_portal_write(t, bad_out[cluster], (unsigned long)sink, len));
	}
	if (e != -E_BUSY)
		written[cluster] = len;
}

static void
wait_for_bad_slot(struct thread *t, unsigned cluster)
{
	if (call(t, kc_mailbox_write(t, bad_mail[cluster], text(2))) == -E_AGAIN)
		call(t, kc_mailbox_wait(t, bad_mail[cluster], ANY_SOURCE_CLUSTER));
	if (fake_is_parked(t) || fake_result(t) >= 0)
		return;
	call(t, fake_close(t, bad_mail[cluster]));
	bad_mail[cluster] = (int)call(t, kc_mailbox_open(t, BAD, 0));
}

static void
talk(unsigned cluster, int who)
{
	struct thread *t = thr(cluster, who);

	if (fake_is_parked(t))
		return;
	if (who == BAD_READER)
		read_bad_portal(t, cluster);
	else if (who == BAD_WRITER)
		write_bad_portal(t, cluster);
	else if (who == BAD_WAITER)
		wait_for_bad_slot(t, cluster);
	else
		call(t, kc_cluster_watch(t, BAD));
}

/* Whoever is not busy with the bad cluster goes to it again. */
static void
talk_to_bad(void)
{
	for (unsigned c = 0; c < HONEST; c++)
		for (int who = BAD_READER; who < FAKE_THREADS; who++)
			if (draw(2))
				talk(c, who);
}

/* --- one seed --- */

static void
act(void)
{
	uint32_t what = draw(100);

	if (what < 30)
		write_mail();
	else if (what < 60)
		read_one(draw(HONEST), draw(PORTS), (int)draw(FAKE_CLUSTERS + 1) - 1);
	else if (what < 68)
		write_bad_mail();
	else if (what < 74)
		transfer();
	else if (what < 76)
		console_is_read();
	else if (what < 81)
		meet_all_to_one(draw(HONEST));
	else if (what < 86)
		meet_one_to_all(draw(HONEST));
	else if (what < 88)
		meet_bad(draw(HONEST));
	else if (what < 89)
		channel_between_honest(draw(HONEST));
	else if (what < 92)
		channel_with_bad(draw(HONEST));
	else
		talk_to_bad();
	fake_now += draw(2000000);
}

/* The last word on the bad cluster: somebody else finds it dead. */
static void
bad_ends(void)
{
	bad_window(BAD)->magic = WINDOW_MAGIC;
	bad_window(BAD)->state = WINDOW_UP;
	fake[BAD]->up = false;
	here = 0;
	hal_noc_mark_dead(BAD);
	settle(0);
	for (unsigned c = 0; c < HONEST; c++) {
		expect_eq(fake[c]->c.ikc.peer[BAD].state, PEER_DEAD);
		for (int i = MEETER; i < FAKE_THREADS; i++)
			expect(!fake_is_parked(thr(c, i)));
	}
}

static bool
is_claimed(uint32_t incarnation)
{
	for (unsigned c = 0; c < HONEST; c++)
		if (fake[c]->c.ikc.peer[BAD].incarnation == incarnation)
			return true;
	return false;
}

/*
 * Cluster 0 restarts it: until it has stopped it does what it likes. Its next life, which it cannot
 * have claimed, is a right kernel's; and then a bad one takes its place.
 */
static void
bad_is_restarted(void)
{
	fake_is_slow = draw(2);
	here = 0;
	expect_eq(kc_cluster_restart(thr(0, 0), 0, BAD), 0);
	for (uint32_t n = fake_is_slow ? draw(8) : 0; n > 0; n--)
		bad_move();
	settle(0);
	expect(fake_starts[BAD]);
	fake_starts[BAD] = false;
	while (is_claimed(fake_record.cluster[BAD].incarnation + 1))
		fake_record.cluster[BAD].incarnation++;
	fake_boot(BAD);
	settle(0);
	for (unsigned c = 0; c < HONEST; c++)
		expect_eq(fake[c]->c.ikc.peer[BAD].state, PEER_UP);
	bad_start();
	for (int n = 0; n < ACTIONS / 4 && test_state.wrong == 0; n++) {
		act();
		settle(draw(4));
	}
}

static void
nothing_is_left(unsigned cluster)
{
	struct ikc_state *s = &fake[cluster]->c.ikc;

	expect_eq(ikc_ends(&fake[cluster]->c.ikc, CLASS_MAILBOX) + ikc_ends(&fake[cluster]->c.ikc,
		CLASS_PORTAL) +
		ikc_ends(&fake[cluster]->c.ikc, CLASS_SYNC) + s->backlog_count, 0);
	expect(list_is_empty(&s->missed));
	expect_eq(fake[cluster]->c.chores, s->period_ns != 0);
	for (unsigned p = 0; p < FAKE_CHANNELS; p++)
		expect(s->own[p] == NULL || s->own[p]->peer == BAD);
	for (unsigned peer = 0; peer < FAKE_CLUSTERS; peer++)
		expect_eq(s->peer[peer].channels, 0);
	for (int p = 0; p < FAKE_PORTS; p++)
		expect(s->portal[p].state == PORTAL_IDLE && s->portal[p].connector == 0);
	expect_eq(bitmap_count(s->idle, s->portal_slots), s->portal_slots);
	expect(list_is_empty(&s->queue));
}

static void
all_ends(void)
{
	for (unsigned c = 0; c < HONEST; c++)
		for (unsigned p = 0; p < PORTS; p++)
			for (int n = 0; n < 2 * FAKE_CLUSTERS; n++) {
				read_one(c, p, ANY_SOURCE_CLUSTER);
				settle(0);
			}
	for (unsigned c = 0; c < HONEST; c++)
		for (unsigned p = 0; p < PORTS; p++)
			expect(golden_mailbox_is_empty(&golden[c][p]));
	settle(0);
	for (unsigned c = 0; c < HONEST; c++) {
		fake_process_ends(c, 0);
		fake_process_ends(c, 1);
	}
	settle(0);
	for (unsigned c = 0; c < HONEST; c++)
		nothing_is_left(c);
}

static void
one_seed(void)
{
	bad_state = (uint32_t)seed * 2654435761u + 1;
	fake_connectors = draw(3);
	fake_portal_connectors = draw(3);
	fake_machine();
	fake_record.heartbeat_ms = draw(2);
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++)
		fake_boot(c);
	bad_start();
	settle(0);
	for (unsigned c = 0; c < HONEST; c++) {
		open_mail(c);
		open_syncs(c);
		open_bad_ends(c);
	}
	for (int n = 0; n < ACTIONS && test_state.wrong == 0; n++) {
		act();
		settle(draw(4));
	}
	expect(fake_messages <= (int)(HONEST * bad_lives));
	if (test_state.wrong == 0 && draw(4) == 0)
		bad_is_restarted();
	if (test_state.wrong == 0)
		bad_ends();
	if (test_state.wrong == 0)
		all_ends();
}

TEST(a_bad_peer_harms_nobody_but_itself)
{
	for (seed = first; seed < first + seeds && test_state.wrong == 0; seed++)
		one_seed();
	if (test_state.wrong != 0)
		seed--;
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		seeds = strtoul(argv[1], NULL, 0);
	if (argc > 2)
		first = strtoul(argv[2], NULL, 0);
	__sanitizer_set_death_callback(tell_seed);
	atexit(tell_seed);
	fake_machine();
	RUN(a_bad_peer_harms_nobody_but_itself);
	fake_end();
	return TEST_FAILED;
}
