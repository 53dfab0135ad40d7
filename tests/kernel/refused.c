/* SPDX-License-Identifier: MIT
 *
 * What calls refuse, argument by argument: numbers that do not exist, handles that are closed, of
 * another kind or without the right, addresses that are not there. And communication inside one
 * cluster, by many threads at once, over mailboxes and portals together.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 */
#include <tests/kernel/ktest.h>

#define NOBODY 12345			/* a handle that nobody gave */
#define FAR 64				/* a cluster that is not there */
#define MUCH 100000			/* a port that is not there */
#define FIRST_PORT 3
#define TEAM 4
#define ROUNDS 40
#define BLOCK 5000

static unsigned char message[MAILBOX_MSG_SIZE], data[TEAM][BLOCK], copy[BLOCK];
static struct mail_sender from;
static uint64_t value;

/* A handle that was closed. */
static int
closed(long handle)
{
	expect(handle > 0);
	expect_eq(khandle_close((int)handle), 0);
	return (int)handle;
}

/* The handle without some of its rights. */
static int
weaker(int handle, uint32_t rights)
{
	long made = khandle_duplicate(handle, SELF, rights);

	expect(made > 0);
	return (int)made;
}

TEST(handles_are_closed_once)
{
	expect_eq(khandle_close(-1), -E_BADF);
	expect_eq(khandle_close(NOBODY), -E_BADF);
	expect_eq(khandle_close(closed(kmailbox_create(FIRST_PORT))), -E_BADF);
	expect_eq(khandle_close(closed(kmailbox_open(0, FIRST_PORT))), -E_BADF);
	expect_eq(khandle_close(closed(kportal_create(FIRST_PORT))), -E_BADF);
	expect_eq(khandle_close(closed(kportal_open(0, FIRST_PORT, FIRST_PORT))), -E_BADF);
}

TEST(mailboxes_are_made_of_what_is_there)
{
	int in = (int)kmailbox_create(FIRST_PORT);

	expect(in > 0);
	expect_eq(kmailbox_create(-1), -E_INVAL);
	expect_eq(kmailbox_create(MUCH), -E_INVAL);
	expect_eq(kmailbox_create(FIRST_PORT), -E_BUSY);
	expect_eq(kmailbox_open(-1, FIRST_PORT), -E_INVAL);
	expect_eq(kmailbox_open(FAR, FIRST_PORT), -E_INVAL);
	expect_eq(kmailbox_open(0, -1), -E_INVAL);
	expect_eq(kmailbox_open(0, MUCH), -E_INVAL);
	expect_eq(khandle_close(in), 0);
	in = (int)kmailbox_create(FIRST_PORT);
	expect(in > 0);
	expect_eq(khandle_close(in), 0);
}

TEST(a_mailbox_is_written_by_who_may)
{
	int in = (int)kmailbox_create(FIRST_PORT), out = (int)kmailbox_open(0, FIRST_PORT);
	int mute = weaker(out, RIGHT_WAIT), portal = (int)kportal_create(FIRST_PORT);

	expect_eq(kmailbox_write(-1, message), -E_BADF);
	expect_eq(kmailbox_write(NOBODY, message), -E_BADF);
	expect_eq(kmailbox_write(in, message), -E_BADF);
	expect_eq(kmailbox_write(portal, message), -E_BADF);
	expect_eq(kmailbox_write(mute, message), -E_ACCES);
	expect_eq(kmailbox_write(out, NULL), -E_FAULT);
	expect_eq(kmailbox_write(out, message), 0);
	expect_eq(kmailbox_write(out, message), -E_AGAIN);
	expect_eq(kmailbox_read(in, 0, message, &from), 0);
	expect_eq(khandle_close(portal), 0);
	expect_eq(khandle_close(mute), 0);
	expect_eq(kmailbox_write(closed(out), message), -E_BADF);
	expect_eq(khandle_close(in), 0);
}

TEST(a_mailbox_is_read_by_who_may)
{
	int in = (int)kmailbox_create(FIRST_PORT), out = (int)kmailbox_open(0, FIRST_PORT);
	int blind = weaker(in, RIGHT_WAIT);

	expect_eq(kmailbox_read(-1, 0, message, &from), -E_BADF);
	expect_eq(kmailbox_read(NOBODY, 0, message, &from), -E_BADF);
	expect_eq(kmailbox_read(out, 0, message, &from), -E_BADF);
	expect_eq(kmailbox_read(blind, 0, message, &from), -E_ACCES);
	expect_eq(kmailbox_read(in, FAR, message, &from), -E_INVAL);
	expect_eq(kmailbox_read(in, -7, message, &from), -E_INVAL);
	expect_eq(kmailbox_read(in, 0, message, &from), -E_AGAIN);
	expect_eq(kmailbox_wait(-1, 0, FOREVER), -E_BADF);
	expect_eq(kmailbox_wait(in, FAR, FOREVER), -E_INVAL);
	expect_eq(kmailbox_wait(in, 0, 0), -E_TIMEDOUT);
	expect_eq(kmailbox_write(out, message), 0);
	expect_eq(kmailbox_read(in, 0, NULL, &from), -E_FAULT);
	expect_eq(kmailbox_read(in, 0, message, NULL), -E_FAULT);
	expect_eq(kmailbox_read(in, 0, message, &from), 0);
	expect_eq(khandle_close(blind), 0);
	expect_eq(khandle_close(out), 0);
	closed(in);
	expect_eq(kmailbox_read(in, 0, message, &from), -E_BADF);
	expect_eq(kmailbox_wait(in, 0, FOREVER), -E_BADF);
}

TEST(portals_are_made_of_what_is_there)
{
	int in = (int)kportal_create(FIRST_PORT);

	expect(in > 0);
	expect_eq(kportal_create(-1), -E_INVAL);
	expect_eq(kportal_create(MUCH), -E_INVAL);
	expect_eq(kportal_create(FIRST_PORT), -E_BUSY);
	expect_eq(kportal_open(-1, FIRST_PORT, 0), -E_INVAL);
	expect_eq(kportal_open(FAR, FIRST_PORT, 0), -E_INVAL);
	expect_eq(kportal_open(0, -1, 0), -E_INVAL);
	expect_eq(kportal_open(0, MUCH, 0), -E_INVAL);
	expect_eq(kportal_open(0, FIRST_PORT, -1), -E_INVAL);
	expect_eq(kportal_open(0, FIRST_PORT, MUCH), -E_INVAL);
	expect_eq(khandle_close(in), 0);
}

TEST(a_portal_is_used_by_who_may)
{
	unsigned long at = (unsigned long)copy;
	int in = (int)kportal_create(FIRST_PORT),
		out = (int)kportal_open(0, FIRST_PORT, FIRST_PORT);
	int blind = weaker(in, RIGHT_WAIT), mute = weaker(out, RIGHT_WAIT);

	expect_eq(kportal_allow(-1, 0, 0), -E_BADF);
	expect_eq(kportal_allow(NOBODY, 0, 0), -E_BADF);
	expect_eq(kportal_allow(out, 0, 0), -E_BADF);
	expect_eq(kportal_allow(blind, 0, 0), -E_ACCES);
	expect_eq(kportal_allow(in, FAR, 0), -E_INVAL);
	expect_eq(kportal_allow(in, 0, MUCH), -E_INVAL);
	expect_eq(kportal_read(in, at, BLOCK, FOREVER), -E_ACCES);
	expect_eq(kportal_read(NOBODY, at, BLOCK, FOREVER), -E_BADF);
	expect_eq(kportal_read(out, at, BLOCK, FOREVER), -E_BADF);
	expect_eq(kportal_read(blind, at, BLOCK, FOREVER), -E_ACCES);
	expect_eq(kportal_read(in, at, ~0ul, FOREVER), -E_INVAL);
	expect_eq(kportal_write(NOBODY, at, BLOCK, FOREVER), -E_BADF);
	expect_eq(kportal_write(in, at, BLOCK, FOREVER), -E_BADF);
	expect_eq(kportal_write(mute, at, BLOCK, FOREVER), -E_ACCES);
	expect_eq(kportal_write(out, at, ~0ul, FOREVER), -E_INVAL);
	expect_eq(kportal_write(out, at, BLOCK, 0), -E_TIMEDOUT);
	expect_eq(kportal_start(NOBODY, at, BLOCK), -E_BADF);
	expect_eq(kportal_start(out, at, BLOCK), -E_AGAIN);
	expect_eq(kportal_wait(out, FOREVER), -E_INVAL);
	expect_eq(kportal_allow(in, 0, FIRST_PORT), 0);
	expect_eq(kportal_allow(in, 0, FIRST_PORT), -E_BUSY);
	expect_eq(khandle_close(blind), 0);
	expect_eq(khandle_close(mute), 0);
	expect_eq(kportal_write(closed(out), at, BLOCK, FOREVER), -E_BADF);
	closed(in);
	expect_eq(kportal_allow(in, 0, 0), -E_BADF);
	expect_eq(kportal_read(in, at, BLOCK, FOREVER), -E_BADF);
}

static unsigned long
give_back(unsigned long arg)
{
	return arg;
}

TEST(threads_are_named_by_those_who_may)
{
	long tid = kt_thread(give_back, 7, ANY_CORE), later;

	expect_eq(kthread_create(NULL, ANY_CORE), -E_FAULT);
	expect_eq(kthread_join(-1, &value, FOREVER), -E_BADF);
	expect_eq(kthread_join(NOBODY, &value, FOREVER), -E_BADF);
	expect_eq(kthread_join((int)tid, NULL, FOREVER), -E_FAULT);
	expect_eq(kt_join(tid), 7);
	expect_eq(kthread_join((int)tid, &value, FOREVER), -E_BADF);
	expect_eq(kthread_wakeup((int)tid, 1), -E_BADF);
	later = kt_thread(give_back, 8, ANY_CORE);
	expect(later != tid);
	expect_eq(kthread_join((int)tid, &value, FOREVER), -E_BADF);
	expect_eq(kt_join(later), 8);
	expect_eq(kthread_wakeup(-1, 1), -E_BADF);
	expect_eq(kthread_wakeup(NOBODY, 1), -E_BADF);
}

/* A wake-up before the sleep is kept, whoever is faster. */
static unsigned long
sleeper(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++)
		if (kthread_sleep(1, FOREVER) != 1)
			return 0;
	return rounds;
}

TEST(a_wake_up_is_kept_whoever_is_faster)
{
	for (unsigned long i = 0; i < ROUNDS; i++) {
		long tid = kt_thread(sleeper, 1, ANY_CORE);

		if (i % 2)
			kt_pause(50);
		expect_eq(kthread_wakeup((int)tid, 1), 0);
		expect_eq(kt_join(tid), 1);
	}
	expect_eq(kthread_sleep(2, 0), -E_TIMEDOUT);
}

/* --- communication inside a cluster --- */

/* Thread i sends and receives at ports of its own; all together. */
static unsigned long
talk(unsigned long i)
{
	int port = FIRST_PORT + 1 + (int)i, in = (int)kmailbox_create(port);
	int out = (int)kmailbox_open(0, port), wrong = in < 0 || out < 0;
	unsigned char said[MAILBOX_MSG_SIZE] = {0}, heard[MAILBOX_MSG_SIZE];

	for (unsigned char n = 0; n < ROUNDS; n++) {
		said[0] = n;
		said[MAILBOX_MSG_SIZE - 1] = (unsigned char)(n ^ i);
		wrong += mailbox_send(out, said) != 0 || mailbox_receive(in, 0, heard) != 0;
		wrong += heard[0] != n || heard[MAILBOX_MSG_SIZE - 1] != (unsigned char)(n ^ i);
	}
	return (unsigned long)(wrong + (khandle_close(in) != 0) + (khandle_close(out) != 0));
}

static void
all(unsigned long (*fn)(unsigned long))
{
	long tid[TEAM];

	for (unsigned long i = 0; i < TEAM; i++)
		tid[i] = kt_thread(fn, i, ANY_CORE);
	for (int i = 0; i < TEAM; i++)
		expect_eq(kt_join(tid[i]), 0);
}

TEST(threads_of_a_cluster_talk_at_ports_of_their_own)
{
	all(talk);
}

/* All send to one port. */
static unsigned long
speak(unsigned long i)
{
	int out = (int)kmailbox_open(0, FIRST_PORT), wrong = out < 0;
	unsigned char said[MAILBOX_MSG_SIZE] = {(unsigned char)i};

	for (int n = 0; n < ROUNDS; n++)
		wrong += mailbox_send(out, said) != 0;
	return (unsigned long)(wrong + (khandle_close(out) != 0));
}

TEST(all_that_threads_of_a_cluster_send_to_one_arrives)
{
	int in = (int)kmailbox_create(FIRST_PORT), count[TEAM] = {0};
	long tid[TEAM];

	for (unsigned long i = 0; i < TEAM; i++)
		tid[i] = kt_thread(speak, i, ANY_CORE);
	for (int n = 0; n < TEAM * ROUNDS; n++) {
		expect_eq(mailbox_receive(in, 0, message), 0);
		count[message[0] % TEAM]++;
	}
	for (int i = 0; i < TEAM; i++) {
		expect_eq(kt_join(tid[i]), 0);
		expect_eq(count[i], ROUNDS);
	}
	expect_eq(khandle_close(in), 0);
}

/* A message says that a block comes; the block comes by a portal. */
static unsigned long
deliver(unsigned long i)
{
	int mail = (int)kmailbox_open(0, FIRST_PORT), own = FIRST_PORT + 1 + (int)i, wrong = 0;
	int out = (int)kportal_open(0, FIRST_PORT, own);
	unsigned char said[MAILBOX_MSG_SIZE] = {(unsigned char)i};

	for (int n = 0; n < ROUNDS / 4; n++) {
		for (unsigned k = 0; k < BLOCK; k++)
			data[i][k] = (unsigned char)(k * 7 + i + (unsigned)n);
		said[1] = (unsigned char)n;
		wrong += mailbox_send(mail, said) != 0;
		wrong += kportal_write(out, (unsigned long)data[i], BLOCK, FOREVER) != BLOCK;
	}
	return (unsigned long)(wrong + (khandle_close(mail) != 0) + (khandle_close(out) != 0));
}

TEST(blocks_follow_the_messages_that_announce_them)
{
	int mail = (int)kmailbox_create(FIRST_PORT), in = (int)kportal_create(FIRST_PORT),
		wrong = 0;
	long tid[TEAM];

	for (unsigned long i = 0; i < TEAM; i++)
		tid[i] = kt_thread(deliver, i, ANY_CORE);
	for (int n = 0; n < TEAM * (ROUNDS / 4); n++) {
		expect_eq(mailbox_receive(mail, 0, message), 0);
		expect_eq(kportal_allow(in, 0, FIRST_PORT + 1 + message[0]), 0);
		expect_eq(kportal_read(in, (unsigned long)copy, BLOCK, FOREVER), BLOCK);
		for (unsigned k = 0; k < BLOCK; k++)
			wrong += copy[k] != (unsigned char)(k * 7 + message[0] + message[1]);
	}
	expect_eq(wrong, 0);
	for (int i = 0; i < TEAM; i++)
		expect_eq(kt_join(tid[i]), 0);
	expect_eq(khandle_close(mail), 0);
	expect_eq(khandle_close(in), 0);
}

static const int counted[] = {STATS_MAILBOXES, STATS_PORTALS, STATS_THREADS};
static uint64_t before[3];

TEST(nothing_is_left)
{
	for (int i = 0; i < 3; i++)
		expect_eq(kt_stats(counted[i]), before[i]);
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int i = 0; i < 3; i++)
		before[i] = kt_stats(counted[i]);
	RUN(handles_are_closed_once);
	RUN(mailboxes_are_made_of_what_is_there);
	RUN(a_mailbox_is_written_by_who_may);
	RUN(a_mailbox_is_read_by_who_may);
	RUN(portals_are_made_of_what_is_there);
	RUN(a_portal_is_used_by_who_may);
	RUN(threads_are_named_by_those_who_may);
	RUN(a_wake_up_is_kept_whoever_is_faster);
	RUN(threads_of_a_cluster_talk_at_ports_of_their_own);
	RUN(all_that_threads_of_a_cluster_send_to_one_arrives);
	RUN(blocks_follow_the_messages_that_announce_them);
	RUN(nothing_is_left);
	kt_end();
}
