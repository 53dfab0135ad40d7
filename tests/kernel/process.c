/* SPDX-License-Identifier: MIT
 *
 * Processes: create, start, exit, wait, kill, crash; what they had comes back.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 * machine: 1 3 KC 2
 */
#include <tests/kernel/ktest.h>

enum role { EXIT = 1, CRASH_READ, CRASH_WRITE_TEXT, SPIN, SLEEP, STORM, MANY, RIGHTS, NAP,
	JOIN_LOOP };

#define BAD_ADDRESS 64

static volatile uint32_t tick;
static const volatile uintptr_t bad_address = BAD_ADDRESS;

static unsigned long
spin(unsigned long arg)
{
	(void)arg;
	for (;;)
		tick++;
	return 0;
}

static unsigned long
storm(unsigned long arg)
{
	for (;;) {
		kvoid_remote();
		if (arg & 1)
			kthread_yield();
	}
	return 0;
}

static unsigned long
nap(unsigned long arg)
{
	(void)arg;
	for (;;)
		kthread_sleep(WAKE_ANY, FOREVER);
	return 0;
}

static unsigned long
quick(unsigned long arg)
{
	return arg;
}

static int
rights(void)
{
	struct proc_status status;

	/* every number that is a handle in the process that made this one, and those around them */
	for (int h = 1 << 16; h < 2 << 16; h += 8) {
		if (kproc_kill(h, 1) != -E_BADF || kproc_wait(h, &status, FOREVER) != -E_BADF ||
			kmachine_halt(h, 3) != -E_BADF)
			return 1;
		if (kpage_unmap(h, (unsigned long)atoll_startup()->image_base, 1) != -E_BADF)
			return 2;
		if (h >> 4 > 1 << 12 && kthread_wakeup(h, 1) != -E_BADF)
			return 3;
	}
	return 0;
}

static int
child(uint32_t role, unsigned long arg)
{
	switch (role) {
	case EXIT:
		return (int)arg;
	case CRASH_READ:
		return *(volatile int *)bad_address;
	case CRASH_WRITE_TEXT:
		*(volatile int *)(uintptr_t)atoll_startup()->image_base = 1;
		return 0;
	case SPIN:
		spin(0);
	/* fall through */
	case SLEEP:
		nap(0);
	/* fall through */
	case STORM:
		for (unsigned long i = 0; i < 8; i++)
			kt_thread(storm, 1, ANY_CORE);
		if (arg != 0)
			kt_thread(storm, 0, (int)arg);
		storm(1);
	/* fall through */
	case MANY:
		for (unsigned long i = 0; i < 8; i++)
			kt_thread(nap, i, ANY_CORE);
		if (arg != 0)
			kt_thread(spin, 0, (int)arg);
		kt_pause(500);
		return 7;
	case RIGHTS:
		return rights();
	case JOIN_LOOP:
		for (;;)
			if (kt_join(kt_thread(quick, 5, ANY_CORE)) != 5)
				return 1;
	}
	return 99;
}

/* Numbers that must be as before. */
struct balance {
	uint64_t frames, threads, procs;
};

static struct balance
balance(void)
{
	return (struct balance){kt_stats(STATS_FRAMES_FREE), kt_stats(STATS_THREADS),
		kt_stats(STATS_PROCS)};
}

static void
expect_balance(struct balance b)
{
	expect_eq(kt_stats(STATS_FRAMES_FREE), b.frames);
	expect_eq(kt_stats(STATS_THREADS), b.threads);
	expect_eq(kt_stats(STATS_PROCS), b.procs);
}

/* test: proc_create, proc_start, proc_exit, proc_wait */
TEST(a_process_gives_its_status_once)
{
	struct proc_status status;
	uint32_t cause = 99;
	long proc = kt_spawn(EXIT, 42, ANY_CORE);

	expect(proc > 0);
	expect_eq(kt_end_of(proc, &cause), 42);
	expect_eq(cause, CRASH_NONE);
	expect_eq(kproc_wait((int)proc, &status, FOREVER), -E_SRCH);
	expect_eq(khandle_close((int)proc), 0);
	expect_eq(kproc_wait((int)proc, &status, FOREVER), -E_BADF);
	expect_eq(kproc_wait(-5, &status, FOREVER), -E_BADF);
	expect_eq(kproc_wait(SELF, &status, FOREVER), -E_INVAL);
}

TEST(a_status_is_not_lost_to_a_bad_address)
{
	uint32_t cause;
	void *bad;

	for (unsigned long i = 0; i < 6; i++) {
		long proc = kt_spawn(EXIT, 40 + i, ANY_CORE);

		if (i % 2)
			kt_pause(1000);
		while ((bad = kt_bad_place(sizeof(struct proc_status))) != NULL)
			expect_eq(kproc_wait((int)proc, bad, FOREVER), -E_FAULT);
		expect_eq(kt_wait(proc, &cause), (long)(40 + i));
	}
}

TEST(what_a_process_had_comes_back)
{
	uint32_t other = kt_other_core() > 0 ? (uint32_t)kt_other_core() : 0;
	struct balance b;

	kt_wait(kt_spawn(EXIT, 1, ANY_CORE), NULL);
	b = balance();
	for (int i = 0; i < 20; i++)
		expect_eq(kt_wait(i % 2 ? kt_spawn(MANY, other, kt_own_core()) :
			kt_spawn(EXIT, 7, ANY_CORE), NULL), 7);
	expect_balance(b);
}

/* test: crash_info */
TEST(a_process_that_faults_dies_alone)
{
	struct balance b = balance();
	unsigned char raw[CRASH_INFO_SIZE];
	struct crash_info *info = (struct crash_info *)raw;
	uint32_t cause;
	long proc = kt_spawn(CRASH_READ, 0, ANY_CORE);

	expect_eq(kt_end_of(proc, &cause), -CRASH_ACCESS);
	expect_eq(cause, CRASH_ACCESS);
	expect_eq(kcrash_info((int)proc, raw), 0);
	expect_eq(info->addr, BAD_ADDRESS);
	expect_eq(info->write, 0);
	expect(info->pc != 0 && info->sp != 0 && info->tid > 0);
	khandle_close((int)proc);
	proc = kt_spawn(CRASH_WRITE_TEXT, 0, ANY_CORE);
	kt_end_of(proc, &cause);
	expect_eq(cause, CRASH_ACCESS);
	expect_eq(kcrash_info((int)proc, raw), 0);
	expect_eq(info->write, 1);
	khandle_close((int)proc);
	proc = kt_spawn(EXIT, 0, ANY_CORE);
	kt_end_of(proc, &cause);
	expect_eq(kcrash_info((int)proc, raw), -E_NOENT);
	expect_eq(khandle_close((int)proc), 0);
	expect_eq(kcrash_info((int)proc, raw), -E_BADF);
	expect_balance(b);
}

/* test: proc_kill */
TEST(a_killed_process_leaves_nothing)
{
	static const uint32_t roles[] = {SPIN, SLEEP, STORM, JOIN_LOOP};
	int other = kt_other_core();
	struct balance b = balance();
	uint32_t cause;

	for (unsigned i = other < 0; i < 40; i += 1 + (other < 0 && i % 4 == 3)) {
		long proc = kt_spawn(roles[i % 4], other < 0 ? 0 : (uint32_t)other,
			roles[i % 4] == SPIN ? other : ANY_CORE);

		if (i >= 4)
			kt_pause(i * 13 % 300);
		expect_eq(kproc_kill((int)proc, 5), 0);
		expect_eq(kproc_kill((int)proc, 6), 0);
		expect_eq(kt_end_of(proc, &cause), 5);
		expect_eq(cause, CRASH_KILLED);
		expect_eq(kproc_kill((int)proc, 6), -E_SRCH);
		expect_eq(khandle_close((int)proc), 0);
	}
	expect_balance(b);
}

TEST(a_process_without_threads_can_be_killed)
{
	struct balance b = balance();
	long proc = kproc_create();
	uint64_t addr;

	expect(proc > 0);
	expect_eq(kmem_alloc((int)proc, 100000, PAGE_READ, &addr), 0);
	expect_eq(kproc_kill((int)proc, 3), 0);
	expect_eq(kt_wait(proc, NULL), 3);
	expect_balance(b);
}

TEST(a_process_takes_further_threads_from_its_creator)
{
	struct balance b = balance();
	long proc = kt_spawn(SLEEP, 0, ANY_CORE);

	expect_eq(kt_stats(STATS_THREADS), b.threads + 1);
	expect_eq(kt_spawn_in(proc, EXIT, 9, ANY_CORE), proc);
	expect_eq(kt_wait(proc, NULL), 9);
	expect_balance(b);
}

TEST(a_child_has_no_rights_on_others)
{
	expect_eq(kt_wait(kt_spawn(RIGHTS, 0, ANY_CORE), NULL), 0);
}

static void
fill_process_table(void)
{
	int id[300];
	int n = 0;
	long e;

	while ((e = kproc_create()) > 0 && n < 300)
		id[n++] = (int)e;
	expect(e == -E_NOSPC || e == -E_NOMEM);
	for (int i = 0; i < n; i++) {
		kproc_kill(id[i], 0);
		kt_wait(id[i], NULL);
	}
}

TEST(full_tables_are_an_error)
{
	struct balance b;

	fill_process_table();	/* the own table of handles stays as large as it ever was */
	b = balance();
	fill_process_table();
	expect_balance(b);
}

int
server_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (atoll_startup()->job != 0)
		return child(atoll_startup()->job, (unsigned long)atoll_startup()->shared);
	RUN(a_process_gives_its_status_once);
	RUN(a_status_is_not_lost_to_a_bad_address);
	RUN(what_a_process_had_comes_back);
	RUN(a_process_that_faults_dies_alone);
	RUN(a_killed_process_leaves_nothing);
	RUN(a_process_without_threads_can_be_killed);
	RUN(a_process_takes_further_threads_from_its_creator);
	RUN(a_child_has_no_rights_on_others);
	RUN(full_tables_are_an_error);
	kt_end();
}
