/* SPDX-License-Identifier: MIT
 *
 * Cores get other roles while threads compute, wait and end on them: whoever has to leave goes on
 * elsewhere, a core that is shared is shared, and one that is not has no tick.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 */
#include <base/str.h>
#include <tests/kernel/ktest.h>

#define BIT 5
#define MS 1000000ull
#define ROUNDS 30
#define WORKERS 5
#define CORES 16
#define UNIT (1ull << CORE_IDLE_SHIFT)	/* of the time for which cores had nothing to run */

enum job { NONE, COMPUTES_FOR_EVER, SPINS, ENDS };

static int authority, cores;
static uint32_t role_at_first[CORES];
static uint32_t go_on, laps[WORKERS];

static long
give(int core, uint32_t role)
{
	return kcore_role(authority, core, (int)role);
}

static void
all_as_at_first(void)
{
	for (int round = 0; round < 2; round++)	/* the last TC stays one until there is another */
		for (int i = 0; i < cores; i++)
			give(i, role_at_first[i]);
	for (int i = 0; i < cores; i++)
		expect_eq(kt_core_info(i).role, role_at_first[i]);
}

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

/* test: core_role, core_info */
TEST(a_core_has_each_role)
{
	static const uint32_t roles[] = {ROLE_TC, ROLE_KC, ROLE_AC, ROLE_IDLE, ROLE_AC, ROLE_TC,
		ROLE_IDLE, ROLE_KC, ROLE_TC, ROLE_AC};

	for (int i = 1; i < cores; i++) {
		uint32_t changes = kt_core_info(i).roles;

		if (role_at_first[i] == ROLE_TC)
			continue;
		for (unsigned k = 0; k < sizeof(roles) / sizeof(roles[0]); k++) {
			expect_eq(give(i, roles[k]), 0);
			expect_eq(give(i, roles[k]), 0);
			expect_eq(kt_core_info(i).role, roles[k]);
			expect_eq(kt_core_info(i).roles, changes + k + 1);
		}
	}
	all_as_at_first();
}

static uint64_t
role_time(const struct core_info *i)
{
	uint64_t ns = 0;

	for (int role = 0; role < ROLE_KINDS; role++)
		ns += i->role_ns[role];
	return ns;
}

/* test: core_info */
TEST(a_core_tells_how_long_it_has_had_each_role)
{
	int core = cores - 1;
	uint64_t begin = kt_now();
	struct core_info first = kt_core_info(core), before, after;

	for (uint32_t role = 0; role < ROLE_KINDS; role++) {
		if (give(core, role) != 0)
			continue;
		before = kt_core_info(core);
		kthread_sleep(WAKE_ANY, kt_now() + 2 * MS);
		after = kt_core_info(core);
		for (uint32_t k = 0; k < ROLE_KINDS; k++)
			if (k != role)
				expect_eq(after.role_ns[k], before.role_ns[k]);
		expect(after.role_ns[role] >= before.role_ns[role] + 2 * MS);
		expect(role_time(&after) - role_time(&first) <= kt_now() - begin);
	}
	all_as_at_first();
}

/* test: core_info */
TEST(core_0_counts_what_it_serves)
{
	struct core_info before = kt_core_info(0), after;

	for (unsigned i = 0; i < 100; i++)
		kvoid_remote();
	after = kt_core_info(0);
	expect(after.messages - before.messages >= 101);
	expect(after.waiting < (uint32_t)cores);
}

/* test: core_role, core_info */
TEST(wrong_roles_are_refused)
{
	int weak = (int)khandle_duplicate(authority, SELF, RIGHTS_ALL & ~RIGHT_WRITE);
	struct core_info info;

	expect_eq(kcore_role(12345, 0, ROLE_TC), -E_BADF);
	expect_eq(kcore_role((int)kthread_self(), 0, ROLE_TC), -E_BADF);
	expect_eq(kcore_role(weak, 0, ROLE_TC), -E_ACCES);
	expect_eq(khandle_close(weak), 0);
	expect_eq(give(-1, ROLE_AC), -E_INVAL);
	expect_eq(give(cores, ROLE_AC), -E_INVAL);
	expect_eq(give(0x7fffffff, ROLE_AC), -E_INVAL);
	expect_eq(give(0, ROLE_AC), -E_INVAL);
	expect_eq(give(0, ROLE_IDLE), -E_INVAL);
	for (int i = 0; i < cores; i++) {
		expect_eq(give(i, 4), -E_INVAL);
		expect_eq(give(i, 0xffffffff), -E_INVAL);
		if (role_at_first[i] == ROLE_TC)
			expect_eq(give(i, ROLE_KC), -E_BUSY);
	}
	expect_eq(kcore_info(-1, &info), -E_INVAL);
	expect_eq(kcore_info(cores, &info), -E_INVAL);
	expect_eq(kcore_info(0, (void *)16), -E_FAULT);
	all_as_at_first();
}

/* Computes, and now and then calls home, until the end; how often it was wrong. */
static unsigned long
computes(unsigned long me)
{
	uint32_t want = kt_compute((uint32_t)me + 1, 100);
	unsigned long wrong = 0;

	while (look(&go_on) != 0) {
		wrong += kt_compute((uint32_t)me + 1, 100) != want;
		if (look(&laps[me]) % 8 == 7)
			wrong += kvoid_remote() != 0;
		set(&laps[me], look(&laps[me]) + 1);
	}
	return wrong;
}

static uint64_t
idle_ns(int core)
{
	return (uint64_t)kt_core_info(core).idle << CORE_IDLE_SHIFT;
}

/* The first test: nobody has changed roles yet. test: core_info */
TEST(a_core_tells_how_long_it_had_nothing_to_run)
{
	int core = 1;
	uint64_t from, begin, first, idle, to;
	long tid;

	if (cores < 4)
		return;
	/* nothing but the first question has woken it up since it was started */
	for (first = idle_ns(core); idle_ns(core) < first + 2 * UNIT;)
		kthread_sleep(WAKE_ANY, kt_now() + MS / 10);
	from = kt_now();
	first = idle_ns(core);
	begin = kt_now();
	kthread_sleep(WAKE_ANY, kt_now() + 2 * MS);
	to = kt_now();
	idle = idle_ns(core) - first;
	expect(idle + 2 * UNIT >= to - begin && idle <= kt_now() - from + 2 * UNIT);
	set(&go_on, 1);
	set(&laps[0], 0);
	tid = kt_thread(computes, 0, core);
	while (look(&laps[0]) == 0)
		kthread_sleep(WAKE_ANY, kt_now() + MS / 10);
	first = idle_ns(core);
	kthread_sleep(WAKE_ANY, kt_now() + MS);
	expect_eq(idle_ns(core), first);
	set(&go_on, 0);
	expect_eq(kt_join(tid), 0);
}

/* Sleeps for short, or until somebody wakes it. */
static unsigned long
dozes(unsigned long me)
{
	while (look(&go_on) != 0) {
		kthread_sleep(1u << BIT, kt_now() + MS / 8);
		set(&laps[me], look(&laps[me]) + 1);
	}
	return 0;
}

/* All get on: each has done something since. */
static void
all_get_on(void)
{
	uint32_t before[WORKERS];

	for (int i = 0; i < WORKERS; i++)
		before[i] = look(&laps[i]);
	for (int i = 0; i < WORKERS; i++)
		while (look(&laps[i]) == before[i])
			kthread_sleep(WAKE_ANY, kt_now() + MS / 10);
}

static void
workers_begin(long *tid)
{
	set(&go_on, 1);
	for (unsigned long i = 0; i < WORKERS; i++) {
		set(&laps[i], 0);
		tid[i] = kt_thread(i % 2 == 0 ? computes : dozes, i, ANY_CORE);
		expect(tid[i] > 0);
	}
}

static void
workers_end(const long *tid)
{
	set(&go_on, 0);
	for (int i = 0; i < WORKERS; i++)
		expect_eq(kt_join(tid[i]), 0);
}

static int
core_of(long tid)
{
	struct thread_counts c;
	long e;

	do
		e = kthread_stats((int)tid, 0, &c);
	while (e == -E_AGAIN);
	expect_eq(e, 0);
	return (int)c.core;
}

/* One core is left to threads, a TC, then another one; those that are there share it. */
TEST(threads_leave_a_core_that_runs_none)
{
	long tid[WORKERS];

	workers_begin(tid);
	for (int left = cores - 1; left >= 0 && cores > 1; left--) {
		if (give(left, ROLE_TC) != 0)
			continue;
		for (int i = 0; i < cores; i++)
			if (i != left)
				expect_eq(give(i, i % 2 == 0 ? ROLE_KC : ROLE_IDLE), 0);
		all_get_on();
		for (int i = 0; i < WORKERS; i++)
			expect_eq(core_of(tid[i]), left);
		for (int i = 0; i < cores; i++)
			expect_eq(kt_core_info(i).threads != 0, i == left);
	}
	all_as_at_first();
	all_get_on();
	workers_end(tid);
}

static void
wait_for_threads(const long *tid, bool on_core_0)
{
	for (int i = 0; i < WORKERS; i++)
		while ((core_of(tid[i]) == 0) != on_core_0)
			kthread_sleep(WAKE_ANY, kt_now() + MS / 10);
}

/* Core 0 sends its threads away when it becomes a kernel core, and has them again later. */
TEST(threads_of_core_0_leave_and_come_back)
{
	long tid[WORKERS];
	uint32_t ticks;

	if (cores < 2)
		return;
	for (int i = 0; i < cores; i++)
		expect_eq(give(i, ROLE_TC), 0);	/* nobody computes an AC to death */
	expect_eq(kt_core_info(0).acts, ROLE_TC);
	workers_begin(tid);
	for (int i = 0; i < WORKERS; i++)
		expect_eq(kthread_cores((int)tid[i], 0, 1), 0);
	wait_for_threads(tid, true);
	for (int round = 0; round < 5; round++) {
		expect_eq(give(0, ROLE_KC), 0);
		wait_for_threads(tid, false);
		while (kt_core_info(0).acts != ROLE_KC)
			kthread_sleep(WAKE_ANY, kt_now() + MS / 10);
		expect_eq(kt_core_info(0).threads, 0);
		expect_eq(kt_core_info(0).role, ROLE_KC);
		ticks = kt_core_info(0).ticks;
		all_get_on();
		expect_eq(kt_core_info(0).ticks, ticks);
		expect_eq(give(0, ROLE_TC), 0);
		wait_for_threads(tid, true);
		all_get_on();
		expect(kt_core_info(0).threads >= WORKERS);
	}
	/* whoever is sent elsewhere meanwhile stays there */
	expect_eq(give(0, ROLE_KC), 0);
	for (int i = 0; i < WORKERS; i++)
		expect_eq(kthread_cores((int)tid[i], 1, 1), 0);
	expect_eq(give(0, ROLE_TC), 0);
	all_get_on();
	wait_for_threads(tid, false);
	workers_end(tid);
	all_as_at_first();
}

static uint32_t met[2];

/* Meets another one, again and again, and makes no call. */
static unsigned long
meets(unsigned long me)
{
	for (uint32_t i = 1; i <= 3; i++) {
		set(&met[me], i);
		while (look(&met[1 - me]) < i)
			continue;
	}
	return me;
}

/* Two that compute on an application core wait for each other for ever; on a TC they do not. */
TEST(a_core_that_is_shared_now_runs_what_waits)
{
	struct core_info before, after;
	long tid[2];

	if (cores < 4)
		return;
	expect_eq(give(1, ROLE_AC), 0);
	before = kt_core_info(1);
	met[0] = met[1] = 0;
	for (unsigned long i = 0; i < 2; i++)
		tid[i] = kt_thread(meets, i, 1);
	while (look(&met[0]) + look(&met[1]) == 0)
		kthread_sleep(WAKE_ANY, kt_now() + MS / 10);
	kthread_sleep(WAKE_ANY, kt_now() + 30 * MS);
	expect(look(&met[0]) == 0 || look(&met[1]) == 0);
	expect_eq(kt_core_info(1).ticks, before.ticks);
	expect_eq(give(1, ROLE_TC), 0);
	for (unsigned long i = 0; i < 2; i++)
		expect_eq(kt_join(tid[i]), i);
	after = kt_core_info(1);
	expect(after.ticks > before.ticks);
	expect_eq(after.threads, 0);
	all_as_at_first();
}

/* Those that shared a TC go to the others when it becomes an AC, which has no tick from then on. */
TEST(a_core_that_is_not_shared_any_more_has_no_tick)
{
	long tid[2];
	uint32_t ticks;

	if (cores < 4)
		return;
	expect_eq(give(1, ROLE_TC), 0);
	expect_eq(give(2, ROLE_TC), 0);
	set(&go_on, 1);
	for (unsigned long i = 0; i < 2; i++)
		tid[i] = kt_thread(computes, i, 1);
	while (kt_core_info(1).ticks == 0)
		kthread_sleep(WAKE_ANY, kt_now() + MS);
	expect_eq(give(1, ROLE_AC), 0);
	while (kt_core_info(1).threads != 0)
		kthread_sleep(WAKE_ANY, kt_now() + MS / 10);
	ticks = kt_core_info(1).ticks;
	expect_eq(kthread_cores((int)tid[0], 1, 1), 0);
	expect_eq(kthread_cores((int)tid[1], 1, 1), 0);
	while (kt_core_info(1).threads != 2)
		kthread_sleep(WAKE_ANY, kt_now() + MS / 10);
	kthread_sleep(WAKE_ANY, kt_now() + 30 * MS);
	expect_eq(kt_core_info(1).ticks, ticks);
	set(&go_on, 0);
	for (int i = 0; i < 2; i++)
		expect_eq(kt_join(tid[i]), 0);
	all_as_at_first();
}

#define CROWD 12

/* What the kernel has decided by itself: of threads that it has sent to an empty core; of all. */
static uint32_t
threads_sent(void)
{
	uint32_t n = 0;

	for (int i = 0; i < cores; i++)
		n += kt_core_info(i).spread;
	return n;
}

static uint32_t
decisions(void)
{
	uint32_t n = threads_sent();

	for (int i = 0; i < cores; i++)
		n += kt_core_info(i).crowded;
	return n;
}

static void
end_of(long proc)
{
	uint32_t cause;

	expect_eq(kproc_kill((int)proc, 9), 0);
	expect_eq(kt_wait(proc, &cause), 9);
}

/* More processes than cores compute for ever: whoever comes gets on, and they spread. */
TEST(processes_that_compute_keep_nobody_from_a_core)
{
	uint32_t cause, decided = decisions();
	long proc[CROWD];
	int alone;

	for (unsigned long i = 0; i < CROWD; i++) {
		proc[i] = kt_spawn(SPINS, i, ANY_CORE);
		expect(proc[i] > 0);
	}
	for (unsigned long i = 0; i < CROWD; i++) {
		long guest = kt_spawn(ENDS, i, ANY_CORE);

		expect_eq(kt_wait(guest, &cause), i);
	}
	for (int i = 0; i < cores; i++)
		expect_eq(kt_core_info(i).role, role_at_first[i]);
	for (int i = cores - 1; i < CROWD; i++)
		end_of(proc[i]);
	/* each has a core of its own soon, where there is one for it */
	do {
		kthread_sleep(WAKE_ANY, kt_now() + MS);
		alone = 0;
		for (int i = 1; i < cores; i++)
			alone += kt_core_info(i).threads == 1 + (i == kt_own_core());
	} while (alone < cores - 1);
	expect(cores < 4 || decisions() != decided);
	for (int i = 0; i < cores - 1; i++)
		end_of(proc[i]);
	/* a core that becomes empty later is what it was */
	for (int i = 1; i < cores; i++)
		while (i != kt_own_core() && kt_core_info(i).acts != kt_core_info(i).role) {
			kthread_sleep(WAKE_ANY, kt_now() + 20 * MS);
			kt_wait(kt_spawn(ENDS, 0, ANY_CORE), &cause);
		}
}

/* Two compute on one core when another becomes empty: one goes there, and the other one stays. */
TEST(only_one_goes_to_an_empty_core)
{
	int own = kt_own_core(), from = own == 2 ? 1 : 2, others = 0;
	uint32_t cause, sent;
	long proc[2], keeps[CORES];

	if (cores < 4)
		return;
	for (int i = 1; i < cores; i++)
		if (i != own && i != from)
			keeps[others++] = kt_spawn(SPINS, 0, i);
	for (unsigned long i = 0; i < 2; i++) {
		proc[i] = kt_spawn(SPINS, i, ANY_CORE);
		expect_eq(kproc_cores((int)proc[i], from, 1), 0);
	}
	while (kt_core_info(from).threads != 2)
		kthread_sleep(WAKE_ANY, kt_now() + MS);
	for (int i = 0; i < 2; i++)
		expect_eq(kproc_cores((int)proc[i], 0, cores), 0);
	sent = threads_sent();
	end_of(keeps[--others]);
	while (threads_sent() == sent || kt_core_info(from).threads == 2)
		kthread_sleep(WAKE_ANY, kt_now() + MS);
	/* the other one would follow within a few turns */
	kthread_sleep(WAKE_ANY, kt_now() + 50 * MS);
	expect_eq(threads_sent() - sent, 1);
	expect_eq(kt_core_info(from).threads, 1);
	while (others > 0)
		end_of(keeps[--others]);
	for (int i = 0; i < 2; i++)
		end_of(proc[i]);
	for (int i = 1; i < cores; i++)
		while (i != own && kt_core_info(i).acts != kt_core_info(i).role) {
			kthread_sleep(WAKE_ANY, kt_now() + 20 * MS);
			kt_wait(kt_spawn(ENDS, 0, ANY_CORE), &cause);
		}
}

static uint32_t seed = 12345;

static uint32_t
any(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static void
any_role(void)
{
	int core = (int)any((uint32_t)cores);
	long e = give(core, any(4));

	expect(e == 0 || e == -E_BUSY || (core == 0 && e == -E_INVAL));
}

TEST(roles_change_while_threads_compute_and_wait)
{
	long tid[WORKERS];

	workers_begin(tid);
	for (unsigned i = 0; i < 10 * ROUNDS; i++) {
		any_role();
		if (any(3) == 0)
			kthread_cores((int)tid[any(WORKERS)], (int)any((uint32_t)cores), 1);
		if (any(4) == 0)
			kthread_wakeup((int)tid[any(WORKERS)], 1u << BIT);
		if (i % 30 == 29 && cores > 1) {
			give(1, ROLE_TC);	/* nobody computes an AC to death */
			for (int k = 2; k < cores; k++)
				give(k, ROLE_TC);
			all_get_on();
		}
	}
	all_as_at_first();
	for (int i = 1; i < cores; i++)
		give(i, ROLE_TC);
	workers_end(tid);
	all_as_at_first();
}

static unsigned long
for_ever(unsigned long me)
{
	for (uint32_t i = 0;; i++) {
		kt_compute((uint32_t)me, 50);
		if (i % 16 == 0)
			kthread_sleep(WAKE_ANY, kt_now() + MS / 20);
	}
	return 0;
}

static int
child(unsigned long arg)
{
	for (unsigned i = 0; i < 3; i++)
		kt_thread(for_ever, arg + i, ANY_CORE);
	return (int)for_ever(arg);
}

/* Processes are killed while their cores change. */
TEST(nothing_is_lost_when_processes_end_meanwhile)
{
	uint64_t frames = 0, threads = kt_stats(STATS_THREADS);
	uint32_t cause;

	for (unsigned i = 0; i < ROUNDS / 2; i++) {
		long proc = kt_spawn(COMPUTES_FOR_EVER, i, ANY_CORE);

		expect(proc > 0);
		for (unsigned k = any(8); k > 0; k--)
			any_role();
		expect_eq(kproc_kill((int)proc, 9), 0);
		for (unsigned k = any(4); k > 0; k--)
			any_role();
		expect_eq(kt_wait(proc, &cause), 9);
		if (i == 2)
			frames = kt_stats(STATS_FRAMES_FREE);
	}
	all_as_at_first();
	expect_eq(kt_stats(STATS_FRAMES_FREE), frames);
	expect_eq(kt_stats(STATS_THREADS), threads);
}

int
server_main(int argc, char **argv)
{
	struct cluster_info info;

	(void)argc;
	(void)argv;
	if (atoll_startup()->job == ENDS)
		return (int)(unsigned long)atoll_startup()->shared;
	while (atoll_startup()->job == SPINS)
		kt_compute(1, 50);
	if (atoll_startup()->job != NONE)
		return child((unsigned long)atoll_startup()->shared);
	authority = atoll_startup()->authority;
	kcluster_info(&info);
	cores = (int)info.cores;
	for (int i = 0; i < cores; i++)
		role_at_first[i] = kt_core_info(i).role;
	RUN(a_core_tells_how_long_it_had_nothing_to_run);
	RUN(a_core_has_each_role);
	RUN(a_core_tells_how_long_it_has_had_each_role);
	RUN(core_0_counts_what_it_serves);
	RUN(wrong_roles_are_refused);
	RUN(threads_leave_a_core_that_runs_none);
	RUN(a_core_that_is_shared_now_runs_what_waits);
	RUN(a_core_that_is_not_shared_any_more_has_no_tick);
	RUN(processes_that_compute_keep_nobody_from_a_core);
	RUN(only_one_goes_to_an_empty_core);
	RUN(roles_change_while_threads_compute_and_wait);
	RUN(nothing_is_lost_when_processes_end_meanwhile);
	RUN(threads_of_core_0_leave_and_come_back);
	kt_end();
}
