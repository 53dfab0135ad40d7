/* SPDX-License-Identifier: MIT
 *
 * The call gate, thread switches, faults and interrupts of the hosted port, under the kernel of
 * kernel_test.h: core 0 interrupts the threads that it has given to core 1.
 *
 * needs: hal/cpu/hosted/gate.S hal/cpu/hosted/core.c hal/cpu/hosted/wait.c hal/cpu/hosted/fault.c
 * hal/cpu/hosted/frame.c
 *	hal/cpu/hosted/guest.c hal/cpu/hosted/host.c hal/cpu/hosted/output.c hal/cpu/hosted/timer.c
 *	hal/cpu/hosted/copy.c hal/cpu/hosted/mmu.c hal/board/linux/launch.c hal/board/linux/place.c
 *	hal/noc/shm/noc.c
 *	hal/cpu/hosted/panic.c hal/noc/shm/window.c hal/noc/shm/events.c base/elf.c base/fmt.c
 *	base/str.c
 *	tests/hal/no_guests.c
 * sanitize: none address thread
 * libs: -Wl,-z,now
 */
#include <sched.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <abi/layout.h>
#include <hal/console.h>
#include <hal/timer.h>
#include "../../board/linux/launch.h"
#include "kernel_test.h"

static char *pool;
static uint32_t user_flag;

static void
before_thread(void)
{
}

static void
timer_trap(void)
{
}

USER static void
user_sums(void *arg)
{
	gate(CALL_EXIT, gate(CALL_SUM, 1, 2, 3, 4, 5, 6) + (long)(uintptr_t)arg);
}

static void
test_call_carries_six_arguments_and_a_result(void)
{
	run(1, user_sums, (void *)1000000);
	expect(job.exit_value == 1123456);
}

#define ROUNDS 20000
static uint32_t turns[THREADS];

USER static void
user_yields(void *arg)
{
	uint64_t self = own_tls();
	unsigned i = (unsigned)((self - (uintptr_t)tls) / sizeof(tls[0]));
	volatile double x = 1.5 + i;
	uint32_t mxcsr = 0x1f80 | (i & 3) << 13;

	(void)arg;
	__asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
	for (int n = 0; n < ROUNDS; n++) {
		uint32_t now;

		gate(CALL_YIELD);
		__asm__ volatile("stmxcsr %0" : "=m"(now));
		if (own_tls() != self || x != 1.5 + i || (now & 0x6000) != (mxcsr & 0x6000))
			gate(CALL_EXIT, -1);
		turns[i]++;
	}
	gate(CALL_EXIT, 7);
}

static void
test_threads_keep_their_stack_thread_pointer_and_rounding_mode_over_yields(void)
{
	uint64_t begin = hal_clock_ns();

	run(THREADS, user_yields, NULL);
	printf("# yield %llu ns\n",
		(unsigned long long)((hal_clock_ns() - begin) / (THREADS * ROUNDS)));
	expect(job.exit_value == 7);
	for (int i = 0; i < THREADS; i++)
		expect(turns[i] == ROUNDS);
}

USER static void
user_calls(void *arg)
{
	for (long n = (long)arg; n > 0; n--)
		gate(CALL_SUM, 1);
	gate(CALL_EXIT, 1);
}

static void
test_many_calls_return_to_their_caller(void)
{
	uint64_t begin = hal_clock_ns();

	run(1, user_calls, (void *)100000);
	printf("# call %llu ns\n", (unsigned long long)((hal_clock_ns() - begin) / 100000));
	expect(job.exit_value == 1);
}

USER static void
user_writes(void *arg)
{
	*(volatile int *)arg = 1;
	gate(CALL_EXIT, 1);
}

static void
test_fault_of_a_thread_is_a_trap_with_cause_and_address(void)
{
	for (int round = 0; round < 3; round++) {
		job.exit_value = 0;
		run(1, user_writes, (void *)0x1234000);
		expect(job.fault.kind == TRAP_FAULT && job.fault.cause == CRASH_ACCESS);
		expect(job.fault.addr == 0x1234000 && job.fault.write == 1);
		expect(job.exit_value == 0);
	}
}

USER static void
user_jumps_nowhere(void *arg)
{
	((void (*)(void))arg)();
}

static void
test_jump_to_nowhere_is_a_fetch_fault(void)
{
	run(1, user_jumps_nowhere, (void *)0x5000);
	expect(job.fault.kind == TRAP_FAULT && job.fault.write == 2 && job.fault.addr == 0x5000);
}

USER static void
user_overflows_its_stack(void *arg)
{
	(void)arg;
	__asm__ volatile("mov $0x3000, %%rsp; push %%rax" : : : "memory");
	__builtin_unreachable();
}

static void
test_stack_overflow_is_a_trap_too(void)
{
	run(1, user_overflows_its_stack, NULL);
	expect(job.fault.kind == TRAP_FAULT && job.fault.write == 1);
}

USER static void
user_calls_without_stack(void *arg)
{
	(void)arg;
	__asm__ volatile("mov $0x3000, %%rsp; jmp *%0" : : "r"(host_gate) : "memory");
	__builtin_unreachable();
}

static void
test_call_on_a_bad_stack_is_a_fault_of_the_caller(void)
{
	run(1, user_calls_without_stack, NULL);
	expect(job.fault.kind == TRAP_FAULT && job.fault.addr >= 0x2f00 && job.fault.addr < 0x3100);
}

USER static void
user_copies(void *arg)
{
	gate(CALL_EXIT, gate(CALL_COPY, arg));
}

static void
test_copy_from_a_bad_address_fails_and_harms_nobody(void)
{
	run(1, user_copies, (void *)0x1234000);
	expect(job.exit_value == -E_FAULT);
	run(1, user_copies, (void *)-8);
	expect(job.exit_value == -E_FAULT);
	run(1, user_copies, pool);
	expect(job.exit_value == -E_FAULT);
	run(1, user_copies, turns);
	expect(job.exit_value == 0);
}

/* An interrupt that comes before the thread runs is no trap: the core was in the kernel. */
static void
interrupt_until(const uint32_t *count, uint32_t n)
{
	while (hal_load32(count) < n) {
		hal_interrupt(1);
		sched_yield();
	}
}

/*
 * Spin with a known value in many registers until the flag is set; any damage ends with another
 * value.
 */
USER static void
user_spins(void *arg)
{
	uint64_t bad = 0;

	__asm__ volatile(
		"mov $11, %%rax; mov $12, %%rbx; mov $13, %%rcx; mov $14, %%rdx; mov $15, %%r8; "
		"mov $16, %%r15\n"
		"cvtsi2sd %%rax, %%xmm7\n"
		"1: movq %%rsp, -64(%%rsp)\n"
		"cvtsi2sd %%rbx, %%xmm3\n"
		"addsd %%xmm7, %%xmm3\n"
		"cvtsd2si %%xmm3, %%rsi\n"
		"cmp $23, %%rsi; jne 2f\n"
		"cmp $11, %%rax; jne 2f\n"
		"cmp $12, %%rbx; jne 2f\n"
		"cmp $13, %%rcx; jne 2f\n"
		"cmp $14, %%rdx; jne 2f\n"
		"cmp $15, %%r8; jne 2f\n"
		"cmp $16, %%r15; jne 2f\n"
		"cmpq %%rsp, -64(%%rsp); jne 2f\n"
		"cmpl $0, (%1); je 1b\n"
		"jmp 3f\n"
		"2: mov $1, %0\n"
		"3:\n"
		: "+D"(bad) : "r"((uint32_t *)arg) : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r15",
		"xmm3", "xmm7", "memory", "cc");
	gate(CALL_EXIT, bad);
}

static void
test_interrupts_leave_no_trace_in_the_registers(void)
{
	user_flag = 0;
	prepare(1, user_spins, &user_flag);
	start();
	interrupt_until(&job.doorbells, 200);
	hal_store32(&user_flag, 1);
	finish();
	expect(job.exit_value == 0 && job.doorbells >= 200);
}

static void
test_interrupted_thread_can_be_killed(void)
{
	user_flag = 0;
	job.exit_value = 55;
	prepare(1, user_spins, &user_flag);
	hal_store32(&job.kill, 1);
	start();
	interrupt_until(&job.done, hal_load32(&job.posted));
	expect(job.exit_value == 55 && job.left == 0);
}

static void
test_interrupts_between_all_instructions_of_the_gate_are_harmless(void)
{
	memset(turns, 0, sizeof(turns));
	prepare(THREADS, user_yields, NULL);
	start();
	while (hal_load32(&job.done) != hal_load32(&job.posted))
		hal_interrupt(1);
	expect(job.exit_value == 7);
	for (int i = 0; i < THREADS; i++)
		expect(turns[i] == ROUNDS);
}

static void *
take_page(void *ctx)
{
	char *page = *(char **)ctx;

	*(char **)ctx += HAL_PAGE_BYTES;
	hal_zero_pages(page, HAL_PAGE_BYTES);
	return page;
}

static void
give_page(void *ctx, void *page)
{
	(void)ctx;
	(void)page;
}

static void
test_large_page_replaces_an_emptied_table_only(void)
{
	char *tables = pool + 4 * HAL_LARGE_BYTES;
	const struct hal_page_source src = {take_page, give_page, &tables};
	struct hal_space s;
	int rw = PAGE_READ | PAGE_WRITE, prot;
	uint64_t paddr;

	expect(hal_space_init(&s, &src) == 0);
	expect(hal_map(&s, s.first, hal_paddr(pool), 2, rw) == 0);
	expect(hal_map(&s, s.first, hal_paddr(pool), 1, rw | PAGE_LARGE) == -E_EXIST);
	expect(hal_unmap(&s, s.first, 3) == -E_INVAL);
	expect(hal_unmap(&s, s.first, 2) == 0);
	expect(hal_map(&s, s.first, hal_paddr(pool), 1, rw | PAGE_LARGE) == 0);
	expect(hal_map(&s, s.first + HAL_PAGE_BYTES, hal_paddr(pool), 1, rw) == -E_EXIST);
	expect(hal_unmap(&s, s.first, 1) == -E_INVAL);
	((volatile char *)s.first)[HAL_PAGE_BYTES + 1] = 42;
	expect(pool[HAL_PAGE_BYTES + 1] == 42);
	expect(hal_query(&s, s.first + 3 * HAL_PAGE_BYTES + 5, &paddr, &prot) == 0);
	expect(paddr == hal_paddr(pool) && (prot & ~HAL_MAY_ALL) == (rw | PAGE_LARGE));
	expect(hal_unmap(&s, s.first, HAL_LARGE_BYTES / HAL_PAGE_BYTES) == 0);
	expect(hal_query(&s, s.first, &paddr, &prot) == -E_INVAL);
	hal_space_destroy(&s);
}

static void
test_wait_ends_at_its_time(void)
{
	uint64_t begin = hal_clock_ns();

	do {
		hal_wait_begin();
		hal_wait(begin + 2000000);
	} while (hal_clock_ns() < begin + 2000000);
	expect(hal_clock_ns() - begin >= 2000000);
}

static const struct test tests[] = {
	TEST(call_carries_six_arguments_and_a_result),
	TEST(threads_keep_their_stack_thread_pointer_and_rounding_mode_over_yields),
	TEST(many_calls_return_to_their_caller),
	TEST(fault_of_a_thread_is_a_trap_with_cause_and_address),
	TEST(jump_to_nowhere_is_a_fetch_fault),
	TEST(stack_overflow_is_a_trap_too),
	TEST(call_on_a_bad_stack_is_a_fault_of_the_caller),
	TEST(copy_from_a_bad_address_fails_and_harms_nobody),
	TEST(interrupts_leave_no_trace_in_the_registers),
	TEST(interrupted_thread_can_be_killed),
	TEST(interrupts_between_all_instructions_of_the_gate_are_harmless),
	TEST(large_page_replaces_an_emptied_table_only),
	TEST(wait_ends_at_its_time),
};

/*
 * In a machine of its own, since it ends the cluster: the bad pointer in this copy is the kernel's.
 */
static bool copies_to_nowhere;

static _Noreturn void
copy_to_nowhere(void)
{
	hal_space_use(&space);
	hal_copy_in((void *)0x1234000, (uintptr_t)turns, 8);
	hal_machine_halt(0);
}

_Noreturn void
kernel_boot_main(const struct boot_record *record, void *memory, size_t bytes)
{
	static int local;

	(void)bytes;
	pool = memory;
	hal_noc_init(record);
	if (copies_to_nowhere)
		copy_to_nowhere();
	hal_core_start(1, &local);
	run_tests(tests, sizeof(tests) / sizeof(tests[0]));
}

static int
bad_kernel_pointer_is_a_panic(const struct launch *l)
{
	static const char name[] = "a_bad_kernel_address_in_a_copy_is_no_fault_of_the_users";
	int status = 0, quiet = open("/dev/null", O_WRONLY);
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		copies_to_nowhere = true;
		dup2(quiet, STDERR_FILENO);
		_exit(launch_machine(l));
	}
	close(quiet);
	if (waitpid(child, &status, 0) == child && status != 0) {
		printf("ok %s\n", name);
		return 0;
	}
	printf("FAIL %s: the machine ended with %d\n", name, status);
	return 1;
}

int
main(int argc, char **argv)
{
	struct launch l = {.record = test_machine(), .archive_fd = -1, .no_fsgsbase = argc > 1 &&
		strcmp(argv[1], "--no-fsgsbase") == 0};

	return bad_kernel_pointer_is_a_panic(&l) | launch_machine(&l);
}
