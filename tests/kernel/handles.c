/* SPDX-License-Identifier: MIT
 *
 * Handles from the outside: copies with fewer rights, grants, moves, views, what is left when the
 * last handle goes, and programs that try to name what nobody gave them.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 */
#include <tests/kernel/ktest.h>

enum role { NAP = 1, EXIT, USE, PARENT };

#define COPIES 40
#define TURNS 200			/* more than the table has places */

static unsigned long
value(unsigned long arg)
{
	return arg;
}

static unsigned long
nap(unsigned long arg)
{
	for (;;)
		kthread_sleep(WAKE_ANY, FOREVER);
	return arg;
}

/*
 * Use a handle that the creator put here: for reading only, then for nothing. A second thread says
 * that the first part is done.
 */
static int
use(int given)
{
	unsigned char info[CRASH_INFO_SIZE];
	struct proc_status status;

	if (kcrash_info(given, info) != -E_NOENT || kproc_kill(given, 9) != -E_ACCES ||
		kproc_wait(given, &status, FOREVER) != -E_ACCES)
		return 1;
	if (khandle_duplicate(given, given, RIGHTS_ALL) != -E_ACCES)
		return 2;
	kt_thread(nap, 0, ANY_CORE);
	while (kcrash_info(given, info) == -E_NOENT)
		kthread_yield();
	return kcrash_info(given, info) == -E_BADF && kproc_kill(given, 9) == -E_BADF ? 0 : 3;
}

/* Leave children behind that nobody else knows. */
static int
parent(void)
{
	int a = (int)kproc_create(), b = (int)kproc_create();

	/* which would not end if they named each other, or themselves */
	if (khandle_duplicate(a, a, RIGHTS_ALL) != -E_ACCES ||
		khandle_duplicate(a, b, RIGHTS_ALL) != -E_ACCES)
		return 7;
	return a > 0 && b > 0 ? 5 : 6;
}

static void
wait_for_procs(uint64_t n)
{
	while (kt_stats(STATS_PROCS) != n)
		kthread_yield();
}

/* test: handle_duplicate, handle_close */
TEST(a_copy_has_the_rights_that_it_was_given)
{
	unsigned char info[CRASH_INFO_SIZE];
	long proc = kt_spawn(NAP, 0, ANY_CORE);
	int copy = (int)khandle_duplicate((int)proc, SELF, RIGHT_READ);

	expect(copy > 0);
	expect_eq(kcrash_info(copy, info), -E_NOENT);
	expect_eq(kproc_kill(copy, 1), -E_ACCES);
	expect_eq(kpage_unmap(copy, 0x10000, 1), -E_ACCES);
	expect_eq(khandle_duplicate(copy, copy, RIGHTS_ALL), -E_ACCES);
	expect_eq(khandle_close(copy), 0);
	expect_eq(khandle_close(copy), -E_BADF);
	expect_eq(kcrash_info(copy, info), -E_BADF);
	expect_eq(kthread_wakeup((int)proc, 1), -E_BADF);
	expect_eq(khandle_duplicate(77, SELF, RIGHTS_ALL), -E_BADF);
	expect_eq(khandle_duplicate((int)proc, 77, RIGHTS_ALL), -E_BADF);
	expect_eq(kproc_kill((int)proc, 4), 0);
	expect_eq(kt_wait(proc, NULL), 4);
}

TEST(a_thread_cannot_be_named_elsewhere)
{
	long proc = kt_spawn(NAP, 0, ANY_CORE), thread = kt_thread(value, 9, ANY_CORE);

	expect_eq(khandle_duplicate((int)thread, (int)proc, RIGHTS_ALL), -E_ACCES);
	expect_eq(kt_join(thread), 9);
	kproc_kill((int)proc, 0);
	kt_wait(proc, NULL);
}

TEST(a_thread_that_nobody_can_join_leaves_nothing)
{
	uint64_t threads = kt_stats(STATS_THREADS);
	long thread, copy;
	uint64_t v;

	for (int i = 0; i < 200; i++) {
		thread = kt_thread(value, 9, ANY_CORE);
		expect(thread > 0);
		expect_eq(khandle_close((int)thread), 0);
		while (i % 8 == 7 && kt_stats(STATS_THREADS) != threads)
			kthread_yield();
	}
	/* a copy: the value is taken by one, the other names what is over */
	thread = kt_thread(value, 9, ANY_CORE);
	copy = khandle_duplicate((int)thread, SELF, RIGHTS_ALL);
	expect_eq(kt_join(copy), 9);
	expect_eq(kthread_join((int)thread, &v, FOREVER), -E_BADF);
	expect_eq(kthread_join((int)copy, &v, FOREVER), -E_SRCH);
	expect_eq(kthread_wakeup((int)copy, 1), -E_SRCH);
	expect_eq(khandle_close((int)copy), 0);
	expect_eq(kt_stats(STATS_THREADS), threads);
}

/* test: handle_revoke */
TEST(a_grant_ends_when_its_view_is_revoked)
{
	long target = kt_spawn(NAP, 0, ANY_CORE), user = kproc_create();
	int view = (int)khandle_duplicate((int)target, SELF, RIGHTS_ALL | HANDLE_VIEW);
	long given = khandle_duplicate(view, (int)user, RIGHT_READ);
	uint64_t threads = kt_stats(STATS_THREADS);

	expect(view > 0 && given > 0);
	expect_eq(khandle_revoke((int)target), -E_INVAL);
	expect_eq(kt_spawn_in(user, USE, (unsigned long)given, ANY_CORE), user);
	while (kt_stats(STATS_THREADS) != threads + 2)
		kthread_yield();
	expect_eq(khandle_revoke(view), 0);
	expect_eq(kt_wait(user, NULL), 0);
	expect_eq(kproc_kill(view, 3), 0);
	expect_eq(kt_wait(target, NULL), 3);
	expect_eq(khandle_close(view), 0);
}

/* What a bit says now. */
static long
told(int bit)
{
	return kthread_sleep(1u << bit, 0);
}

/* test: event_bind, handle_revoke. Once that the handle is gone, then nothing. */
TEST(a_binding_ends_with_its_handle)
{
	long target = kt_spawn(NAP, 0, ANY_CORE), thread = kt_thread(value, 9, ANY_CORE);
	long in = kmailbox_create(5), out = kmailbox_open(0, 5);
	int view = (int)khandle_duplicate((int)target, SELF, RIGHTS_ALL | HANDLE_VIEW);
	int mail = (int)khandle_duplicate((int)in, SELF, RIGHTS_ALL | HANDLE_VIEW);
	int copy = (int)khandle_duplicate(view, SELF, RIGHTS_ALL);
	int lent = (int)khandle_duplicate(mail, SELF, RIGHTS_ALL);
	int again = (int)khandle_duplicate((int)thread, SELF, RIGHTS_ALL);
	unsigned char message[MAILBOX_MSG_SIZE] = {0};

	expect_eq(kevent_bind(EVENT_PROC, copy, 1), 0);
	expect_eq(kevent_bind(EVENT_MAILBOX, lent, 2), 0);
	expect_eq(told(1) == -E_TIMEDOUT && told(2) == -E_TIMEDOUT, true);
	expect_eq(khandle_revoke(view), 0);
	expect_eq(told(1), 2);
	expect_eq(khandle_revoke(mail), 0);
	expect_eq(told(2), 4);
	expect_eq(kmailbox_write((int)out, message), 0);
	expect_eq(told(2), -E_TIMEDOUT);
	expect_eq(kevent_bind(EVENT_MAILBOX, mail, 2), 0);		/* there is a message */
	expect_eq(told(2), 4);
	expect_eq(khandle_close(mail), 0);
	expect_eq(told(2), 4);
	expect_eq(kevent_bind(EVENT_PROC, view, 1), 0);
	/* it names the new generation */
	expect_eq(khandle_revoke(view), 0);
	expect_eq(told(1), -E_TIMEDOUT);
	expect_eq(kproc_kill((int)target, 4), 0);
	expect_eq(kt_wait(target, NULL), 4);
	expect_eq(told(1), 2);
	expect_eq(khandle_close(view), 0);
	expect_eq(told(1), -E_TIMEDOUT);
	expect_eq(kt_join(thread), 9);
	expect_eq(kevent_bind(EVENT_THREAD, again, 3), -E_SRCH);
	expect_eq(khandle_close(again), 0);
	expect_eq(khandle_close(copy), 0);
	expect_eq(khandle_close(lent), 0);
	expect_eq(khandle_close((int)in), 0);
	expect_eq(khandle_close((int)out), 0);
}

TEST(what_nobody_names_ends)
{
	uint64_t procs = kt_stats(STATS_PROCS), frames;
	long proc;

	expect_eq(kt_wait(kt_spawn(PARENT, 0, ANY_CORE), NULL), 5);
	wait_for_procs(procs);
	frames = kt_stats(STATS_FRAMES_FREE);
	for (int i = 0; i < 60; i++) {
		if (i % 3 == 0) {
			expect_eq(kt_wait(kt_spawn(PARENT, 0, ANY_CORE), NULL), 5);
		} else if (i % 3 == 1) {
			expect_eq(khandle_close((int)kproc_create()), 0);
		} else {
			proc = kt_spawn(i % 2 ? NAP : EXIT, 0, ANY_CORE);
			kt_pause((uint64_t)i);
			expect_eq(khandle_close((int)proc), 0);
		}
		wait_for_procs(procs);
	}
	expect_eq(kt_stats(STATS_FRAMES_FREE), frames);
}

TEST(a_moved_handle_is_gone_here)
{
	uint64_t procs = kt_stats(STATS_PROCS);
	long target = kt_spawn(NAP, 0, ANY_CORE), user = kproc_create();
	long given = khandle_duplicate((int)target, (int)user, RIGHT_READ | HANDLE_MOVE);

	expect(given > 0);
	expect_eq(kproc_kill((int)target, 1), -E_BADF);
	/* the other held its last handle */
	expect_eq(kproc_kill((int)user, 0), 0);
	expect_eq(kt_wait(user, NULL), 0);
	wait_for_procs(procs);
}

/*
 * A handle of something that is over keeps its entry, and names nothing else; nor does one that was
 * closed, when others have its place.
 */
TEST(a_stale_handle_never_names_a_later_process)
{
	uint64_t procs = kt_stats(STATS_PROCS);
	long old[COPIES];

	for (int i = 0; i < COPIES; i++) {
		old[i] = kt_spawn(EXIT, 0, ANY_CORE);
		expect_eq(kt_wait(old[i], NULL), 1);
		for (int n = 0; n <= i; n++)
			expect_eq(kproc_kill((int)old[n], 1), -E_BADF);
	}
	for (int i = 0; i < TURNS; i++) {
		long proc = kproc_create();

		expect(proc > 0);
		expect_eq(kproc_kill((int)old[0], 1), -E_BADF);
		expect_eq(khandle_close((int)proc), 0);
		/* it ends after the call: others would fill the table before it has */
		wait_for_procs(procs);
	}
}

static int
child(uint32_t role, unsigned long arg)
{
	switch (role) {
	case NAP:
		nap(0);
	/* fall through */
	case EXIT:
		return 1;
	case USE:
		return use((int)arg);
	case PARENT:
		return parent();
	}
	return 99;
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (atoll_startup()->job != 0)
		return child(atoll_startup()->job, (unsigned long)atoll_startup()->shared);
	/*
	 * as its children: what waits for them by yielding would otherwise keep its core from them
	 */
	kthread_priority((int)kthread_self(), PRIORITY_PROGRAM);
	RUN(a_copy_has_the_rights_that_it_was_given);
	RUN(a_thread_cannot_be_named_elsewhere);
	RUN(a_thread_that_nobody_can_join_leaves_nothing);
	RUN(a_grant_ends_when_its_view_is_revoked);
	RUN(a_binding_ends_with_its_handle);
	RUN(what_nobody_names_ends);
	RUN(a_moved_handle_is_gone_here);
	RUN(a_stale_handle_never_names_a_later_process);
	kt_end();
}
