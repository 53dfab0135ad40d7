/* SPDX-License-Identifier: MIT
 *
 * Sync points of three clusters from user mode: rounds in which everything that was sent before a
 * signal is there after the wait, wrong calls, many ends, processes that are killed, and a cluster
 * that dies.
 *
 * machine: 3 4 KC
 * machine: 3 2 TC
 * machine: 3 1 TC
 */
#include <tests/kernel/ktest.h>

#define CLUSTERS 3
#define GATHER 0			/* ports of cluster 0 */
#define RELEASE 1
#define NEWS 2
#define SPARE 3
#define MAIL 1				/* its mailbox port */
#define ROUNDS 150
#define CROWD 16			/* threads that can wait at an end */
#define BAD ((void *)8)

enum role { WAITER = 1, SIGNALLER };

static const uint8_t all[CLUSTERS] = {0, 1, 2};
static uint64_t message[MAILBOX_MSG_SIZE / 8];
static struct mail_sender from;

/* --- clusters 1 and 2 --- */

/* Each round: a message, a signal, and the wait for cluster 0's. */
static int
partner(unsigned cluster)
{
	int mail = (int)kmailbox_open(0, MAIL), wrong = 0;
	int gather = (int)ksync_open(SYNC_ALL_TO_ONE, GATHER, all, CLUSTERS);
	int release = (int)ksync_create(SYNC_ONE_TO_ALL, RELEASE, all, CLUSTERS);

	for (uint64_t n = 0; n < ROUNDS && wrong == 0; n++) {
		message[0] = n;
		message[1] = cluster;
		wrong = mailbox_send(mail, message) != 0 || sync_give(gather) != 0 ||
			ksync_wait(release, FOREVER) != 0;
	}
	/* signals ahead of the wait: the second has to wait for the first */
	wrong = wrong != 0 || sync_give(gather) != 0 || sync_give(gather) != 0 ||
		ksync_wait(release, FOREVER) != 0;
	if (wrong != 0 || cluster == 2)
		return wrong;
	for (;;)
		ksync_wait((int)ksync_create(SYNC_ONE_TO_ALL, NEWS, all, CLUSTERS), FOREVER);
}

/* --- cluster 0 --- */

static int gather, release, mail;

static bool
has_message_of(int cluster, uint64_t round)
{
	return kmailbox_read(mail, cluster, message, &from) == cluster && message[0] == round &&
		message[1] == (uint64_t)cluster;
}

/* test: sync_create, sync_open, sync_signal, sync_wait */
TEST(what_was_sent_before_a_signal_is_there_after_the_wait)
{
	mail = (int)kmailbox_create(MAIL);
	gather = (int)ksync_create(SYNC_ALL_TO_ONE, GATHER, all, CLUSTERS);
	release = (int)ksync_open(SYNC_ONE_TO_ALL, RELEASE, all, CLUSTERS);
	expect(mail > 0 && gather > 0 && release > 0);
	for (uint64_t n = 0; n < ROUNDS; n++) {
		expect_eq(ksync_wait(gather, FOREVER), 0);
		expect(has_message_of(1, n) && has_message_of(2, n));
		expect_eq(kmailbox_read(mail, ANY_SOURCE_CLUSTER, message, &from), -E_AGAIN);
		expect_eq(sync_give(release), 0);
	}
}

TEST(signals_ahead_of_the_wait_are_rounds_of_their_own)
{
	expect_eq(kevent_bind(EVENT_SYNC, gather, 5), 0);
	expect_eq(kthread_sleep(32, FOREVER), 32);
	expect_eq(ksync_wait(gather, 0), 0);
	expect_eq(kthread_sleep(32, FOREVER), 32);
	expect_eq(ksync_wait(gather, 0), 0);
	expect_eq(ksync_wait(gather, 0), -E_TIMEDOUT);
	expect_eq(kevent_bind(EVENT_SYNC, gather, -1), 0);
}

TEST(sync_calls_refuse_bad_arguments)
{
	static const uint8_t twice[] = {0, 1, 1}, other[] = {1, 2}, far[] = {0, 1, CLUSTERS},
		second[] = {1, 0};
	uint64_t before = kt_stats(STATS_SYNCS);

	expect_eq(ksync_create(SYNC_ALL_TO_ONE, GATHER, all, CLUSTERS), -E_BUSY);
	expect_eq(ksync_open(SYNC_ONE_TO_ALL, GATHER, all, CLUSTERS), -E_BUSY);
	expect_eq(ksync_create(SYNC_ALL_TO_ONE, SYNC_PORTS, all, CLUSTERS), -E_INVAL);
	expect_eq(ksync_create(SYNC_ALL_TO_ONE, -1, all, CLUSTERS), -E_INVAL);
	expect_eq(ksync_create(7, SPARE, all, CLUSTERS), -E_INVAL);
	expect_eq(ksync_create(SYNC_ONE_TO_ALL, SPARE, all, CLUSTERS), -E_INVAL);
	expect_eq(ksync_open(SYNC_ALL_TO_ONE, SPARE, all, CLUSTERS), -E_INVAL);
	expect_eq(ksync_create(SYNC_ALL_TO_ONE, SPARE, all, 1), -E_INVAL);
	expect_eq(ksync_create(SYNC_ALL_TO_ONE, SPARE, all, 0), -E_INVAL);
	expect_eq(ksync_create(SYNC_ALL_TO_ONE, SPARE, all, CLUSTERS_MAX + 1), -E_INVAL);
	expect_eq(ksync_create(SYNC_ALL_TO_ONE, SPARE, twice, 3), -E_INVAL);
	expect_eq(ksync_create(SYNC_ALL_TO_ONE, SPARE, far, 3), -E_INVAL);
	expect_eq(ksync_create(SYNC_ONE_TO_ALL, SPARE, other, 2), -E_INVAL);
	expect_eq(ksync_create(SYNC_ALL_TO_ONE, SPARE, second, 2), -E_INVAL);
	expect_eq(ksync_create(SYNC_ALL_TO_ONE, SPARE, BAD, CLUSTERS), -E_FAULT);
	expect_eq(ksync_open(SYNC_ONE_TO_ALL, SPARE, BAD, CLUSTERS), -E_FAULT);
	expect_eq(ksync_signal(gather), -E_BADF);
	expect_eq(ksync_signal(mail), -E_BADF);
	expect_eq(ksync_wait(mail, FOREVER), -E_BADF);
	expect_eq(ksync_wait(-1, FOREVER), -E_BADF);
	expect_eq(kmailbox_wait(gather, ANY_SOURCE_CLUSTER, FOREVER), -E_BADF);
	expect_eq(kevent_bind(EVENT_SYNC, mail, 0), -E_BADF);
	expect_eq(kt_stats(STATS_SYNCS), before);
}

/* Every point of this ONE; each end can be used at once, and given back. */
TEST(all_ports_have_ends)
{
	uint64_t before = kt_stats(STATS_SYNCS);
	int end[SYNC_PORTS];

	for (int round = 0; round < 20; round++) {
		for (int p = SPARE; p < SYNC_PORTS; p++) {
			end[p] = (int)(p % 2 ? ksync_open(SYNC_ONE_TO_ALL, p, all, CLUSTERS) :
				ksync_create(SYNC_ALL_TO_ONE, p, all, CLUSTERS));
			expect(end[p] > 0);
			if (p % 2 == 0)
				expect_eq(ksync_wait(end[p], 0), -E_TIMEDOUT);
		}
		for (int p = SPARE; p < SYNC_PORTS; p++)
			expect_eq(khandle_close(end[p]), 0);
	}
	expect_eq(kt_stats(STATS_SYNCS), before);
}

static unsigned long
patient(unsigned long sync)
{
	long e;

	while ((e = ksync_wait((int)sync, FOREVER)) == -E_BUSY)
		kthread_yield();
	return (unsigned long)e;
}

/* Those who ask without waiting take a place, too, for a moment. */
TEST(a_wait_ends_when_its_handle_is_closed)
{
	int end = (int)ksync_create(SYNC_ALL_TO_ONE, SPARE, all, CLUSTERS);
	long tid[CROWD], e;

	for (int i = 0; i < CROWD; i++)
		tid[i] = kt_thread(patient, (unsigned long)end, ANY_CORE);
	while ((e = ksync_wait(end, 0)) == -E_TIMEDOUT)
		kthread_yield();
	expect_eq(e, -E_BUSY);
	expect_eq(khandle_close(end), 0);
	for (int i = 0; i < CROWD; i++)
		expect_eq(kt_join(tid[i]), -E_BADF);
}

TEST(a_killed_waiter_leaves_its_point_free)
{
	uint64_t before = kt_stats(STATS_SYNCS);
	long end;

	for (unsigned i = 0; i < 20; i++) {
		long proc = kt_spawn(i % 2 ? WAITER : SIGNALLER, 0, ANY_CORE);

		expect(proc > 0);
		kt_pause(i * 100);
		expect_eq(kproc_kill((int)proc, 3), 0);
		kt_wait(proc, NULL);
		end = ksync_create(SYNC_ALL_TO_ONE, SPARE, all, CLUSTERS);
		expect(end > 0);
		expect_eq(khandle_close((int)end), 0);
	}
	expect_eq(kt_stats(STATS_SYNCS), before);
}

/* The process that is killed: waits, or signals what nobody takes. */
static int
victim(enum role role)
{
	int end = (int)(role == WAITER ? ksync_create(SYNC_ALL_TO_ONE, SPARE, all, CLUSTERS) :
		ksync_open(SYNC_ONE_TO_ALL, SPARE, all, CLUSTERS));

	for (;;)
		if (role == WAITER ? ksync_wait(end, FOREVER) != 0 : sync_give(end) != 0)
			return 1;
}

/* Cluster 2 ends when it is released. */
TEST(a_dead_cluster_ends_the_rounds)
{
	int end = (int)ksync_create(SYNC_ALL_TO_ONE, SPARE, all, CLUSTERS);
	long tid = kt_thread(patient, (unsigned long)gather, ANY_CORE);

	expect_eq(kevent_bind(EVENT_SYNC, end, 6), 0);
	expect_eq(sync_give(release), 0);
	expect_eq(kt_join(tid), -E_HOSTDOWN);
	expect_eq(kthread_sleep(64, FOREVER), 64);
	expect_eq(ksync_wait(end, FOREVER), -E_HOSTDOWN);
	expect_eq(ksync_signal(release), -E_HOSTDOWN);
	expect_eq(ksync_wait(release, FOREVER), -E_HOSTDOWN);
	expect_eq(khandle_close(end), 0);
	expect_eq(khandle_close(gather), 0);
	expect_eq(khandle_close(release), 0);
	expect_eq(kt_stats(STATS_SYNCS), 0);
}

int
server_main(int argc, char **argv)
{
	struct cluster_info info;

	(void)argc;
	(void)argv;
	kcluster_info(&info);
	if (info.cluster != 0)
		return partner((unsigned)info.cluster);
	if (atoll_startup()->job != 0)
		return victim(atoll_startup()->job);
	RUN(what_was_sent_before_a_signal_is_there_after_the_wait);
	RUN(signals_ahead_of_the_wait_are_rounds_of_their_own);
	RUN(sync_calls_refuse_bad_arguments);
	RUN(all_ports_have_ends);
	RUN(a_wait_ends_when_its_handle_is_closed);
	RUN(a_killed_waiter_leaves_its_point_free);
	RUN(a_dead_cluster_ends_the_rounds);
	kt_end();
}
