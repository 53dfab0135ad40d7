/* SPDX-License-Identifier: MIT
 *
 * Mailboxes of the real kernel under the coroutine scheduler: in every cluster two processes send
 * to one port of cluster 0, which reads from any or a chosen source and waits in every way there
 * is. With `death` a cluster stops at a random moment: everything that waits for it must end, what
 * the others send must arrive once, in order, with one message per cluster under way. In the same
 * way where clusters have one connector, and messages for a port that nobody reads.
 *
 * usage: ikc_mailbox [COUNT [FIRST]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <abi/errors.h>
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <hal/noc.h>
#include <tests/coroutine/program.h>

#define CLUSTERS 3
#define CORES 3
#define MESSAGES 4			/* per sender */
#define PORT 1
#define UNREAD 2

struct message {
	uint32_t cluster, sender, number, sum;
	unsigned char rest[MAILBOX_MSG_SIZE - 16];
};

static struct {
	struct message buffer[CLUSTERS][CORES];
	struct message in;
	uint64_t clock;
	struct mail_sender sender;
} shared;

static struct {
	bool death;
	unsigned victim;
	bool dead;			/* the victim has stopped */
	bool crowded;			/* one connector, and a port that nobody reads */
	bool takes_any;			/* the receiver never chooses a source */
	unsigned written[CLUSTERS];	/* writes that returned 0 */
	unsigned read[CLUSTERS];
	unsigned next[CLUSTERS][CORES];	/* number of the sender's next message */
	unsigned ended;			/* senders that have ended */
} run;

static uint32_t
sum(const struct message *m)
{
	uint32_t s = m->cluster * 31 + m->sender * 17 + m->number;

	for (size_t i = 0; i < sizeof(m->rest); i++)
		s = s * 33 + m->rest[i];
	return s;
}

static void
fill(struct message *m, unsigned cluster, unsigned sender, unsigned number)
{
	m->cluster = cluster;
	m->sender = sender;
	m->number = number;
	for (size_t i = 0; i < sizeof(m->rest); i++)
		m->rest[i] = (unsigned char)(coro_random(256));
	m->sum = sum(m);
}

/* Wait until a write may succeed, or look again soon. */
static long
wait_to_write(long id)
{
	switch (coro_random(3)) {
	case 0:
		return KC(KC_THREAD_SLEEP, WAKE_ANY, FOREVER) == 1 ? 0 : -1;
	case 1:
		return KC(KC_THREAD_YIELD);
	default:
		return KC(KC_MAILBOX_WAIT, id, ANY_SOURCE_CLUSTER, FOREVER);
	}
}

static void
write_what_nobody_reads(struct message *m)
{
	long id = KC(KC_MAILBOX_OPEN, 0, UNREAD), e = KC(KC_MAILBOX_WRITE, id, m);

	coro_check(id >= 0 && (e == 0 || e == -E_AGAIN));
}

static void
sender(uintptr_t arg)
{
	unsigned cluster = (unsigned)arg / CORES, core = (unsigned)arg % CORES;
	struct message *m = &shared.buffer[cluster][core];
	long id = KC(KC_MAILBOX_OPEN, 0, PORT), e;

	coro_check(id >= 0 && KC(KC_EVENT_BIND, EVENT_ROOM, 0, 0) == 0);
	if (run.crowded)
		write_what_nobody_reads(m);
	for (unsigned n = 0; n < MESSAGES; n++) {
		fill(m, cluster, core, n);
		while ((e = KC(KC_MAILBOX_WRITE, id, m)) == -E_AGAIN)
			coro_check(wait_to_write(id) == 0);
		coro_check(e == 0);
		/*
		 * one message is under way; one more was read but the reader has not returned from
		 * its call
		 */
		coro_check(++run.written[cluster] <= run.read[cluster] + 2);
	}
	coro_check(KC(KC_HANDLE_CLOSE, id) == 0);
	run.ended++;
	KC(KC_PROC_EXIT, 0);
	program_exit();
}

static void
check_message(long source)
{
	const struct message *m = &shared.in;

	coro_check(source >= 0 && source < CLUSTERS && (long)m->cluster == source);
	coro_check(m->sender > 0 && m->sender < CORES && m->sum == sum(m));
	coro_check(m->number == run.next[source][m->sender]);
	run.next[source][m->sender]++;
	run.read[source]++;
}

static bool
is_complete(void)
{
	for (unsigned c = 0; c < CLUSTERS; c++)
		if (run.read[c] < (CORES - 1 - (c == 0)) * MESSAGES &&
			!(run.dead && c == run.victim))
			return false;
	return true;
}

static void
kill_sometimes(void)
{
	if (!run.death || run.dead || coro_random(6) != 0)
		return;
	run.dead = true;
	coro_kill_cluster(run.victim);
	hal_noc_mark_dead(run.victim);
}

/* Deaths end a sleep; a wait for the mailbox is given up in time. */
static void
wait_for_one_more(long id)
{
	long e;

	if (coro_random(2)) {
		coro_check(KC(KC_THREAD_SLEEP, WAKE_ANY, FOREVER) == 4);
		return;
	}
	coro_check(KC(KC_CLOCK, &shared.clock) == 0);
	e = KC(KC_MAILBOX_WAIT, id, ANY_SOURCE_CLUSTER, shared.clock + coro_random(20000));
	coro_check(e == 0 || e == -E_TIMEDOUT);
}

static void
receiver(uintptr_t arg)
{
	long id = KC(KC_MAILBOX_CREATE, PORT), watched;

	(void)arg;
	coro_check(id >= 0 && KC(KC_EVENT_BIND, EVENT_MAILBOX, id, 2) == 0);
	while (!is_complete()) {
		int wanted = run.takes_any || coro_random(2) ? ANY_SOURCE_CLUSTER :
			(int)coro_random(CLUSTERS);
		long source = KC(KC_MAILBOX_READ, id, wanted, &shared.in, &shared.sender);

		if (source >= 0) {
			coro_check(wanted == ANY_SOURCE_CLUSTER || wanted == source);
			check_message(source);
			kill_sometimes();
		} else {
			coro_check(source == -E_AGAIN);
			/* only who looked at all sources may wait for one more message */
			if (wanted == ANY_SOURCE_CLUSTER)
				wait_for_one_more(id);
		}
	}
	if (run.dead) {
		watched = KC(KC_CLUSTER_WATCH, run.victim, FOREVER);
		coro_check(watched == -E_HOSTDOWN);
	}
	coro_finish(0);
}

unsigned
program_on(unsigned cluster, unsigned core, struct program *programs, unsigned max)
{
	(void)max;
	programs[0].fn = cluster == 0 && core == 1 ? receiver : sender;
	programs[0].arg = cluster * CORES + core;
	return 1;
}

static void
dump(void)
{
	for (unsigned c = 0; c < CLUSTERS; c++)
		printf("cluster %u: %u written, %u read\n", c, run.written[c], run.read[c]);
	printf("death %d victim %u dead %d crowded %d\n", run.death, run.victim, run.dead,
		run.crowded);
}

static void
begin(struct coro_config *config, struct boot_record *record, unsigned long seed)
{
	(void)config;
	run.death = seed % 2;
	run.victim = 1 + (unsigned)(seed / 2 % (CLUSTERS - 1));
	run.crowded = seed / 4 % 2;
	run.takes_any = seed / 8 % 2;
	record->mailbox_connectors = run.crowded;
}

int
main(int argc, char **argv)
{
	static const struct program_test test = {
		.name = "mailboxes_deliver_everything_once_in_order", .seeds = 10000,
		.shared = &shared, .shared_bytes = sizeof(shared), .state = &run,
		.state_bytes = sizeof(run), .clusters = CLUSTERS, .cores = CORES, .begin = begin,
		.dump = dump};

	return program_main(&test, argc, argv);
}
