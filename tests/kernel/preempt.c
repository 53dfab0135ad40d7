/* SPDX-License-Identifier: MIT
 *
 * Time-sharing cores: threads that compute share one, a higher priority runs at once, and nobody
 * who computes keeps a server, or what comes over the network, from its core. Nothing here asserts
 * a time.
 *
 * machine: 1 3 KC
 * machine: 1 3 TC
 * machine: 1 1 TC
 * machine: 2 2 TC
 */
#include <base/str.h>
#include <tests/kernel/ktest.h>

#define FOREVER_ROLE 1
#define RISER_ROLE 3
#define SHORT_ROLE 2
#define PORT 1
#define PATIENCE 1000000000u		/* rounds of a loop that ends at once if it ends at all */
#define SOON_NS 20000000
#define SHARES 6			/* how often a thread finds that the other has run */

static uint32_t here[2], done, high_ran, stop;

static uint32_t
look(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void
set(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static uint64_t
ticks(void)
{
	uint64_t n = 0;

	kcore_count(COUNT_TICKS, &n);
	return n;
}

/* A core that is an application core in every machine of this test; -1 if there is none. */
static int
application_core(void)
{
	struct cluster_info info;

	kcluster_info(&info);
	return info.cores >= 3 ? 1 : -1;
}

/* Ends when the other one has begun. */
static unsigned long
meeter(unsigned long me)
{
	set(&here[me], 1);
	while (look(&here[1 - me]) == 0)
		continue;
	return me + 1;
}

TEST(threads_that_compute_share_a_core)
{
	long tid[2];

	here[0] = here[1] = 0;
	for (unsigned long i = 0; i < 2; i++)
		tid[i] = kt_thread(meeter, i, kt_own_core());
	for (int i = 0; i < 2; i++)
		expect_eq(kt_join(tid[i]), i + 1);
}

/* Whose parts depend on one another in many ways, so that each register counts. */
static uint32_t
compute(uint32_t seed)
{
	uint32_t a = seed, b = ~seed, c = seed * 5, d = seed ^ 0x55555555, e = 1, f = seed << 7;

	for (int i = 0; i < 20000; i++) {
		a += b ^ (c >> 3);
		b = (b << 5 | b >> 27) + d;
		c ^= a + e;
		d += (f >> 1) + a;
		e = e * 3 + (d ^ b);
		f ^= (c << 2) + e;
	}
	return a ^ b ^ c ^ d ^ e ^ f;
}

/* The same result again and again, until both have lost the core to the other a few times. */
static unsigned long
calculator(unsigned long me)
{
	uint32_t want = compute((uint32_t)me + 1);
	unsigned long wrong = 0;

	for (int lost = 0; lost < SHARES && look(&done) == 0;) {
		wrong += compute((uint32_t)me + 1) != want;
		if (look(&here[0]) == me)
			continue;
		set(&here[0], (uint32_t)me);
		lost++;
	}
	set(&done, 1);
	return wrong;
}

TEST(a_thread_that_lost_its_core_has_all_its_registers_again)
{
	long tid[2];

	set(&done, 0);
	for (unsigned long i = 0; i < 2; i++)
		tid[i] = kt_thread(calculator, i, kt_own_core());
	for (int i = 0; i < 2; i++)
		expect_eq(kt_join(tid[i]), 0);
}

static unsigned long
high(unsigned long times)
{
	for (uint32_t i = 1; i <= times; i++) {
		kthread_sleep(WAKE_ANY, FOREVER);
		set(&high_ran, i);
	}
	return times;
}

/*
 * Wakes a thread of its own core, which has the higher priority, and makes no call until that has
 * run.
 */
static unsigned long
low(unsigned long sleeper)
{
	unsigned long missed = 0;

	kthread_priority((int)kthread_self(), 0);
	for (uint32_t i = 1; i <= 20; i++) {
		uint32_t patience = PATIENCE;

		kthread_wakeup((int)sleeper, 1);
		while (look(&high_ran) != i && --patience > 0)
			continue;
		missed += patience == 0;
	}
	return missed;
}

/* test: thread_priority */
TEST(a_higher_priority_runs_before_the_lower_does_anything)
{
	long sleeper;

	high_ran = 0;
	sleeper = kt_thread(high, 20, kt_own_core());
	expect_eq(kt_join(kt_thread(low, (unsigned long)sleeper, kt_own_core())), 0);
	expect_eq(kt_join(sleeper), 20);
}

/* test: proc_priority */
TEST(nobody_gets_more_priority_than_its_process_may_have)
{
	long self = kthread_self(), child;

	expect_eq(kthread_priority((int)self, PRIORITIES), -E_INVAL);
	expect_eq(kthread_priority((int)self, -1), -E_INVAL);
	expect_eq(kthread_priority(-5, 0), -E_BADF);
	expect_eq(kthread_priority((int)self, PRIORITY_SERVER), 0);
	expect_eq(kproc_priority(-5, 0), -E_BADF);
	expect_eq(kt_wait(kt_spawn(RISER_ROLE, 0, ANY_CORE), NULL), RISER_ROLE);
	child = kproc_create();
	expect_eq(kproc_priority((int)child, PRIORITIES), -E_INVAL);
	expect_eq(kproc_priority((int)child, -1), -E_INVAL);
	expect_eq(kproc_priority((int)child, PRIORITY_SERVER), 0);
	expect_eq(kproc_kill((int)child, 0), 0);
	kt_wait(child, NULL);
}

/* A program that takes every core it can name, and that nobody asked to stop. */
static void
seize(void)
{
	for (;;)
		continue;
}

static unsigned long
seizer(unsigned long arg)
{
	(void)arg;
	seize();
	return 0;
}

static void
be_greedy(void)
{
	for (int i = 0; i < 4; i++)
		kt_thread(seizer, 0, 0);
	kt_thread(seizer, 0, (int)atoll_startup()->shared);
	seize();
}

/* test: proc_kill */
TEST(a_program_that_computes_does_not_keep_the_server_from_its_core)
{
	uint32_t cause = 0;
	long proc = kt_spawn(FOREVER_ROLE, (unsigned long)kt_own_core(), kt_own_core());

	expect(proc > 0);
	kt_pause(50000);
	expect_eq(kproc_kill((int)proc, 9), 0);
	kt_wait(proc, &cause);
	expect_eq(cause, CRASH_KILLED);
}

/*
 * Computes without a call, as a program does, until somebody else says that it is done. False: that
 * never happened.
 */
static bool
computes_until_done(void)
{
	uint32_t patience = PATIENCE;

	kthread_priority((int)kthread_self(), PRIORITY_PROGRAM);
	while (look(&done) == 0 && --patience > 0)
		continue;
	kthread_priority((int)kthread_self(), PRIORITY_SERVER);
	return patience > 0;
}

static unsigned long
sleeps_a_little(unsigned long arg)
{
	long e = kthread_sleep(WAKE_ANY, kt_now() + SOON_NS);

	(void)arg;
	set(&done, 1);
	return e == -E_TIMEDOUT;
}

/* test: thread_sleep */
TEST(a_deadline_ends_a_wait_while_its_core_and_home_compute)
{
	int core[2] = {kt_own_core(), application_core()};

	for (int i = 0; i < 2; i++) {
		long tid;

		if (core[i] < 0)
			continue;
		set(&done, 0);
		tid = kt_thread(sleeps_a_little, 0, core[i]);
		expect(computes_until_done());
		expect_eq(kt_join(tid), 1);
	}
}

static unsigned long
waits_for_end(unsigned long proc)
{
	int status = kt_wait((long)proc, NULL);

	set(&done, 1);
	return (unsigned long)status;
}

/* The rounds of its end are many, and home runs us. */
TEST(a_process_ends_while_home_computes)
{
	int core = application_core() < 0 ? kt_own_core() : application_core();
	long proc = kt_spawn(SHORT_ROLE, 0, core), waiter;

	expect(proc > 0);
	set(&done, 0);
	waiter = kt_thread(waits_for_end, (unsigned long)proc, core);
	expect(computes_until_done());
	expect_eq(kt_join(waiter), 7);
}

static unsigned long
yielder(unsigned long arg)
{
	(void)arg;
	while (look(&stop) == 0)
		kthread_yield();
	return (unsigned long)ticks();
}

/* test: core_count, stats */
TEST(application_and_kernel_cores_take_no_tick)
{
	struct cluster_info info;
	int core = application_core();
	long tid[2];

	kcluster_info(&info);
	if (core < 0)
		return;
	stop = 0;
	for (int i = 0; i < 2; i++)
		tid[i] = kt_thread(yielder, 0, core);
	kt_pause(50000);
	set(&stop, 1);
	for (int i = 0; i < 2; i++)
		expect_eq(kt_join(tid[i]), 0);
	if (info.core != 0)
		expect_eq(kt_stats(STATS_HOME_TICKS), 0);
}

static void
send(int cluster)
{
	static unsigned char message[MAILBOX_MSG_SIZE];
	long id = kmailbox_open(cluster, PORT), e;

	while ((e = kmailbox_write((int)id, message)) == -E_AGAIN)
		kt_pause(1000);
	expect_eq(e, 0);
	khandle_close((int)id);
}

static unsigned long
sender(unsigned long cluster)
{
	send((int)cluster);
	return 0;
}

/* test: mailbox_read */
TEST(who_asks_a_mailbox_without_a_pause_gets_what_comes)
{
	static unsigned char message[MAILBOX_MSG_SIZE];
	struct mail_sender from;
	struct cluster_info info;
	long id = kmailbox_create(PORT), tid, got;

	kcluster_info(&info);
	tid = kt_thread(sender, info.cluster, info.cores > 1 ? 1 : 0);
	for (uint32_t i = 0; i < info.clusters; i++) {
		while ((got = kmailbox_read((int)id, ANY_SOURCE_CLUSTER, message, &from)) ==
			-E_AGAIN)
			continue;
		expect(got >= 0);
	}
	expect_eq(kt_join(tid), 0);
	expect_eq(khandle_close((int)id), 0);
}

int
server_main(int argc, char **argv)
{
	struct cluster_info info;

	(void)argc;
	(void)argv;
	if (atoll_startup()->job == FOREVER_ROLE)
		be_greedy();
	if (atoll_startup()->job == RISER_ROLE)
		return kthread_priority((int)kthread_self(), PRIORITY_PROGRAM + 1) == -E_ACCES &&
			kproc_priority(SELF, PRIORITY_PROGRAM + 1) == -E_ACCES ? RISER_ROLE : 0;
	if (atoll_startup()->job == SHORT_ROLE) {
		kthread_sleep(WAKE_ANY, kt_now() + SOON_NS);
		return 7;
	}
	kcluster_info(&info);
	if (info.cluster != 0) {
		send(0);
		for (;;)
			kthread_sleep(WAKE_ANY, FOREVER);
	}
	RUN(threads_that_compute_share_a_core);
	RUN(a_thread_that_lost_its_core_has_all_its_registers_again);
	RUN(a_higher_priority_runs_before_the_lower_does_anything);
	RUN(nobody_gets_more_priority_than_its_process_may_have);
	RUN(a_program_that_computes_does_not_keep_the_server_from_its_core);
	RUN(a_deadline_ends_a_wait_while_its_core_and_home_compute);
	RUN(a_process_ends_while_home_computes);
	RUN(application_and_kernel_cores_take_no_tick);
	RUN(who_asks_a_mailbox_without_a_pause_gets_what_comes);
	kt_end();
}
