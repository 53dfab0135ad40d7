/* SPDX-License-Identifier: MIT
 *
 * A kernel of a hundred lines for the tests of the hosted port: core 0 gives core 1 sets of user
 * threads to run, which are functions of the test with stacks and thread pointers of their own.
 * They call CALL_*; they are switched where they yield, and wherever the test's timer_trap says so.
 */
#ifndef HOSTED_KERNEL_TEST_H
#define HOSTED_KERNEL_TEST_H

#include <stdio.h>
#include <string.h>
#include <hal/noc/shm/window.h>
#include <hal/timer.h>
#include "hosted.h"

#define USER __attribute__((no_sanitize("address", "thread", "undefined"), no_stack_protector))
#define THREADS 3
#define STACK_BYTES 65536

enum { CALL_SUM, CALL_YIELD, CALL_EXIT, CALL_COPY, CALL_ARM };

/* What core 1 is to run, and what came of it. */
static struct job {
	struct hal_frame frame[THREADS];
	unsigned threads, left, current;
	bool alive[THREADS];
	struct hal_trap fault;
	uint32_t doorbells, ticks;
	uint32_t kill;			/* end the thread that runs at the next doorbell */
	uint32_t posted, done;
	long exit_value;
} job;

static _Alignas(64) char stack[THREADS][STACK_BYTES];
static _Alignas(64) uint64_t tls[THREADS][8];
static struct hal_space space;
static int failures;

#define expect(condition) \
	((condition) ? (void)0 : (void)(failures++, \
		printf("FAIL %s:%d: %s\n", __func__, __LINE__, #condition)))

/* The test's: before core 1 leaves to a thread, and what it does at a tick. */
static void before_thread(void);
static void timer_trap(void);

/* --- the kernel --- */

static _Noreturn void
run_next(void)
{
	do
		job.current = (job.current + 1) % job.threads;
	while (!job.alive[job.current]);
	before_thread();
	hal_user_enter(&job.frame[job.current], &space);
}

static _Noreturn void
idle(void)
{
	static uint32_t served;

	for (;;) {
		hal_wait_begin();
		if (hal_load32(&job.posted) == served) {
			hal_wait(HAL_FOREVER);
			continue;
		}
		hal_wait_cancel();
		served++;
		run_next();
	}
}

static _Noreturn void
end_thread(void)
{
	job.alive[job.current] = false;
	if (--job.left > 0)
		run_next();
	hal_add32(&job.done, 1);
	hal_notify(0, 0);
	idle();
}

static void
call(struct hal_frame *f)
{
	long sum = 0;
	char buffer[16];

	switch (hal_frame_number(f)) {
	case CALL_SUM:
		for (int i = 0; i < 6; i++)
			sum = sum * 10 + (long)hal_frame_arg(f, i);
		hal_frame_set_result(f, sum);
		return;
	case CALL_COPY:
		hal_frame_set_result(f, hal_copy_in(buffer, hal_frame_arg(f, 0), sizeof(buffer)));
		return;
	case CALL_ARM:
		hal_timer_arm(hal_clock_ns() + hal_frame_arg(f, 0));
		hal_frame_set_result(f, 0);
		return;
	case CALL_YIELD:
		hal_frame_set_result(f, 0);
		run_next();
	default:
		job.exit_value = (long)hal_frame_arg(f, 0);
		end_thread();
	}
}

void
kernel_trap(struct hal_frame *f, const struct hal_trap *t)
{
	if (t->kind == TRAP_CALL) {
		call(f);
	} else if (t->kind == TRAP_DOORBELL) {
		hal_add32(&job.doorbells, 1);
		if (hal_load32(&job.kill))
			end_thread();
	} else if (t->kind == TRAP_TIMER) {
		job.ticks++;
		timer_trap();
	} else {
		job.fault = *t;
		end_thread();
	}
}

_Noreturn void
kernel_core_main(void *arg)
{
	hal_core_set_local(arg);
	idle();
}

/* --- core 0: the tests --- */

static void
prepare(unsigned threads, void (*entry)(void *), void *arg)
{
	job.threads = job.left = threads;
	job.current = threads - 1;
	job.kill = 0;
	job.doorbells = job.ticks = 0;
	memset(&job.fault, 0, sizeof(job.fault));
	for (unsigned i = 0; i < threads; i++) {
		struct context c;

		tls[i][0] = (uintptr_t)tls[i];
		context_init(&c, (uintptr_t)entry, (uintptr_t)stack[i] + STACK_BYTES - 8,
			(uintptr_t)arg, (uintptr_t)tls[i]);
		hal_frame_new(&job.frame[i], &c);
		job.alive[i] = true;
	}
}

static void
start(void)
{
	hal_add32(&job.posted, 1);
	hal_notify(0, 1);
}

static void
finish(void)
{
	for (;;) {
		hal_wait_begin();
		if (hal_load32(&job.done) == hal_load32(&job.posted)) {
			hal_wait_cancel();
			return;
		}
		hal_wait(HAL_FOREVER);
	}
}

static void
run(unsigned threads, void (*entry)(void *), void *arg)
{
	prepare(threads, entry, arg);
	start();
	finish();
}

#define gate(...) GATE_ARGS(__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define GATE_ARGS(n, a, b, c, d, e, f, ...) \
	host_gate((n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

USER static uint64_t
own_tls(void)
{
	uint64_t self;

	__asm__ volatile("mov %%fs:0, %0" : "=r"(self));
	return self;
}

/* --- the tests --- */

struct test {
	const char *name;
	void (*run)(void);
};

#define TEST(name) {#name, test_##name}

static _Noreturn void
run_tests(const struct test *tests, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int before = failures;

		tests[i].run();
		if (failures == before)
			printf("ok %s\n", tests[i].name);
		fflush(stdout);
	}
	hal_machine_halt(failures != 0);
}

/* One cluster, two cores. */
static struct boot_record *
test_machine(void)
{
	static struct boot_record record =
		{.clusters = 1, .mailbox_ports = 1, .portal_ports = 1, .portal_unit_bytes = 64};

	record.cluster[0] = (struct boot_cluster){.mem_bytes = 32 << 20, .cores = 2,
		.incarnation = 1};
	record.roles[0] = ROLE_KC;
	record.roles[1] = ROLE_AC;
	record.noc_window_bytes = noc_window_bytes(&record);
	return &record;
}

#endif
