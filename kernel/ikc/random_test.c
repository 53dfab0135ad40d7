/* SPDX-License-Identifier: MIT
 *
 * Random calls on mailboxes of four clusters, each result compared with the naive mailbox
 * (tests/golden/mailbox.h). Between two calls everything that can happen happens. Clusters die and
 * restart. usage: random_test [SEEDS [FIRST]]
 */
/*
 * needs: kernel/ikc/ikc.c kernel/ikc/endpoint.c kernel/ikc/wait.c kernel/ikc/peer.c
 * kernel/ikc/watch.c kernel/ikc/mailbox.c kernel/ikc/mail_in.c kernel/ikc/mail_out.c
 * kernel/ikc/portal.c kernel/ikc/portal_event.c kernel/ikc/portal_move.c hal/noc/shm/noc.c
 * hal/noc/shm/events.c hal/noc/shm/window.c base/bitmap.c kernel/object/handle.c
 * kernel/object/quota.c kernel/object/slab.c kernel/mem/frame.c */
/* cpu: coroutine */
/* gate: 60 */
#include <kernel/ikc/fake.h>
#include <tests/golden/mailbox.h>

#define CALLS 400

static struct golden_mailbox golden[FAKE_CLUSTERS][FAKE_PORTS];
static int in[FAKE_CLUSTERS][FAKE_PORTS];
static int out[FAKE_CLUSTERS][FAKE_CLUSTERS][FAKE_PORTS];
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
}

static void
one_seed(unsigned long seed)
{
	state = (uint32_t)seed * 2654435761u + 1;
	fake_all_up();
	for (unsigned c = 0; c < FAKE_CLUSTERS; c++)
		open_all(c);
	for (int n = 0; n < CALLS; n++) {
		uint32_t kind = draw(200);

		if (kind == 0)
			restart(draw(FAKE_CLUSTERS));
		else if (kind < 100)
			write_one(draw(FAKE_CLUSTERS), draw(FAKE_CLUSTERS), draw(FAKE_PORTS));
		else
			read_one(draw(FAKE_CLUSTERS), draw(FAKE_PORTS),
				(int)draw(FAKE_CLUSTERS + 1) - 1);
		pump();
	}
}

TEST(random_calls_agree_with_the_naive_mailbox)
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
	RUN(random_calls_agree_with_the_naive_mailbox);
	fake_end();
	return TEST_FAILED;
}
