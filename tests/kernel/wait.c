/* SPDX-License-Identifier: MIT
 *
 * Waits with deadlines: every call that waits, with a time that is over, one that comes soon, and
 * none, on a cluster that is alone or has a peer that does nothing.
 */
#include <tests/kernel/ktest.h>

#define SOON_NS 2000000
#define PORT 3
#define BYTES 20000

enum { SLEEPER = 1 };

static uint32_t word;
static unsigned char from[BYTES], to[BYTES];

static unsigned long
sleep_for_ever(unsigned long arg)
{
	kthread_sleep(WAKE_ANY, FOREVER);
	return arg;
}

/* A call that nothing ends but its deadline. */
#define expect_late(expression) do { \
	uint64_t deadline = kt_now() + SOON_NS; \
	expect_eq((expression), -E_TIMEDOUT); \
	expect(kt_now() >= deadline); \
	deadline = 0; \
	expect_eq((expression), -E_TIMEDOUT); \
} while (0)

/* test: thread_sleep, futex_wait, thread_join, mailbox_wait, portal_read, portal_write */
TEST(every_wait_ends_by_its_deadline)
{
	long tid = kt_thread(sleep_for_ever, 5, ANY_CORE);
	int in = (int)kmailbox_create(PORT), portal = (int)kportal_create(PORT),
		out = (int)kportal_open(0, PORT, PORT);
	uint64_t value;

	expect_late(kthread_sleep(WAKE_ANY, deadline));
	expect_late(kfutex_wait((unsigned long)&word, 0, deadline));
	expect_late(kthread_join((int)tid, &value, deadline));
	expect_late(kmailbox_wait(in, ANY_SOURCE_CLUSTER, deadline));
	expect_late(kportal_write(out, (unsigned long)from, BYTES, deadline));
	expect_eq(kportal_allow(portal, 0, PORT), 0);
	expect_late(kportal_read(portal, (unsigned long)to, BYTES, deadline));
	expect_eq(kthread_wakeup((int)tid, 1), 0);
	expect_eq(kt_join(tid), 5);
	expect_eq(kportal_allow(portal, 0, PORT), -E_BUSY);	/* the allowance stays */
	expect_eq(khandle_close(in), 0);
	expect_eq(khandle_close(portal), 0);
	expect_eq(khandle_close(out), 0);
}

/* test: proc_wait */
TEST(the_end_of_a_process_is_waited_for_so_long)
{
	long proc = kt_spawn(SLEEPER, 0, ANY_CORE);
	struct proc_status status;

	expect(proc > 0);
	expect_late(kproc_wait((int)proc, &status, deadline));
	expect_eq(kproc_kill((int)proc, 9), 0);
	expect_eq(kproc_wait((int)proc, &status, kt_now() + 60 * 1000000000ull), 0);
	expect_eq(status.status, 9);
}

/* A time so far away that no clock of the machine can count to it is no deadline. */
static unsigned long
wakes(unsigned long tid)
{
	kt_pause(2000);
	kthread_wakeup((int)tid, 1);
	return 1;
}

TEST(a_time_that_never_comes_is_no_deadline)
{
	static const uint64_t far[] = {FOREVER, FOREVER - 1, FOREVER / 2, FOREVER / 2 - 1,
		FOREVER / 4};

	for (unsigned i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		long tid = kt_thread(wakes, (unsigned long)kthread_self(), ANY_CORE);

		expect_eq(kthread_sleep(WAKE_ANY, far[i]), 1);
		expect_eq(kt_join(tid), 1);
	}
}

static unsigned long
sleeps_until(unsigned long us)
{
	return kthread_sleep(WAKE_ANY, kt_now() + us * 1000) == -E_TIMEDOUT ? us : 0;
}

TEST(many_deadlines_pass_each_at_its_time)
{
	long tid[20];

	for (unsigned i = 0; i < 20; i++)
		tid[i] = kt_thread(sleeps_until, 500 + (i * 7 + 3) % 20 * 200, ANY_CORE);
	for (unsigned i = 0; i < 20; i++)
		expect_eq(kt_join(tid[i]), 500 + (i * 7 + 3) % 20 * 200);
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (atoll_startup()->job == SLEEPER)
		return (int)sleep_for_ever(0);
	RUN(every_wait_ends_by_its_deadline);
	RUN(the_end_of_a_process_is_waited_for_so_long);
	RUN(a_time_that_never_comes_is_no_deadline);
	RUN(many_deadlines_pass_each_at_its_time);
	kt_end();
}
