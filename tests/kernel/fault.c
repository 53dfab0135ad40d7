/* SPDX-License-Identifier: MIT
 *
 * Faults that another process handles: it is told, learns what happened, maps memory, looks at
 * registers and changes them, lets the thread go on or end. Whoever handles faults may end or let
 * go at any time.
 *
 * machine: 1 4 KC
 * machine: 1 4 TC
 * machine: 1 1 TC
 */
#include <base/str.h>
#include <tests/kernel/ktest.h>
#include <usercpu/handler.h>
#include <usercpu/kcall.h>

#define RW (PAGE_READ | PAGE_WRITE)
#define BIT_FAULT 3
#define BIT_END 4
#define CROWD 6
#define ROUNDS 20
#define STACK (32 * 1024)
#define FAR (64 * 1024 * 1024)

/* what a child does; its exit status is the role if all was well */
enum role { NONE, TOUCHES, CALLS, CALLS_IN_VAIN, CALL_IS_REPLACED, IS_A_CROWD, HANDLES_ITSELF,
	FAULTS_IN_ITS_HANDLER, HANDLES_ITS_THREAD, SPINS_AFTERWARDS, TAKES_AND_ENDS,
	CLOSES };

/* --- children --- */

/* An address where nothing is mapped, another each time: far above what mem_alloc gives. */
static uintptr_t
hole(void)
{
	static uintptr_t first;
	static uint32_t holes;
	uint64_t at = 0;

	if (__atomic_load_n(&first, __ATOMIC_RELAXED) == 0) {
		kmem_alloc(SELF, kt_page_bytes(), RW, &at);
		__atomic_store_n(&first, (uintptr_t)at + FAR, __ATOMIC_RELAXED);
	}
	return first + __atomic_add_fetch(&holes, 1, __ATOMIC_RELAXED) * kt_page_bytes();
}

/* A store and a load that find no page, with numbers in registers around them. */
static __attribute__((noinline)) float_register
touch(volatile uint32_t *at, float_register x, float_register y)
{
	float_register sum = x * y;

	at[0] = 7;
	sum += x / y;
	return sum + (float_register)at[0];
}

static unsigned long
toucher(unsigned long n)
{
	float_register y = (float_register)(n + 1);
	unsigned long wrong = 0;

	for (int i = 0; i < ROUNDS; i++)
		wrong += touch((volatile uint32_t *)hole(), y * 3, y) != y * y * 3 + 3 + 7;
	return wrong;
}

static unsigned long
crowd(void)
{
	unsigned long wrong = 0;
	long tid[CROWD];

	for (unsigned long i = 0; i < CROWD; i++)
		tid[i] = kt_thread(toucher, i, ANY_CORE);
	for (int i = 0; i < CROWD; i++)
		wrong += (unsigned long)kt_join(tid[i]);
	return wrong;
}

static uintptr_t nowhere;
static uint32_t entered;

static void
map_in(int proc, uint64_t addr)
{
	long memory = kmemory_create(1);

	kpage_map(proc, (unsigned long)addr & ~(kt_page_bytes() - 1), (int)memory, 0, 1, RW);
	khandle_close((int)memory);
}

HANDLER_ENTRY(handler, serve)

long
serve(const struct handler_event *e)
{
	entered++;
	if (nowhere != 0)
		*(volatile uint32_t *)nowhere = 1;
	map_in(SELF, e->addr);
	return 0;
}

static void
handle_faults(uintptr_t faults_at)
{
	uint64_t stack = 0;

	nowhere = faults_at;
	kmem_alloc(SELF, STACK, RW, &stack);
	kthread_handler(HANDLE_FAULTS, (unsigned long)handler, (unsigned long)stack + STACK);
}

static bool
handles_its_thread(void)
{
	struct crash_info info = {.tid = 0};
	long thread;

	if (kevent_bind(EVENT_FAULT, SELF, BIT_FAULT) != 0)
		return false;
	thread = kt_thread(toucher, 1, ANY_CORE);
	kevent_bind(EVENT_THREAD, (int)thread, BIT_END);
	for (int i = 0; i < ROUNDS; i++) {
		if (kfault_next(SELF, (uint32_t)info.tid, 0, &info, FOREVER) != 0)
			return false;
		map_in(SELF, info.addr);
	}
	kfault_next(SELF, (uint32_t)info.tid, 0, &info, 0);
	return kt_join(thread) == 0;
}

static uint32_t word;

/* Says that it has run after the other went on. It computes: its quantum ends by a tick. */
static unsigned long
answerer(unsigned long arg)
{
	while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) != 1)
		continue;
	__atomic_store_n(&word, 2, __ATOMIC_RELEASE);
	return arg;
}

/* On one core: only a tick lets the other run. */
static bool
spins_afterwards(void)
{
	long thread = kt_thread(answerer, 5, kt_own_core());

	*(volatile uint32_t *)hole() = 1;
	__atomic_store_n(&word, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) != 2)
		continue;
	return kt_join(thread) == 5;
}

/* Handles the faults of a process that another made, and ends, or closes the handle. */
static void
be_middle(enum role role, int proc)
{
	struct crash_info info;

	kevent_bind(EVENT_FAULT, proc, BIT_FAULT);
	kt_spawn_in(proc, TOUCHES, 0, ANY_CORE);
	if (role == TAKES_AND_ENDS) {
		kfault_next(proc, 0, 0, &info, FOREVER);
		kproc_exit((int)role);
	}
	kthread_sleep(1u << BIT_FAULT, FOREVER);
	khandle_close(proc);
	kthread_sleep(1u << BIT_FAULT, FOREVER);
	kproc_exit((int)role);
}

static bool
be_child(enum role role)
{
	uint64_t time = 0;

	switch (role) {
	case TOUCHES:
		return toucher(1) == 0;
	case CALLS:
		return kclock((uint64_t *)hole()) == 0 && kstats(STATS_THREADS, (void *)hole()) == 0
			&& kclock(&time) == 0;
	case CALLS_IN_VAIN:
		return kclock((uint64_t *)hole()) == -E_FAULT && kclock(&time) == 0;
	case CALL_IS_REPLACED:
		return kclock((uint64_t *)hole()) == 77 && kclock(&time) == 0;
	case IS_A_CROWD:
		return crowd() == 0;
	case HANDLES_ITSELF:
		handle_faults(0);
		return toucher(1) == 0 && entered == ROUNDS;
	case FAULTS_IN_ITS_HANDLER:
		handle_faults(hole());
		return toucher(1) == 0 && entered == ROUNDS;
	case HANDLES_ITS_THREAD:
		if (handles_its_thread())
			*(volatile uint32_t *)hole() = 1;
		return false;
	case SPINS_AFTERWARDS:
		return spins_afterwards();
	default:
		be_middle(role, (int)atoll_startup()->shared);
		return false;
	}
}

/* --- who handles their faults --- */

/* A child, of whose faults and end the caller is told. */
static long
spawn(enum role role)
{
	long proc = kproc_create();

	expect(proc > 0);
	expect_eq(kevent_bind(EVENT_FAULT, (int)proc, BIT_FAULT), 0);
	expect_eq(kevent_bind(EVENT_PROC, (int)proc, BIT_END), 0);
	expect_eq(kt_spawn_in(proc, role, 0, ANY_CORE), proc);
	return proc;
}

static void
ends_well(long proc, enum role role)
{
	uint32_t cause = 0;

	expect_eq(kt_wait(proc, &cause), role);
	expect_eq(cause, CRASH_NONE);
}

/* Maps what the child lacks until it ends. How often that was. */
static int
serve_all(long proc)
{
	struct crash_info info = {.tid = 0};
	int served = 0;

	while (kfault_next((int)proc, (uint32_t)info.tid, 0, &info, FOREVER) == 0) {
		map_in((int)proc, info.addr);
		served++;
	}
	return served;
}

/* test: fault_next, event_bind */
TEST(a_page_is_mapped_where_a_thread_faulted)
{
	struct crash_info info = {.tid = 0};
	long proc = spawn(TOUCHES);
	struct context ctx;

	expect_eq(kfault_next((int)proc, 0, 0, &info, FOREVER), 0);
	expect_eq(info.cause, CRASH_ACCESS);
	expect_eq(info.write, 1);
	expect_eq(info.addr % kt_page_bytes(), 0);
	expect(info.addr != 0 && info.pc != 0 && info.sp != 0);
	expect_eq(kfault_context_get((int)proc, (uint32_t)info.tid, (unsigned long)&ctx), 0);
	expect(ctx.pc == info.pc);
	expect_eq(kfault_next((int)proc, 0, 0, &info, 0), -E_TIMEDOUT);
	map_in((int)proc, info.addr);
	for (int i = 1; i < ROUNDS; i++) {
		expect_eq(kfault_next((int)proc, (uint32_t)info.tid,
			i % 2 ? 0 : (unsigned long)info.pc,
			&info, FOREVER), 0);
		map_in((int)proc, info.addr);
	}
	expect_eq(kfault_next((int)proc, (uint32_t)info.tid, 0, &info, FOREVER), -E_SRCH);
	ends_well(proc, TOUCHES);
}

TEST(a_call_that_met_an_absent_page_starts_again)
{
	long proc = spawn(CALLS);

	expect_eq(serve_all(proc), 2);
	ends_well(proc, CALLS);
}

TEST(a_call_may_be_refused)
{
	struct crash_info info = {.tid = 0};
	long proc = spawn(CALLS_IN_VAIN);

	expect_eq(kfault_next((int)proc, 0, 0, &info, FOREVER), 0);
	expect_eq(kfault_next((int)proc, (uint32_t)info.tid, FAULT_REFUSED, &info, FOREVER),
		-E_SRCH);
	ends_well(proc, CALLS_IN_VAIN);
}

TEST(a_fault_may_be_refused)
{
	struct crash_info info = {.tid = 0}, crash = {.tid = 0};
	long proc = spawn(TOUCHES);
	uint32_t cause = 0;

	expect_eq(kfault_next((int)proc, 0, 0, &info, FOREVER), 0);
	expect_eq(kcrash_info((int)proc, &crash), -E_NOENT);
	expect_eq(kfault_next((int)proc, (uint32_t)info.tid, FAULT_REFUSED, &crash, FOREVER),
		-E_SRCH);
	kt_end_of(proc, &cause);
	expect_eq(cause, CRASH_ACCESS);
	expect_eq(kcrash_info((int)proc, &crash), 0);
	expect(crash.addr == info.addr && crash.pc == info.pc && crash.tid == info.tid);
	khandle_close((int)proc);
}

/* A thread that was taken goes on, so that it faults again, and stops where nobody takes it. */
static void
stop_again(int proc, uint32_t tid)
{
	struct crash_info info;

	kthread_sleep(1u << BIT_FAULT, 0);
	while (kfault_next(proc, tid, 0, &info, 0) == 0) {
		tid = (uint32_t)info.tid;
		kthread_sleep(1u << BIT_FAULT, 0);
	}
	expect_eq(kthread_sleep(1u << BIT_FAULT, FOREVER), 1u << BIT_FAULT);
}

TEST(a_process_that_ends_by_a_refused_fault_has_no_next_one)
{
	long proc = spawn(IS_A_CROWD);
	struct crash_info info[CROWD], next;
	uint32_t cause = 0;

	for (int i = 0; i < CROWD; i++)
		expect_eq(kfault_next((int)proc, 0, 0, &info[i], FOREVER), 0);
	stop_again((int)proc, (uint32_t)info[0].tid);
	expect_eq(kfault_next((int)proc, (uint32_t)info[1].tid, FAULT_REFUSED, &next, FOREVER),
		-E_SRCH);
	kt_end_of(proc, &cause);
	expect_eq(cause, CRASH_ACCESS);
	expect_eq(kcrash_info((int)proc, &next), 0);
	expect_eq(next.tid, info[1].tid);
	khandle_close((int)proc);
}

/* test: fault_context_get, fault_context_set */
TEST(registers_are_changed)
{
	struct crash_info info = {.tid = 0};
	long proc = spawn(CALL_IS_REPLACED);
	struct context ctx, bad;

	expect_eq(kfault_next((int)proc, 0, 0, &info, FOREVER), 0);
	expect_eq(kfault_context_get((int)proc, (uint32_t)info.tid, (unsigned long)&ctx), 0);
	bad = ctx;
	bad.pc = ~(uintptr_t)0;
	expect_eq(kfault_context_set((int)proc, (uint32_t)info.tid, &bad), -E_INVAL);
	expect_eq(kfault_context_set((int)proc, (uint32_t)info.tid, kt_bad_place(sizeof(ctx))),
		-E_FAULT);
	expect_eq(kfault_context_get((int)proc, (uint32_t)info.tid, 16), -E_FAULT);
	context_set_result(&ctx, 77);
	expect_eq(kfault_context_set((int)proc, (uint32_t)info.tid, &ctx), 0);
	expect_eq(kfault_next((int)proc, (uint32_t)info.tid, 0, &info, FOREVER), -E_SRCH);
	ends_well(proc, CALL_IS_REPLACED);
}

TEST(threads_that_stopped_together_are_let_go_in_any_order)
{
	long proc = spawn(IS_A_CROWD);
	struct crash_info info[CROWD];

	for (int i = 0; i < CROWD; i++) {
		expect_eq(kfault_next((int)proc, 0, 0, &info[i], FOREVER), 0);
		map_in((int)proc, info[i].addr);
	}
	for (int i = CROWD - 1; i >= 0; i--)
		while (kfault_next((int)proc, (uint32_t)info[i].tid, 0, &info[i], 0) == 0)
			map_in((int)proc, info[i].addr);
	serve_all(proc);
	ends_well(proc, IS_A_CROWD);
}

TEST(a_threads_own_handler_comes_first)
{
	long proc = spawn(HANDLES_ITSELF);
	struct crash_info info;

	expect_eq(kfault_next((int)proc, 0, 0, &info, FOREVER), -E_SRCH);
	ends_well(proc, HANDLES_ITSELF);
	proc = spawn(FAULTS_IN_ITS_HANDLER);
	expect_eq(serve_all(proc), 1);
	ends_well(proc, FAULTS_IN_ITS_HANDLER);
}

TEST(a_process_handles_its_threads_but_no_thread_itself)
{
	uint32_t cause = 0;
	long proc = kt_spawn(HANDLES_ITS_THREAD, 0, ANY_CORE);

	kt_wait(proc, &cause);
	expect_eq(cause, CRASH_ACCESS);
}

TEST(a_thread_that_goes_on_is_preempted)
{
	long proc = kproc_create();

	expect_eq(kevent_bind(EVENT_FAULT, (int)proc, BIT_FAULT), 0);
	expect_eq(kt_spawn_in(proc, SPINS_AFTERWARDS, 0, kt_own_core()), proc);
	expect_eq(serve_all(proc), 1);
	ends_well(proc, SPINS_AFTERWARDS);
}

/* What names no thread that has stopped, and who may not write. */
TEST(only_who_may_write_lets_threads_go_on)
{
	struct crash_info info = {.tid = 0}, other;
	long proc = spawn(TOUCHES), second = kproc_create(), weak;
	uint32_t tid;
	struct context ctx;

	weak = khandle_duplicate((int)proc, SELF, RIGHTS_ALL & ~RIGHT_WRITE);
	expect(weak > 0);
	expect_eq(kevent_bind(EVENT_FAULT, (int)weak, BIT_FAULT), -E_ACCES);
	expect_eq(kevent_bind(EVENT_FAULT, 12345, BIT_FAULT), -E_BADF);
	expect_eq(kfault_next((int)weak, 0, 0, &other, FOREVER), -E_ACCES);
	kthread_sleep(1u << BIT_FAULT, FOREVER);
	expect_eq(kfault_next((int)proc, 0, 0, kt_bad_place(sizeof(info)), FOREVER), -E_FAULT);
	expect_eq(kfault_next((int)proc, 0, 0, &info, FOREVER), 0);
	tid = (uint32_t)info.tid;
	expect_eq(kfault_next((int)weak, tid, 0, &other, FOREVER), -E_ACCES);
	expect_eq(kfault_next((int)second, tid, 0, &other, FOREVER), -E_INVAL);
	expect_eq(kfault_next((int)proc, tid + 1, 0, &other, FOREVER), -E_INVAL);
	expect_eq(kfault_next((int)proc, ~0u, 0, &other, FOREVER), -E_INVAL);
	expect_eq(kfault_context_get((int)weak, tid, (unsigned long)&ctx), -E_ACCES);
	expect_eq(kfault_context_get((int)second, tid, (unsigned long)&ctx), -E_INVAL);
	expect_eq(kfault_context_get((int)proc, tid, (unsigned long)&ctx), 0);
	expect_eq(kfault_context_set((int)weak, tid, &ctx), -E_ACCES);
	expect_eq(kfault_context_set((int)second, tid, &ctx), -E_INVAL);
	map_in((int)proc, info.addr);
	expect_eq(kfault_next((int)proc, tid, 0, &info, FOREVER), 0);
	map_in((int)proc, info.addr);
	expect_eq(kfault_next((int)second, (uint32_t)info.tid, 0, &other, 0), -E_INVAL);
	khandle_close((int)weak);
	khandle_close((int)second);
	while (kfault_next((int)proc, (uint32_t)info.tid, 0, &info, FOREVER) == 0)
		map_in((int)proc, info.addr);
	ends_well(proc, TOUCHES);
}

TEST(a_thread_that_has_stopped_is_killed)
{
	struct crash_info info;
	uint32_t cause = 0;

	for (int taken = 0; taken < 2; taken++) {
		long proc = spawn(IS_A_CROWD);

		kthread_sleep(1u << BIT_FAULT, FOREVER);
		if (taken)
			expect_eq(kfault_next((int)proc, 0, 0, &info, FOREVER), 0);
		expect_eq(kproc_kill((int)proc, 9), 0);
		expect_eq(kt_end_of(proc, &cause), 9);
		expect_eq(cause, CRASH_KILLED);
		expect_eq(kcrash_info((int)proc, &info), -E_NOENT);
		expect_eq(kfault_next((int)proc, 0, 0, &info, FOREVER), -E_SRCH);
		khandle_close((int)proc);
	}
}

TEST(without_its_handler_a_fault_ends_the_process)
{
	for (enum role role = TAKES_AND_ENDS; role <= CLOSES; role++) {
		long middle = kproc_create(), proc = kproc_create();
		long theirs = khandle_duplicate((int)proc, (int)middle, RIGHTS_ALL);
		struct crash_info info;
		uint32_t cause = 0;

		expect(theirs > 0);
		kt_spawn_in(middle, role, (unsigned long)theirs, ANY_CORE);
		kt_end_of(proc, &cause);
		expect_eq(cause, CRASH_ACCESS);
		expect_eq(kcrash_info((int)proc, &info), 0);
		expect(info.addr != 0 && info.write == 1);
		khandle_close((int)proc);
		ends_well(middle, role);
	}
}

/*
 * Who takes a fault without being bound has it as long as no handle of the process goes: nobody
 * knows then whether that was the one by which it was taken.
 */
TEST(without_a_binding_a_process_with_a_taken_thread_ends_with_any_handle)
{
	struct crash_info info = {.tid = 0}, crash;
	long proc = 0, other = 0, taken = -E_SRCH;
	uint32_t cause = 0;

	/*
	 * a process whose fault comes before somebody waits for it ends by it: that one is no use
	 */
	for (int i = 0; i < 100 && taken == -E_SRCH; i++) {
		khandle_close((int)proc);
		khandle_close((int)other);
		proc = kproc_create();
		other = khandle_duplicate((int)proc, SELF, RIGHTS_ALL);
		expect(other > 0);
		kt_spawn_in(proc, TOUCHES, 0, ANY_CORE);
		taken = kfault_next((int)proc, 0, 0, &info, FOREVER);
	}
	expect_eq(taken, 0);
	expect_eq(kcrash_info((int)proc, &crash), -E_NOENT);
	expect_eq(khandle_close((int)other), 0);
	kt_end_of(proc, &cause);
	expect_eq(cause, CRASH_ACCESS);
	expect_eq(kcrash_info((int)proc, &crash), 0);
	expect(crash.addr == info.addr && crash.tid == info.tid);
	khandle_close((int)proc);
}

static unsigned long
waiter(unsigned long proc)
{
	struct crash_info info;
	long e;

	do
		e = kfault_next((int)proc, 0, 0, &info, FOREVER);
	while (e == -E_BUSY);
	return (unsigned long)-e;
}

/* A thread of this process that waits for faults of another. */
static long
wait_elsewhere(long proc)
{
	long thread = kt_thread(waiter, (unsigned long)proc, ANY_CORE);
	struct crash_info info;

	while (kfault_next((int)proc, 0, 0, &info, 0) != -E_BUSY)
		kthread_yield();
	return thread;
}

TEST(a_wait_for_faults_ends_with_its_handle_or_the_process)
{
	long proc = kproc_create(), thread = wait_elsewhere(proc);
	uint32_t cause = 0;

	khandle_close((int)proc);
	expect_eq(kt_join(thread), E_BADF);
	proc = kproc_create();
	thread = wait_elsewhere(proc);
	expect_eq(kproc_kill((int)proc, 9), 0);
	expect_eq(kt_join(thread), E_SRCH);
	expect_eq(kt_wait(proc, &cause), 9);
}

TEST(nobody_is_told_after_the_binding_is_gone)
{
	long proc = kproc_create();
	uint32_t cause = 0;

	expect_eq(kevent_bind(EVENT_FAULT, (int)proc, BIT_FAULT), 0);
	expect_eq(kevent_bind(EVENT_FAULT, (int)proc, -1), 0);
	kt_spawn_in(proc, TOUCHES, 0, ANY_CORE);
	kt_wait(proc, &cause);
	expect_eq(cause, CRASH_ACCESS);
}

int
server_main(int argc, char **argv)
{
	enum role role = (enum role)atoll_startup()->job;

	(void)argc;
	(void)argv;
	if (role != NONE)
		kproc_exit(be_child(role) ? (int)role : 101);
	RUN(a_page_is_mapped_where_a_thread_faulted);
	RUN(a_call_that_met_an_absent_page_starts_again);
	RUN(a_call_may_be_refused);
	RUN(a_fault_may_be_refused);
	RUN(a_process_that_ends_by_a_refused_fault_has_no_next_one);
	RUN(registers_are_changed);
	RUN(threads_that_stopped_together_are_let_go_in_any_order);
	RUN(a_threads_own_handler_comes_first);
	RUN(a_process_handles_its_threads_but_no_thread_itself);
	RUN(a_thread_that_goes_on_is_preempted);
	RUN(only_who_may_write_lets_threads_go_on);
	RUN(a_thread_that_has_stopped_is_killed);
	RUN(without_its_handler_a_fault_ends_the_process);
	RUN(without_a_binding_a_process_with_a_taken_thread_ends_with_any_handle);
	RUN(a_wait_for_faults_ends_with_its_handle_or_the_process);
	RUN(nobody_is_told_after_the_binding_is_gone);
	kt_end();
}
