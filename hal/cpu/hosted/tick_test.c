/* SPDX-License-Identifier: MIT
 *
 * The tick of the hosted port, under the kernel of kernel_test.h: when it comes and when not, that
 * a thread keeps all its registers wherever it is switched, and every instruction of the gate in
 * turn as the place where it comes. SEED=n sets the times, SWITCHES=n how many switches there are
 * at least.
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
 * gate: SWITCHES=500
 */
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../board/linux/launch.h"
#include "kernel_test.h"

#define US 1000ull
#define MS 1000000ull
#define SWITCHES (HOST_SWITCH_FS ? 5000u : 20000u)

/* What before_thread and timer_trap do. */
static struct {
	uint64_t arm[2];		/* from now, in turn; 0: not */
	bool random;			/* arm a random time, switch at each tick */
	bool each;			/* the flag waits until every thread has had a turn */
	uint64_t state;			/* of the random numbers */
	uint64_t until_ns, came_ns;	/* the last time that was armed; the last tick */
	unsigned enough;		/* ticks that set user_flag */
	unsigned switches;		/* in the long tests */
} plan;

static uint32_t user_flag;
static uint32_t wrong[THREADS];
static uint64_t turns[THREADS];

static uint64_t
random_below(uint64_t n)
{
	plan.state ^= plan.state << 13;
	plan.state ^= plan.state >> 7;
	plan.state ^= plan.state << 17;
	return plan.state % n;
}

static void
arm(uint64_t from_now)
{
	plan.until_ns = from_now == HAL_FOREVER ? HAL_FOREVER : hal_clock_ns() + from_now;
	hal_timer_arm(plan.until_ns);
}

static void
before_thread(void)
{
	if (plan.random)
		arm(random_below(8) == 0 ? 0 : random_below(12 * US));
	for (int i = 0; i < 2 && plan.arm[i] != 0; i++)
		arm(plan.arm[i]);
}

/* On a host that is slow the next tick may come before the thread has got anywhere, many times. */
static bool
all_have_had_turns(void)
{
	for (int i = 0; i < THREADS; i++)
		if (turns[i] == 0)
			return false;
	return true;
}

static void
timer_trap(void)
{
	plan.came_ns = hal_clock_ns();
	if (job.ticks >= plan.enough && (!plan.each || all_have_had_turns()))
		hal_store32(&user_flag, 1);
	if (plan.random)
		run_next();
}

/* Threads that run until the flag is set. */
static void
run_until_flag(unsigned threads, void (*entry)(void *), uint64_t first, uint64_t second)
{
	plan.arm[0] = first;
	plan.arm[1] = second;
	user_flag = 0;
	memset(turns, 0, sizeof(turns));
	prepare(threads, entry, NULL);
	start();
}

USER static void
user_waits(void *arg)
{
	(void)arg;
	while (__atomic_load_n(&user_flag, __ATOMIC_RELAXED) == 0)
		__asm__ volatile("pause");
	gate(CALL_EXIT, 1);
}

/* Timers that Linux has made for this process. */
static unsigned
timers(void)
{
	FILE *f = fopen("/proc/self/timers", "r");
	char line[128];
	unsigned n = 0;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		n += strncmp(line, "ID:", 3) == 0;
	if (f != NULL)
		fclose(f);
	return n;
}

static void
test_a_core_has_a_timer_when_it_has_armed_one(void)
{
	hal_timer_arm(HAL_FOREVER);
	expect(timers() == 0);
	plan.enough = 1;
	run_until_flag(1, user_waits, MS, 0);
	finish();
	expect(job.ticks == 1 && timers() == 1);
}

/* Interrupt until `n` doorbells have found a thread and the clock has passed `ns`. */
static void
interrupt_until(uint32_t n, uint64_t ns)
{
	while (hal_load32(&job.doorbells) < n || hal_clock_ns() < ns)
		hal_interrupt(1);
}

static void
test_a_tick_comes_once(void)
{
	plan.enough = UINT32_MAX;
	run_until_flag(1, user_waits, 20 * US, 0);
	interrupt_until(100, hal_clock_ns() + 2 * MS);
	hal_store32(&user_flag, 1);
	finish();
	expect(job.ticks == 1 && job.doorbells >= 100);
}

static void
test_a_time_that_is_armed_no_more_never_comes(void)
{
	plan.enough = UINT32_MAX;
	run_until_flag(1, user_waits, 20 * US, HAL_FOREVER);
	interrupt_until(100, hal_clock_ns() + 2 * MS);
	hal_store32(&user_flag, 1);
	finish();
	expect(job.ticks == 0);
}

static void
test_the_last_time_that_was_armed_counts(void)
{
	static const uint64_t times[][2] =
		{{20 * US, 3 * MS}, {3600000 * MS, 200 * US}, {1 * MS, 1 * MS}};

	plan.enough = 1;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		run_until_flag(1, user_waits, times[i][0], times[i][1]);
		finish();
		expect(job.ticks == 1 && plan.came_ns >= plan.until_ns);
	}
}

/*
 * What the thread sanitizer adds now and then: its part of the handler runs before that has left
 * the thread's stack.
 */
#ifdef __SANITIZE_THREAD__
#define SANITIZER_BYTES 4096
#else
#define SANITIZER_BYTES 0
#endif

/* The thread's own part is a call or two. */
static void
test_a_stack_has_room_for_what_an_interrupt_pushes(void)
{
	size_t i = 0;

	memset(stack[0], 0xa5, STACK_BYTES);
	plan.enough = UINT32_MAX;
	run_until_flag(1, user_waits, 20 * US, 0);
	interrupt_until(10, hal_clock_ns() + MS);
	hal_store32(&user_flag, 1);
	finish();
	while (i < STACK_BYTES && stack[0][i] == (char)0xa5)
		i++;
	printf("# %zu bytes of stack\n", STACK_BYTES - i);
	expect(STACK_BYTES - i <= CONTEXT_INTERRUPT_BYTES + SANITIZER_BYTES + 64);
}

USER static void
user_arms(void *arg)
{
	(void)arg;
	gate(CALL_ARM, 0);
	user_waits(NULL);
}

static void
test_a_tick_that_comes_in_the_kernel_is_not_lost(void)
{
	plan.enough = 1;
	for (int i = 0; i < 100; i++) {
		run_until_flag(1, user_arms, 0, 0);
		finish();
		expect(job.ticks == 1);
	}
}

USER static void
user_arms_and_ends(void *arg)
{
	gate(CALL_ARM, arg);
	gate(CALL_EXIT, 1);
}

static void
test_a_tick_that_comes_while_the_core_waits_stops_the_next_thread(void)
{
	uint64_t after;

	plan.enough = 1;
	user_flag = 0;
	plan.arm[0] = 0;
	run(1, user_arms_and_ends, (void *)(20 * US));
	expect(job.ticks == 0 || user_flag == 1);
	after = hal_clock_ns() + MS;
	while (hal_clock_ns() < after)
		;
	if (job.ticks == 0)
		run_until_flag(1, user_waits, 0, 0);
	finish();
	expect(job.ticks == 1);
}

/*
 * Patterns in all vector registers, the mask registers, the general ones, the rounding mode and the
 * x87 stack; compared again and again until the flag is set. Each thread has patterns of its own.
 */
static _Alignas(64) uint64_t pattern[THREADS][32][8];

#define CHECK_GENERAL \
	"cmp $0x1111, %%rbx; jne 8f\n" "cmp $0x2222, %%r12; jne 8f\n" \
	"cmp $0x3333, %%r13; jne 8f\n" \
	"lea 1b(%%rip), %%rax; cmp %%rax, %%r14; jne 8f\n" "fcomi %%st(1), %%st; je 8f; jp 8f\n" \
	"stmxcsr -72(%%rsp); cmp %%r8d, -72(%%rsp); jne 8f\n" "inc %%r9\n" "cmpl $0, (%2); je 1b\n"
#define BEGIN_GENERAL \
	"mov $0x1111, %%rbx; mov $0x2222, %%r12; mov $0x3333, %%r13; " \
	"lea 1f(%%rip), %%r14; fldpi; fld1; xor %%r9d, %%r9d\n" \
	"mov %%r8d, -72(%%rsp); ldmxcsr -72(%%rsp)\n"
#define END_GENERAL \
	"xor %%eax, %%eax; jmp 9f\n" "8: mov $1, %%eax\n" "9: fstp %%st(0); fstp %%st(0)\n" \
	"mov %%r9, (%3)\n"
#define GENERAL "rbx", "r9", "r12", "r13", "r14", "memory", "cc"

__attribute__((target("avx512f,avx512bw"))) USER static uint32_t
hold_avx512(const void *p, uint32_t *flag, uint64_t *rounds, uint32_t mxcsr)
{
	uint32_t bad;
	register uint64_t control __asm__("r8") = mxcsr;

	__asm__ volatile(BEGIN_GENERAL
		".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,"
		"27,28,29,30,31\n"
		"vmovdqu64 64*\\i(%1), %%zmm\\i\n .endr\n"
		".irp i,2,3,4,5,6,7\n kmovq 8*\\i(%1), %%k\\i\n .endr\n"
		"1:\n"
		".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,"
		"27,28,29,30,31\n"
		"vpcmpud $4, 64*\\i(%1), %%zmm\\i, %%k1; kortestw %%k1, %%k1; jnz 8f\n .endr\n"
		".irp i,2,3,4,5,6,7\n kmovq %%k\\i, %%rax; cmp 8*\\i(%1), %%rax; jne 8f\n .endr\n"
		CHECK_GENERAL END_GENERAL
		"vzeroupper\n"
		: "=&a"(bad) : "r"(p), "r"(flag), "r"(rounds), "r"(control) : GENERAL);
	return bad;
}

__attribute__((target("avx2"))) USER static uint32_t
hold_avx(const void *p, uint32_t *flag, uint64_t *rounds, uint32_t mxcsr)
{
	uint32_t bad;
	register uint64_t control __asm__("r8") = mxcsr;

	__asm__ volatile(BEGIN_GENERAL
		".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14\n vmovdqu 64*\\i(%1), %%ymm\\i\n .endr\n"
		"1:\n"
		".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14\n"
		"vpxor 64*\\i(%1), %%ymm\\i, %%ymm15; vptest %%ymm15, %%ymm15; jnz 8f\n .endr\n"
		CHECK_GENERAL END_GENERAL
		"vzeroupper\n"
		: "=&a"(bad) : "r"(p), "r"(flag), "r"(rounds), "r"(control) : GENERAL);
	return bad;
}

static uint32_t (*hold)(const void *p, uint32_t *flag, uint64_t *rounds, uint32_t mxcsr);

USER static unsigned
own_number(void)
{
	return (unsigned)((own_tls() - (uintptr_t)tls) / sizeof(tls[0]));
}

USER static void
user_holds(void *arg)
{
	unsigned me = own_number();
	uint32_t bad = hold(pattern[me], &user_flag, &turns[me], 0x1f80 | me << 13);

	(void)arg;
	wrong[me] += bad || own_number() != me;
	gate(CALL_EXIT, 1);
}

static void
hold_until(unsigned switches)
{
	for (size_t i = 0; i < sizeof(pattern) / sizeof(uint64_t); i++)
		((uint64_t *)pattern)[i] = i * 0x9e3779b97f4a7c15u + 1;
	memset(wrong, 0, sizeof(wrong));
	plan.enough = switches;
	plan.random = true;
	run_until_flag(THREADS, user_holds, 0, 0);
	finish();
	plan.random = false;
}

static void
test_threads_keep_all_their_registers_wherever_they_are_switched(void)
{
	__builtin_cpu_init();
	hold = __builtin_cpu_supports("avx512bw") ? hold_avx512 : hold_avx;
	hold_until(plan.switches);
	printf("# %u switches, with registers of %s\n", job.ticks,
		hold == hold_avx512 ? "512 bits" : "256 bits");
	for (int i = 0; i < THREADS; i++) {
		expect(wrong[i] == 0);
		expect(turns[i] > 0);
	}
}

/* Calls with arguments and canaries, and yields, until the flag is set. */
USER static void
user_calls(void *arg)
{
	unsigned me = own_number();
	uint64_t n = 0;

	(void)arg;
	while (__atomic_load_n(&user_flag, __ATOMIC_RELAXED) == 0) {
		long a = (long)(n % 10), b = me;
		long sum = gate(CALL_SUM, a, b, 3, 4, 5, 6);

		wrong[me] += sum != a * 100000 + b * 10000 + 3456 || own_number() != me;
		if (n++ % 4 == 0)
			wrong[me] += gate(CALL_YIELD) != 0;
		turns[me] = n;
	}
	gate(CALL_EXIT, 1);
}

static void
test_ticks_and_interrupts_in_calls_harm_nobody(void)
{
	memset(wrong, 0, sizeof(wrong));
	plan.enough = plan.switches / 2;
	plan.random = plan.each = true;
	run_until_flag(THREADS, user_calls, 0, 0);
	while (hal_load32(&job.done) != hal_load32(&job.posted))
		hal_interrupt(1);
	plan.random = plan.each = false;
	printf("# %u ticks, %u interrupts\n", job.ticks, job.doorbells);
	for (int i = 0; i < THREADS; i++) {
		expect(wrong[i] == 0);
		expect(turns[i] > 0);
	}
}

/* --- every instruction of the gate, found by single steps of another process --- */

#define GATE_BYTES_MAX 4096
#define STEPS_MAX 3000000
#define STEPS_WITHOUT_NEWS 20000

struct stepper {
	unsigned found;			/* instructions at which a tick came */
	unsigned steps;
	bool failed;
};

static uintptr_t
pc_of(pid_t tid)
{
	struct user_regs_struct regs;

	return ptrace(PTRACE_GETREGS, tid, 0, &regs) == 0 ? regs.rip : 0;
}

/*
 * Step; a tick comes at each instruction of the gate when it is first met, and at no other place:
 * those of the timer are dropped.
 */
static void
step_all(pid_t tid, struct stepper *s)
{
	static bool met[GATE_BYTES_MAX];
	unsigned since = 0;
	int status;

	while (s->steps++ < STEPS_MAX && since++ < STEPS_WITHOUT_NEWS) {
		uintptr_t at = pc_of(tid) - (uintptr_t)host_gate_begin;
		bool is_new = at < GATE_BYTES_MAX &&
			at < (uintptr_t)(host_gate_end - host_gate_begin) && !met[at];

		if (is_new) {
			met[at] = true;
			s->found++;
			since = 0;
		}
		if (ptrace(PTRACE_SINGLESTEP, tid, 0, is_new ? HOST_TICK : 0) != 0 ||
			waitpid(tid, &status, __WALL) != tid ||
			!WIFSTOPPED(status)) {
			s->failed = true;
			return;
		}
	}
}

static void
stepper_main(pid_t tid, int result)
{
	struct stepper s = {0};
	int status;

	s.failed = ptrace(PTRACE_SEIZE, tid, 0, 0) != 0 ||
		ptrace(PTRACE_INTERRUPT, tid, 0, 0) != 0 || waitpid(tid, &status, __WALL) != tid;
	/* from a stop of its own, which can be left with a signal */
	if (!s.failed)
		s.failed = ptrace(PTRACE_SINGLESTEP, tid, 0, 0) != 0 ||
			waitpid(tid, &status, __WALL) != tid;
	if (!s.failed)
		step_all(tid, &s);
	ptrace(PTRACE_DETACH, tid, 0, 0);
	_exit(write(result, &s, sizeof(s)) != sizeof(s));
}

static void
test_a_tick_may_come_at_every_instruction_of_the_gate(void)
{
	struct stepper s = {.failed = true};
	int ends[2], status;
	pid_t child;

	memset(wrong, 0, sizeof(wrong));
	plan.enough = UINT32_MAX;
	plan.random = true;
	expect(pipe(ends) == 0);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);	/* where a child must ask */
	fflush(stdout);
	run_until_flag(THREADS, user_calls, 0, 0);
	child = fork();
	if (child == 0)
		stepper_main((pid_t)host.core[1].tid, ends[1]);
	expect(read(ends[0], &s, sizeof(s)) == sizeof(s) && waitpid(child, &status, 0) == child);
	hal_store32(&user_flag, 1);
	finish();
	plan.random = false;
	printf("# a tick at each of %u instructions, found in %u steps\n", s.found, s.steps);
	expect(!s.failed && s.found >= 80);
	for (int i = 0; i < THREADS; i++) {
		expect(wrong[i] == 0);
		expect(turns[i] > 0);
	}
}

static const struct test tests[] = {
	TEST(a_core_has_a_timer_when_it_has_armed_one),
	TEST(a_tick_comes_once),
	TEST(a_time_that_is_armed_no_more_never_comes),
	TEST(the_last_time_that_was_armed_counts),
	TEST(a_stack_has_room_for_what_an_interrupt_pushes),
	TEST(a_tick_that_comes_in_the_kernel_is_not_lost),
	TEST(a_tick_that_comes_while_the_core_waits_stops_the_next_thread),
	TEST(threads_keep_all_their_registers_wherever_they_are_switched),
	TEST(ticks_and_interrupts_in_calls_harm_nobody),
	TEST(a_tick_may_come_at_every_instruction_of_the_gate),	/* the last */
};

/* Under a sanitizer, single steps would go through its code for minutes. */
#define TESTS (sizeof(tests) / sizeof(tests[0]) - (HOST_SWITCH_FS ? 1 : 0))

_Noreturn void
kernel_boot_main(const struct boot_record *record, void *memory, size_t bytes)
{
	static int local;
	const char *seed = getenv("SEED"), *switches = getenv("SWITCHES");

	(void)memory;
	(void)bytes;
	plan.state = seed != NULL ? strtoull(seed, NULL, 0) : (uint64_t)getpid() * 2654435761u;
	plan.state += plan.state == 0;
	plan.switches = switches != NULL ? (unsigned)strtoul(switches, NULL, 0) : SWITCHES;
	printf("# SEED=%llu\n", (unsigned long long)plan.state);
	hal_noc_init(record);
	hal_core_start(1, &local);
	run_tests(tests, TESTS);
}

int
main(void)
{
	struct launch l = {.record = test_machine(), .archive_fd = -1};

	return launch_machine(&l);
}
