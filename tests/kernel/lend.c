/* SPDX-License-Identifier: MIT
 *
 * Cores that are lent to a program as bare hardware: what it can do there, what it cannot reach,
 * and that its core comes back, however it ends.
 *
 * machine: 1 4 KC
 * machine: 2 4 TC
 */
#include <base/str.h>
#include <tests/kernel/ktest.h>
#include <usercpu/handler.h>

#define PAGES 16
#define TABLES 8
#define FOUND 0x400
#define MS 1000000ull
#define CORES 16
#define ROUNDS 100
#define BIT 6
#define UPCALLED 3

/* What lent_code does (cpu/riscv64/lent.S); and processes of this test. */
enum lent_job { SAYS_WHERE, TRAPS, SPINS, LEAVES, RINGS, SPOILS, ENDS_BELOW_ZERO };
enum role { NONE, LENDS_FOR_EVER };

/* machines that cannot lend have none */
extern const unsigned char lent_code[] __attribute__((visibility("hidden")));
extern const uint32_t lent_bytes __attribute__((visibility("hidden")));

static int authority, cores, memory, ac;
static volatile unsigned char *place;
static size_t bytes;

static bool
can_lend(void)
{
	return lent_bytes != 0;
}

static volatile uint64_t *
found(void)
{
	return (volatile uint64_t *)(uintptr_t)(place + FOUND);
}

/* A memory with the program in it. */
static int
memory_with_program(uint64_t *addr)
{
	int m = (int)kmemory_create(PAGES);

	expect(m > 0);
	expect_eq(kmem_alloc(SELF, bytes, 0, addr), 0);
	expect_eq(kpage_map(SELF, (unsigned long)*addr, m, 0, PAGES, PAGE_READ | PAGE_WRITE), 0);
	if (can_lend())
		memcpy((void *)(uintptr_t)*addr, lent_code, lent_bytes);
	return m;
}

static unsigned long
lends(unsigned long job)
{
	return (unsigned long)kcore_lend(memory, 0, job);
}

static long
lend(enum lent_job job)
{
	return kt_join(kt_thread(lends, job, ac));
}

/* An application core without a thread. */
static int
free_core(void)
{
	for (int i = 1; i < cores; i++)
		if (kt_core_info(i).role == ROLE_AC && kt_core_info(i).threads == 0)
			return i;
	return -1;
}

/*
 * As many frames are free again, but for tables that stay. Those that nobody refers to any more are
 * given back in steps, after the call that did it.
 */
static void
wait_for_frames(uint64_t want)
{
	while (kt_stats(STATS_FRAMES_FREE) + TABLES < want)
		kthread_sleep(WAKE_ANY, kt_now() + MS / 10);
}

/* How many cores are lent. */
static int
lent_cores(void)
{
	int n = 0;

	for (int i = 0; i < cores; i++)
		n += kt_core_info(i).acts == ROLE_XC;
	return n;
}

static void
wait_for_role(int core, uint32_t role)
{
	while (kt_core_info(core).acts != role)
		kthread_sleep(WAKE_ANY, kt_now() + MS / 10);
}

/* test: core_lend */
TEST(a_program_has_a_core_and_gives_it_back)
{
	struct core_info before = kt_core_info(ac);

	if (!can_lend()) {
		expect_eq(lend(SAYS_WHERE), -E_NOSYS);
	} else {
		expect_eq(lend(SAYS_WHERE), 42);
		expect(found()[0] != 0 && found()[0] % bytes == 0);
		expect_eq(found()[1], bytes);
		expect_eq(lend(ENDS_BELOW_ZERO), 0x7fffffff);
		expect(kt_core_info(ac).role_ns[ROLE_XC] > before.role_ns[ROLE_XC]);
	}
	expect_eq(kt_core_info(ac).role, ROLE_AC);
	expect_eq(kt_core_info(ac).acts, ROLE_AC);
	expect_eq(kt_core_info(ac).roles, before.roles);
}

TEST(its_traps_are_its_own_and_the_rest_of_memory_is_not)
{
	expect_eq(lend(TRAPS), can_lend() ? 1 << 2 | 1 << 5 | 1 << 7 : -E_NOSYS);
	expect_eq(lend(RINGS), can_lend() ? 5 : -E_NOSYS);
	expect_eq(lend(LEAVES), can_lend() ? -E_FAULT : -E_NOSYS);
}

/* Computes with all registers, floating-point ones too, and lends its core in between. */
static unsigned long
computes_around(unsigned long rounds)
{
	float_register a = 15, b = -22, c = 1000000000;
	uint32_t want = kt_compute(7, 100);
	unsigned long wrong = 0;

	for (unsigned long i = 0; i < rounds; i++) {
		float_register was = a * b + c;

		wrong += kcore_lend(memory, 0, SPOILS) != (can_lend() ? 5 : -E_NOSYS);
		wrong += a * b + c != was;
		wrong += kt_compute(7, 100) != want;
		a += 1;
		wrong += kvoid_remote() != 0;
	}
	return wrong;
}

TEST(the_thread_goes_on_as_before)
{
	expect_eq(kt_join(kt_thread(computes_around, ROUNDS, ac)), 0);
}

static unsigned long
lends_wrongly(unsigned long core)
{
	uint64_t data;
	int small = (int)kmemory_create(3), weak = (int)khandle_duplicate(memory, SELF,
		RIGHTS_ALL & ~RIGHT_WRITE);

	(void)core;
	expect_eq(kcore_lend(-1, 0, 0), -E_BADF);
	expect_eq(kcore_lend((int)kthread_self(), 0, 0), -E_BADF);
	expect_eq(kcore_lend(weak, 0, 0), -E_ACCES);
	if (can_lend()) {
		expect_eq(kcore_lend(small, 0, 0), -E_INVAL);
		expect_eq(kcore_lend(memory, 1, 0), -E_INVAL);
		expect_eq(kcore_lend(memory, bytes, 0), -E_INVAL);
		expect_eq(kcore_lend(memory, ~0ul - 1, 0), -E_INVAL);
	}
	expect_eq(khandle_close(weak), 0);
	expect_eq(khandle_close(small), 0);
	expect_eq(kmem_alloc(SELF, kt_page_bytes(), PAGE_READ | PAGE_WRITE, &data), 0);
	*(volatile int *)(uintptr_t)data = 1;
	expect_eq(kpage_unmap(SELF, (unsigned long)data, 1), 0);
	return 0;
}

/* Waits where it is until it may go on. */
static uint32_t go_on;

static unsigned long
dozes(unsigned long me)
{
	(void)me;
	while (__atomic_load_n(&go_on, __ATOMIC_ACQUIRE) == 0)
		kthread_sleep(1u << BIT, kt_now() + MS);
	return 0;
}

TEST(what_is_wrong_is_refused)
{
	long other;

	expect_eq(kcore_lend(memory, 0, 0), -E_BUSY);	/* this core is a TC */
	expect_eq(kt_join(kt_thread(lends_wrongly, 0, ac)), 0);
	go_on = 0;
	other = kt_thread(dozes, 0, ac);
	expect_eq(lend(SAYS_WHERE), -E_BUSY);
	__atomic_store_n(&go_on, 1, __ATOMIC_RELEASE);
	expect_eq(kt_join(other), 0);
	expect_eq(lend(SAYS_WHERE), can_lend() ? 42 : -E_NOSYS);
}

/* A program that never ends, under way; its thread. */
static long
spinning(void)
{
	uint64_t at = found()[0];
	long tid = kt_thread(lends, SPINS, ac);

	while (found()[0] == at)
		kthread_sleep(WAKE_ANY, kt_now() + MS / 10);
	expect_eq(kt_core_info(ac).acts, ROLE_XC);
	return tid;
}

TEST(another_role_takes_the_core_back)
{
	static const uint32_t roles[] = {ROLE_TC, ROLE_AC, ROLE_KC, ROLE_IDLE};

	for (unsigned i = 0; i < (can_lend() ? ROUNDS : 0); i++) {
		uint32_t role = roles[i % 4];
		long tid = spinning();

		expect_eq(kcore_role(authority, ac, (int)role), 0);
		expect_eq(kt_join(tid), -E_INTR);
		expect_eq(kt_core_info(ac).role, role);
		expect_eq(kcore_role(authority, ac, ROLE_AC), 0);
		wait_for_role(ac, ROLE_AC);
	}
}

/* What threads of the process do with its memory elsewhere does not end the loan. */
TEST(shoot_downs_pass_a_core_by_that_is_lent)
{
	uint64_t at;
	long tid;

	if (!can_lend())
		return;
	tid = spinning();
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t data;

		expect_eq(kmem_alloc(SELF, 4 * kt_page_bytes(), PAGE_READ | PAGE_WRITE, &data), 0);
		*(volatile int *)(uintptr_t)data = (int)i;
		expect_eq(kpage_protect(SELF, (unsigned long)data, 2, PAGE_READ), 0);
		expect_eq(kpage_unmap(SELF, (unsigned long)data, 4), 0);
	}
	at = found()[0];
	while (found()[0] == at)
		kthread_sleep(WAKE_ANY, kt_now() + MS / 10);
	expect_eq(kt_core_info(ac).acts, ROLE_XC);
	expect_eq(kcore_role(authority, ac, ROLE_TC), 0);
	expect_eq(kt_join(tid), -E_INTR);
	expect_eq(kcore_role(authority, ac, ROLE_AC), 0);
	wait_for_role(ac, ROLE_AC);
}

/* Lends for one memory after the other, which the test hands over; the sum of the results. */
static uint32_t handed_over;

static unsigned long
lends_for_each(unsigned long memories)
{
	long sum = 0;

	for (unsigned long i = 0; i < memories; i++) {
		uint32_t m;

		while ((m = __atomic_load_n(&handed_over, __ATOMIC_ACQUIRE)) == 0)
			kthread_sleep(1u << BIT, kt_now() + MS / 10);
		sum += kcore_lend((int)m, 0, SPINS);
		__atomic_store_n(&handed_over, 0, __ATOMIC_RELEASE);
	}
	return (unsigned long)sum;
}

/* The last handle goes while the program runs in the memory: it is nobody else's until then. */
static void
lend_without_handle(void)
{
	uint64_t frames = kt_stats(STATS_FRAMES_FREE);
	uint64_t addr;
	int m = memory_with_program(&addr);
	volatile uint64_t *count = (volatile uint64_t *)(uintptr_t)(addr + FOUND);

	__atomic_store_n(&handed_over, (uint32_t)m, __ATOMIC_RELEASE);
	while (*count == 0)
		kthread_sleep(WAKE_ANY, kt_now() + MS / 10);
	expect_eq(kpage_unmap(SELF, (unsigned long)addr, PAGES), 0);
	expect_eq(khandle_close(m), 0);
	expect(kt_stats(STATS_FRAMES_FREE) + PAGES <= frames);
	expect_eq(kcore_role(authority, ac, ROLE_TC), 0);
	while (__atomic_load_n(&handed_over, __ATOMIC_ACQUIRE) != 0)
		kthread_sleep(WAKE_ANY, kt_now() + MS / 10);
	expect_eq(kcore_role(authority, ac, ROLE_AC), 0);
	wait_for_role(ac, ROLE_AC);
}

TEST(the_memory_lives_as_long_as_the_loan)
{
	uint64_t before;
	long tid;

	if (!can_lend())
		return;
	tid = kt_thread(lends_for_each, ROUNDS / 10, ac);
	before = kt_stats(STATS_FRAMES_FREE);
	for (unsigned i = 0; i < ROUNDS / 10; i++) {
		/* it went to another core with the role, if it could */
		kthread_cores((int)tid, ac, 1);
		lend_without_handle();
		wait_for_frames(before);
	}
	expect_eq(kt_join(tid), ROUNDS / 10 * -E_INTR);
}

/* A process that lends its core to a program without an end. */
static int
child(void)
{
	uint64_t addr;
	long tid;

	memory = memory_with_program(&addr);
	place = (volatile unsigned char *)(uintptr_t)addr;
	ac = free_core();
	tid = kt_thread(lends, SPINS, ac);
	while (found()[0] == 0)
		kthread_sleep(WAKE_ANY, kt_now() + MS / 10);
	return (int)kt_join(tid);
}

TEST(a_kill_takes_the_core_back)
{
	uint64_t frames = kt_stats(STATS_FRAMES_FREE), threads = kt_stats(STATS_THREADS);

	for (unsigned i = 0; i < (can_lend() ? ROUNDS * 2 : 0); i++) {
		long proc = kt_spawn(LENDS_FOR_EVER, 0, ANY_CORE);
		uint32_t cause;

		expect(proc > 0);
		/* most are killed at any moment of their way to the loan */
		while (i % 8 == 0 && lent_cores() == 0)
			kthread_sleep(WAKE_ANY, kt_now() + MS / 10);
		for (volatile unsigned k = 0; k < i * 100; k++)
			continue;
		expect_eq(kproc_kill((int)proc, 9), 0);
		expect_eq(kt_wait(proc, &cause), 9);
		while (lent_cores() != 0)
			kthread_sleep(WAKE_ANY, kt_now() + MS / 10);
		expect_eq(kt_core_info(ac).role, ROLE_AC);
		expect_eq(kt_core_info(ac).threads, 0);
		wait_for_frames(frames);
	}
	expect_eq(kt_stats(STATS_THREADS), threads);
}

int
server_main(int argc, char **argv)
{
	struct cluster_info info;
	uint64_t addr;

	(void)argc;
	(void)argv;
	bytes = PAGES * kt_page_bytes();
	kcluster_info(&info);
	cores = (int)info.cores;
	if (atoll_startup()->job == LENDS_FOR_EVER)
		return child();
	authority = atoll_startup()->authority;
	memory = memory_with_program(&addr);
	place = (volatile unsigned char *)(uintptr_t)addr;
	ac = free_core();
	RUN(a_program_has_a_core_and_gives_it_back);
	RUN(its_traps_are_its_own_and_the_rest_of_memory_is_not);
	RUN(the_thread_goes_on_as_before);
	RUN(what_is_wrong_is_refused);
	RUN(another_role_takes_the_core_back);
	RUN(shoot_downs_pass_a_core_by_that_is_lent);
	RUN(the_memory_lives_as_long_as_the_loan);
	RUN(a_kill_takes_the_core_back);
	kt_end();
}
