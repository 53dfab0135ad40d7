/* SPDX-License-Identifier: MIT
 *
 * Random calls on mailboxes of four clusters, each result compared with the naive mailbox
 * (tests/golden/mailbox.h), and on sync points with bits. Between two calls everything that can
 * happen happens. Clusters die and
 * restart. usage: random_test [SEEDS [FIRST]]
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
/* gate: 60 */
#include <kernel/ikc/fake.h>
#include <tests/golden/mailbox.h>

#define CALLS 400
#define POINTS (2 * FAKE_CLUSTERS)	/* each cluster is the ONE of two */

static struct golden_mailbox golden[FAKE_CLUSTERS][FAKE_PORTS];
static int in[FAKE_CLUSTERS][FAKE_PORTS];
static int out[FAKE_CLUSTERS][FAKE_CLUSTERS][FAKE_PORTS];
static uint32_t pending[POINTS];	/* signals, a bit for each of the other clusters */
static int end[POINTS][FAKE_CLUSTERS];
static uint32_t state;
static unsigned long seeds = 300, first = 1;

static uint32_t
draw(uint32_t n)
{
	state = state * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)state * n) >> 32);
}

static void
open_all(unsigned cluster)
{
	struct thread *t = thr(cluster, 0);

	for (int p = 0; p < FAKE_PORTS; p++) {
		in[cluster][p] = (int)call(t, kc_mailbox_create(t, p));
		golden_mailbox_init(&golden[cluster][p]);
		for (int c = 0; c < FAKE_CLUSTERS; c++)
			out[cluster][c][p] = (int)call(t, kc_mailbox_open(t, c, p));
	}
}

static void
write_one(unsigned from, unsigned to, unsigned port)
{
	struct thread *t = thr(from, 0);
	int number = (int)draw(1000000);
	long result = call(t, kc_mailbox_write(t, out[from][to][port], text(number)));

	expect_eq(result, golden_mailbox_write(&golden[to][port], (int)from, number) == 0 ? 0 :
		-E_AGAIN);
}

static void
read_one(unsigned at, unsigned port, int source)
{
	struct thread *t = thr(at, 0);
	char msg[MAILBOX_MSG_SIZE];
	int number;
	long result = call(t, kc_mailbox_read(t, in[at][port], source, msg, fake_sender()));

	if (result == -E_AGAIN && source != ANY_SOURCE_CLUSTER && fake_connectors != 0) {
		pump();			/* it comes now that somebody wants it */
		result = call(t, kc_mailbox_read(t, in[at][port], source, msg, fake_sender()));
	}
	if (result < 0) {
		expect_eq(result, -E_AGAIN);
		if (source == ANY_SOURCE_CLUSTER)
			expect(golden_mailbox_is_empty(&golden[at][port]));
		else
			expect_eq(golden_mailbox_read(&golden[at][port], source, &number),
				GOLDEN_AGAIN);
		return;
	}
	expect_eq(golden_mailbox_read(&golden[at][port], (int)result, &number), 0);
	expect(memcmp(msg, text(number), MAILBOX_MSG_SIZE) == 0);
}

/* An output mailbox to a restarted cluster is of no use any more, unless it never was used. */
static void
meet_again(unsigned from, unsigned to, unsigned port)
{
	struct thread *t = thr(from, 0);
	long result = call(t, kc_mailbox_write(t, out[from][to][port], text(0)));

	if (result == 0) {
		expect_eq(golden_mailbox_write(&golden[to][port], (int)from, 0), 0);
		return;
	}
	expect_eq(result, -E_CONNRESET);
	expect_eq(call(t, fake_close(t, out[from][to][port])), 0);
	out[from][to][port] = (int)call(t, kc_mailbox_open(t, (int)to, (int)port));
}

/* --- sync points: that of ONE p / 2, in the mode p % 2 --- */

static bool
waits(unsigned p, unsigned cluster)
{
	return (cluster == p / 2) == (p % 2 == SYNC_ALL_TO_ONE);
}

static int
end_open(unsigned p, unsigned c)
{
	uint8_t list[FAKE_CLUSTERS] = {(uint8_t)(p / 2)};
	struct thread *t = thr(c, 0);
	int port = (int)(p % 2);

	for (unsigned i = 0, n = 1; i < FAKE_CLUSTERS; i++)
		if (i != p / 2)
			list[n++] = (uint8_t)i;
	return (int)(waits(p, c) ? call(t, kc_sync_create(t, (int)(p % 2), port, list,
		FAKE_CLUSTERS)) : call(t, kc_sync_open(t, (int)(p % 2), port, list,
		FAKE_CLUSTERS)));
}

/* All ends are made anew; those of `fresh` went with its last life. */
static void
points_open(unsigned fresh)
{
	for (unsigned p = 0; p < POINTS; p++)
		for (unsigned c = 0; c < FAKE_CLUSTERS; c++)
			if (c != fresh && end[p][c] > 0)
				expect_eq(call(thr(c, 0), fake_close(thr(c, 0), end[p][c])), 0);
	pump();
	for (unsigned p = 0; p < POINTS; p++) {
		pending[p] = 0;
		for (unsigned c = 0; c < FAKE_CLUSTERS; c++)
			expect((end[p][c] = end_open(p, c)) > 0);
	}
}

static long
end_try(unsigned p, unsigned c)
{
	struct thread *t = thr(c, 0);
	long result = call(t, kc_sync_wait(t, end[p][c]));

	if (result != -E_PARK)
		return result;
	fake_late(t);
	pump();
	return fake_result(t);
}

/* In ALL_TO_ONE the pending signals are those of the clusters, else those for them. */
static void
signal_one(unsigned p, unsigned c)
{
	uint32_t mine = p % 2 == SYNC_ALL_TO_ONE ? 1u << c :
		((1u << FAKE_CLUSTERS) - 1) & ~(1u << c);
	struct thread *t = thr(c, 0);

	expect_eq(call(t, kc_sync_signal(t, end[p][c])), pending[p] & mine ? -E_AGAIN : 0);
	if (!(pending[p] & mine))
		pending[p] |= mine;
}

static void
wait_one(unsigned p, unsigned c)
{
	uint32_t wanted = p % 2 == SYNC_ALL_TO_ONE ? ((1u << FAKE_CLUSTERS) - 1) & ~(1u << c) :
		1u << c;
	bool there = (pending[p] & wanted) == wanted;

	expect_eq(end_try(p, c), there ? 0 : -E_TIMEDOUT);
	if (there)
		pending[p] &= ~wanted;
}

static void
meet(unsigned p, unsigned c)
{
	if (waits(p, c))
		wait_one(p, c);
	else
		signal_one(p, c);
}

/* The ends that had a partner in its last life say so: its signals are gone. */
static void
points_restart(unsigned cluster)
{
	for (unsigned p = 0; p < POINTS; p++)
		for (unsigned c = 0; c < FAKE_CLUSTERS; c++) {
			if (c != cluster && (c == p / 2 || cluster == p / 2))
				expect_eq(end_try(p, c), -E_CONNRESET);
		}
	points_open(cluster);
}

/* What was under way from and to the cluster is gone. */
static void
restart(unsigned cluster)
{
	fake_kill(cluster, draw(2));
	fake_boot(cluster);
	pump();
	open_all(cluster);
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++)
		for (unsigned p = 0; p < FAKE_PORTS; p++) {
			golden[c][p].full[cluster] = false;
			if (c != cluster)
				meet_again(c, cluster, p);
		}
	points_restart(cluster);
}

static void
one_seed(unsigned long seed)
{
	state = (uint32_t)seed * 2654435761u + 1;
	fake_connectors = draw(3);
	fake_all_up();
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++)
		open_all(c);
	memset(end, 0, sizeof(end));
	points_open(FAKE_CLUSTERS);
	for (int n = 0; n < CALLS; n++) {
		uint32_t kind = draw(300);

		if (kind == 0)
			restart(draw(FAKE_CLUSTERS));
		else if (kind >= 200)
			meet(draw(POINTS), draw(FAKE_CLUSTERS));
		else if (kind < 100)
			write_one(draw(FAKE_CLUSTERS), draw(FAKE_CLUSTERS), draw(FAKE_PORTS));
		else
			read_one(draw(FAKE_CLUSTERS), draw(FAKE_PORTS),
				(int)draw(FAKE_CLUSTERS + 1) - 1);
		pump();
	}
}

TEST(random_calls_agree_with_the_naive_ones)
{
	for (unsigned long seed = first; seed < first + seeds && test_state.wrong == 0; seed++) {
		one_seed(seed);
		if (test_state.wrong != 0)
			printf("seed %lu\n", seed);
	}
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		seeds = strtoul(argv[1], NULL, 0);
	if (argc > 2)
		first = strtoul(argv[2], NULL, 0);
	fake_machine();
	RUN(random_calls_agree_with_the_naive_ones);
	fake_end();
	return TEST_FAILED;
}
