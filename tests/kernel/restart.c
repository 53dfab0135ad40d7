/* SPDX-License-Identifier: MIT
 *
 * Clusters live and die: cluster 0 restarts cluster 1, which has died, or lives, or is on its way;
 * every wait for it ends, its next life answers as the first did, and all the while cluster 2
 * answers a thread of cluster 0.
 *
 * machine: 3 2 KC
 * machine: 3 4 KC
 * machine: 3 1 TC
 */
#include <tests/kernel/ktest.h>

#define PORT_COMMAND 1
#define PORT_REPLY 2		/* of a life of cluster 1 */
#define PORT_STEADY 3		/* of cluster 2 */
#define PORT_DATA 4
#define PORT_NEVER 5		/* nobody opens it */
#define BIT_LIFE 3
#define BLOCK (64 * 1024)
#define MANY 100
#define STOP 1u			/* what ends `steady` */

enum operation { ECHO = 1, DIE, SPIN, MAY, TAKE, GIVE };

struct message {
	uint32_t operation;
	uint32_t cluster;
	int64_t number;
	unsigned char rest[MAILBOX_MSG_SIZE - 16];
};

static unsigned char data[BLOCK];
static int reply, steady_reply, portal;
static uint32_t stopping, rounds;

static int
authority(void)
{
	return atoll_startup()->authority;
}

/* --- clusters 1 and 2: answer --- */

/* What the authority of a cluster other than 0 may do. */
static long
refusals(void)
{
	return (kmachine_halt(authority(), 9) == -E_ACCES) +
		(kcluster_restart(authority(), 1) == -E_ACCES) +
		(kcluster_restart(authority(), 0) == -E_ACCES);
}

static void
serve(struct message *m, int in, int out)
{
	switch (m->operation) {
	case SPIN:
		for (;;)
			;
	case MAY:
		m->number = refusals();
		break;
	case TAKE:
		kportal_allow(in, 0, PORT_DATA);
		m->number = kportal_read(in, (unsigned long)data, BLOCK, FOREVER);
		break;
	case GIVE:
		m->number = kportal_write(out, (unsigned long)data, BLOCK, FOREVER);
		break;
	default:
		m->number++;
	}
}

/* Its end is the cluster's: init has ended. */
static int
answer(uint32_t self)
{
	int command = (int)kmailbox_create(PORT_COMMAND),
		to = (int)kmailbox_open(0, self == 2 ? PORT_STEADY : PORT_REPLY),
		in = (int)kportal_create(PORT_DATA),
		out = (int)kportal_open(0, PORT_DATA, PORT_DATA);
	struct message m;

	while (mailbox_receive(command, ANY_SOURCE_CLUSTER, &m) == 0 && m.operation != DIE) {
		serve(&m, in, out);
		m.cluster = self;
		if (mailbox_send(to, &m) != 0)
			return 1;
	}
	return 0;
}

/* --- cluster 0 --- */

static struct cluster_state
state_of(int cluster)
{
	struct cluster_state s = {0};

	expect_eq(kcluster_state(cluster, &s), 0);
	return s;
}

/* Sleep until a cluster is up, or dead, in a life behind this one. */
static void
await(int cluster, uint32_t state, uint32_t behind)
{
	struct cluster_state s;

	while (s = state_of(cluster), s.state != state || s.incarnation <= behind)
		expect(kthread_sleep(1u << BIT_LIFE, FOREVER) == 1 << BIT_LIFE);
}

static void
restart(int cluster)
{
	uint32_t life = state_of(cluster).incarnation;

	expect_eq(kcluster_restart(authority(), cluster), 0);
	await(cluster, CLUSTER_UP, life);
	expect_eq(state_of(cluster).incarnation, life + 1);
}

static int64_t
ask(int to, enum operation what, int64_t number)
{
	struct message m = {.operation = what, .number = number};

	if (mailbox_send(to, &m) != 0 || mailbox_receive(reply, 1, &m) != 0)
		return -1;
	return m.number;
}

static void
cluster_1_answers(int64_t number)
{
	int to = (int)kmailbox_open(1, PORT_COMMAND);

	expect(to >= 0);
	expect_eq(ask(to, ECHO, number), number + 1);
	expect_eq(khandle_close(to), 0);
}

/* Cluster 2 answers, all the time. */
static unsigned long
steady(unsigned long unused)
{
	int to = (int)kmailbox_open(2, PORT_COMMAND);
	struct message m = {.operation = ECHO};

	(void)unused;
	while (__atomic_load_n(&stopping, __ATOMIC_ACQUIRE) != STOP) {
		m.number = rounds;
		if (mailbox_send(to, &m) != 0 || mailbox_receive(steady_reply, 2, &m) != 0 ||
			m.cluster != 2 || m.number != rounds + 1)
			return 0;
		__atomic_fetch_add(&rounds, 1, __ATOMIC_RELEASE);
	}
	khandle_close(to);
	return rounds;
}

/* As many answers from now on. */
static void
await_rounds(uint32_t more)
{
	uint32_t from = __atomic_load_n(&rounds, __ATOMIC_ACQUIRE);

	while (__atomic_load_n(&rounds, __ATOMIC_ACQUIRE) - from < more)
		kthread_yield();
}

/* test: cluster_state */
TEST(what_is_known_of_a_cluster_can_be_asked)
{
	struct cluster_state s;

	expect_eq(kcluster_state(-1, &s), -E_INVAL);
	expect_eq(kcluster_state(3, &s), -E_INVAL);
	expect_eq(kcluster_state(1, (void *)8), -E_FAULT);
	expect_eq(state_of(0).state, CLUSTER_UP);
	expect_eq(kevent_bind(EVENT_CLUSTER, 1, BIT_LIFE), 0);
	await(1, CLUSTER_UP, 0);
	s = state_of(1);
	expect(s.incarnation == 1 && s.silent == 0 && s.deaths == 0);
}

/* test: cluster_restart */
TEST(only_who_may_end_the_machine_may_restart_a_cluster)
{
	int to = (int)kmailbox_open(1, PORT_COMMAND),
		less = (int)khandle_duplicate(authority(), SELF, RIGHTS_ALL & ~RIGHT_END);

	expect_eq(kcluster_restart(0, 1), -E_BADF);
	expect_eq(kcluster_restart(to, 1), -E_BADF);
	expect_eq(kcluster_restart(less, 1), -E_ACCES);
	expect_eq(kcluster_restart(authority(), 0), -E_INVAL);
	expect_eq(kcluster_restart(authority(), 3), -E_INVAL);
	expect_eq(kcluster_restart(authority(), -1), -E_INVAL);
	expect_eq(ask(to, MAY, 0), 3);
	expect_eq(khandle_close(to), 0);
	expect_eq(khandle_close(less), 0);
	expect_eq(state_of(1).incarnation, 1);
}

TEST(a_cluster_that_has_died_is_started_again)
{
	struct message m = {.operation = DIE};
	int to = (int)kmailbox_open(1, PORT_COMMAND);

	expect_eq(mailbox_send(to, &m), 0);
	await(1, CLUSTER_DEAD, 0);
	expect_eq(kmailbox_write(to, &m), -E_HOSTDOWN);
	expect_eq(kcluster_watch(1, 0), -E_HOSTDOWN);
	restart(1);
	expect_eq(kmailbox_write(to, &m), -E_CONNRESET);
	expect_eq(khandle_close(to), 0);
	expect_eq(kcluster_watch(1, 0), -E_TIMEDOUT);
	expect_eq(state_of(1).deaths, 2);
	cluster_1_answers(7);
}

TEST(a_cluster_that_lives_is_stopped_and_started_again)
{
	struct message m = {.operation = SPIN};
	uint32_t deaths = state_of(1).deaths;
	int to = (int)kmailbox_open(1, PORT_COMMAND);

	restart(1);
	cluster_1_answers(8);
	expect_eq(khandle_close(to), 0);
	to = (int)kmailbox_open(1, PORT_COMMAND);
	expect_eq(mailbox_send(to, &m), 0);
	restart(1);
	cluster_1_answers(9);
	expect_eq(khandle_close(to), 0);
	expect_eq(state_of(1).deaths, deaths + 2);
}

static unsigned long
watcher(unsigned long cluster)
{
	return (unsigned long)kcluster_watch((int)cluster, FOREVER);
}

static unsigned long
waiter(unsigned long mailbox)
{
	return (unsigned long)kmailbox_wait((int)mailbox, ANY_SOURCE_CLUSTER, FOREVER);
}

static unsigned long
portal_reader(unsigned long unused)
{
	(void)unused;
	return (unsigned long)kportal_read(portal, (unsigned long)data, BLOCK, FOREVER);
}

static unsigned long
portal_writer(unsigned long out)
{
	return (unsigned long)kportal_write((int)out, (unsigned long)data, BLOCK, FOREVER);
}

static unsigned long
sync_waiter(unsigned long sync)
{
	return (unsigned long)ksync_wait((int)sync, FOREVER);
}

TEST(every_wait_for_it_ends)
{
	uint8_t both[] = {1, 0};
	struct message m = {0};
	int never = (int)kmailbox_open(1, PORT_NEVER), out = (int)kportal_open(1, PORT_NEVER, 1),
		sync = (int)ksync_create(SYNC_ONE_TO_ALL, 1, both, sizeof(both));
	long tid[5];

	expect(never >= 0 && out >= 0 && sync >= 0);
	expect_eq(mailbox_send(never, &m), 0);
	expect_eq(kportal_allow(portal, 1, PORT_NEVER), 0);
	tid[0] = kt_waiter(watcher, 1);
	tid[1] = kt_waiter(waiter, (unsigned long)never);
	tid[2] = kt_waiter(portal_reader, 0);
	tid[3] = kt_waiter(portal_writer, (unsigned long)out);
	tid[4] = kt_waiter(sync_waiter, (unsigned long)sync);
	restart(1);
	for (int i = 0; i < 5; i++)
		expect_eq(kt_join(tid[i]), -E_HOSTDOWN);
	expect_eq(khandle_close(never), 0);
	expect_eq(khandle_close(out), 0);
	expect_eq(khandle_close(sync), 0);
	cluster_1_answers(10);
}

/*
 * Each time a little later in the transfer. The portal is used once before: it belongs to this life
 * of the other cluster, however late the thread begins.
 */
TEST(a_transfer_ends_wherever_it_is)
{
	for (unsigned i = 0; i < 24; i++) {
		struct message m = {.operation = i % 2 ? TAKE : GIVE};
		int to = (int)kmailbox_open(1, PORT_COMMAND),
			out = (int)kportal_open(1, PORT_DATA, PORT_DATA);
		long tid, moved;

		expect_eq(kportal_start(out, (unsigned long)data, 1), -E_AGAIN);
		expect_eq(mailbox_send(to, &m), 0);
		if (i % 2 == 0)
			expect_eq(kportal_allow(portal, 1, PORT_DATA), 0);
		tid = kt_thread(i % 2 ? portal_writer : portal_reader, (unsigned long)out,
			ANY_CORE);
		kt_pause(i * 10);
		restart(1);
		moved = kt_join(tid);
		expect(moved == -E_HOSTDOWN || moved == -E_CONNRESET || moved == BLOCK);
		expect_eq(khandle_close(to), 0);
		expect_eq(khandle_close(out), 0);
		while (kmailbox_read(reply, ANY_SOURCE_CLUSTER, &m, &(struct mail_sender){0}) >= 0)
			;
		cluster_1_answers(i);
	}
}

/*
 * It is refused while the first has not started the cluster, and starts it once more afterwards. A
 * life that is stopped before it has begun is none.
 */
TEST(a_restart_can_come_in_the_middle_of_another)
{
	for (unsigned i = 0; i < 10; i++) {
		uint32_t life = state_of(1).incarnation;
		long e;

		expect_eq(kcluster_restart(authority(), 1), 0);
		while ((e = kcluster_restart(authority(), 1)) == -E_BUSY)
			kthread_yield();
		expect_eq(e, 0);
		await(1, CLUSTER_UP, life);
		expect(state_of(1).incarnation <= life + 2);
		cluster_1_answers(i);
	}
}

TEST(frames_and_ports_are_in_balance_after_many_lives_of_another_cluster)
{
	uint64_t frames, mailboxes = kt_stats(STATS_MAILBOXES), portals = kt_stats(STATS_PORTALS);

	restart(1);
	cluster_1_answers(0);
	frames = kt_stats(STATS_FRAMES_FREE);
	for (int i = 0; i < MANY; i++) {
		restart(1);
		if (i % 16 == 0)
			cluster_1_answers(i);
	}
	expect_eq(kt_stats(STATS_FRAMES_FREE), frames);
	expect_eq(kt_stats(STATS_MAILBOXES), mailboxes);
	expect_eq(kt_stats(STATS_PORTALS), portals);
	cluster_1_answers(11);
}

/* The other one dies, or is restarted, too: who cannot settle is stopped. */
TEST(two_clusters_are_restarted_at_once)
{
	uint32_t one = state_of(1).incarnation, two = state_of(2).incarnation;

	expect_eq(kevent_bind(EVENT_CLUSTER, 2, BIT_LIFE), 0);
	for (uint32_t i = 0; i < 10; i++) {
		expect_eq(kcluster_restart(authority(), 1), 0);
		expect_eq(kcluster_restart(authority(), 2), 0);
		await(1, CLUSTER_UP, one + i);
		await(2, CLUSTER_UP, two + i);
	}
	cluster_1_answers(12);
	stopping = 0;
	rounds = 0;
	expect(kt_thread(steady, 0, ANY_CORE) > 0);
	await_rounds(10);
	expect_eq(state_of(2).deaths, 10);
}

int
server_main(int argc, char **argv)
{
	struct cluster_info info;
	long tid;

	(void)argc;
	(void)argv;
	kcluster_info(&info);
	if (info.cluster != 0)
		return answer(info.cluster);
	reply = (int)kmailbox_create(PORT_REPLY);
	steady_reply = (int)kmailbox_create(PORT_STEADY);
	portal = (int)kportal_create(PORT_DATA);
	RUN(what_is_known_of_a_cluster_can_be_asked);
	RUN(only_who_may_end_the_machine_may_restart_a_cluster);
	if (kcluster_restart(authority(), 1) == -E_NOSYS)
		kt_end();
	await(1, CLUSTER_UP, 1);
	tid = kt_thread(steady, 0, ANY_CORE);
	await_rounds(10);
	RUN(a_cluster_that_has_died_is_started_again);
	RUN(a_cluster_that_lives_is_stopped_and_started_again);
	RUN(every_wait_for_it_ends);
	RUN(a_transfer_ends_wherever_it_is);
	RUN(a_restart_can_come_in_the_middle_of_another);
	RUN(frames_and_ports_are_in_balance_after_many_lives_of_another_cluster);
	await_rounds(10);
	__atomic_store_n(&stopping, STOP, __ATOMIC_RELEASE);
	if (kt_join(tid) <= 0)
		console_print("FAIL cluster 2 did not answer all the time\n");
	RUN(two_clusters_are_restarted_at_once);
	kt_end();
}
