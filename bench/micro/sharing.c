/* SPDX-License-Identifier: MIT
 *
 * Preemption and signals. usage: sharing. Source: our own.
 *
 * Windows of the instruction counter. Label 16: a thread of an application core signals another,
 * which sleeps on a core of its own and runs when the window has ended: what its core executes is
 * in the span. Label 17: two threads compute on the time-sharing core; one only opens windows, the
 * other only ends them, so each window holds one preemption and its count "kernel" is what lies
 * between the interrupted instruction and the first of the other thread.
 */
#include <context.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <hal/perf.h>
#include <mpi.h>
#include "micro.h"

#define WINDOWS 10
#define SETTLE 40		/* calls until every core has done what it had to */
#define STACK_BYTES (1024 + CONTEXT_INTERRUPT_BYTES)
#define SLEEPER_CORE 2

static unsigned char stack[3][STACK_BYTES] __attribute__((aligned(16)));
static volatile int turn, turns;

static _Noreturn void
end(void)
{
	for (;;)
		kthread_exit(0);
}

static void
sleeper(uintptr_t arg)
{
	(void)arg;
	for (int i = 0; i < WINDOWS; i++)
		kthread_sleep(WAKE_ANY, FOREVER);
	end();
}

static void
opener(uintptr_t arg)
{
	(void)arg;
	hal_mark(LABEL + 1);
	while (turns < WINDOWS) {
		hal_mark(MARK_BEGIN);
		turn = 1;
	}
	end();
}

static void
closer(uintptr_t arg)
{
	(void)arg;
	while (turns < WINDOWS) {
		hal_mark(MARK_END);
		/*
		 * wherever the tick comes, a turn that began is seen: ticks and this loop can be in
		 * step
		 */
		if (turn != 0) {
			turn = 0;
			turns++;
		}
	}
	hal_mark(MARK_END);
	end();
}

static int
start(int i, void (*fn)(uintptr_t), int core)
{
	struct context ctx;

	context_init(&ctx, (uintptr_t)fn, (uintptr_t)stack[i] + STACK_BYTES, 0, 0);
	return (int)kthread_create(&ctx, core);
}

static void
settle(void)
{
	for (int i = 0; i < SETTLE; i++)
		kvoid_remote();
	for (int i = 0; i < SETTLE; i++)
		kthread_yield();
}

static int
signals(void)
{
	int tid = start(0, sleeper, SLEEPER_CORE);
	uint64_t value;

	if (tid < 0)
		return tid;
	for (int i = 0; i < WINDOWS; i++) {
		settle();
		hal_mark(LABEL);
		hal_mark(MARK_BEGIN);
		kthread_wakeup(tid, 1);
		hal_mark(MARK_END);
	}
	return (int)kthread_join(tid, &value, FOREVER);
}

/* The last core is the time-sharing one. */
static int
preemptions(void)
{
	struct cluster_info info;
	uint64_t value;
	int tid[2], wrong = 0;

	kcluster_info(&info);
	for (int i = 0; i < 2; i++)
		tid[i] = start(1 + i, i == 0 ? opener : closer, (int)info.cores - 1);
	for (int i = 0; i < 2; i++)
		wrong |= tid[i] < 0 || kthread_join(tid[i], &value, FOREVER) != 0;
	return wrong;
}

int
main(int argc, char **argv)
{
	int wrong;

	MPI_Init(&argc, &argv);
	wait_for_servers();
	wrong = signals();
	if (wrong == 0)
		wrong = preemptions();
	if (wrong != 0)
		fprintf(stderr, "sharing: this machine has too few cores\n");
	MPI_Finalize();
	return wrong != 0;
}
