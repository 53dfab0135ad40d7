/* SPDX-License-Identifier: MIT
 *
 * The source's series: THREADS user threads of one program make EACH kernel calls each that do
 * nothing and wait for nothing, on an AC or a TC, directly and queued. Directly a call is served by
 * the core itself (on a TC the trap of the source) or by the kernel core (on an AC its trip to the
 * TC and back); a queued one is made by a worker of the process on another core, while the other
 * user threads go on. usage: series [--each N] [--worker ac|tc]. Options of roles.h. Windows of a
 * series each, from when the threads have been made: label 17 by the core itself, 18 by the kernel
 * core, 19 queued. Source: seed 004 7, Table 1.
 */
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <atoll/call_queue.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/uthread.h>
#include <hal/perf.h>
#include "roles.h"

#define THREADS 50			/* as the source has them */
#define EACH 500
#define BIT 6
#define STACK 16384

enum way { OWN, HOME, QUEUED, WAYS };

static const char *const names[WAYS] = {"series_own_core", "series_kernel_core", "series_queued"};
static _Alignas(64) unsigned char memory[8192];
static struct call_queue q;
static long each;
static unsigned long wrong;
static uint64_t ns[WAYS];

static void
worker(void *arg)
{
	long e = call_queue_serve(arg);

	if (e != 0)
		role_fail("the worker has found its queue spoilt", e);
}

static void
calls_own_core(void *arg)
{
	(void)arg;
	for (long i = 0; i < each; i++)
		wrong += kthread_self() < 0;
}

static void
calls_kernel_core(void *arg)
{
	(void)arg;
	for (long i = 0; i < each; i++)
		wrong += kvoid_remote() != 0;
}

static void
calls_queued(void *arg)
{
	struct queued_call c = {.make = queued_kernel_call, .number = KC_THREAD_SELF};

	(void)arg;
	for (long i = 0; i < each; i++)
		wrong += call_queued(&q, &c) < 0;
}

static void
starts(void *arg)
{
	static void (*const calls[WAYS])(void *) = {calls_own_core, calls_kernel_core,
		calls_queued};
	enum way way = (enum way)(uintptr_t)arg;
	struct uthread *thread[THREADS];
	uint64_t from = 0, to = 0;

	if (way == QUEUED)
		call_queue_uthreads(&q);
	for (int i = 0; i < THREADS; i++)
		wrong += uthread_start(calls[way], NULL, &thread[i]) != 0;
	kclock(&from);
	hal_mark(MARK_BEGIN);
	/* none has run until here */
	for (int i = 0; i < THREADS; i++)
		wrong += uthread_join(thread[i]) != 0;
	hal_mark(MARK_END);
	kclock(&to);
	ns[way] = to - from;
}

static void
series(enum way way)
{
	wrong += uthreads_run(starts, (void *)(uintptr_t)way, THREADS + 1, 0, BIT) != 0;
}

static void
run_series(void)
{
	for (int way = 0; way < WAYS; way++) {
		hal_mark(LABEL + 1 + way);
		series((enum way)way);
	}
}

/*
 * On the core of the program they take turns: neither looks for what the other does, and neither is
 * preferred.
 */
static void
start_worker(int argc, char **argv)
{
	bool on_tc = role_option(argc, argv, "--worker", "tc");
	long tid;

	if (on_tc && role_option(argc, argv, "--on", "tc"))
		q.words.looks = 0;
	tid = thread_start(worker, &q, role_core(on_tc ? ROLE_TC : ROLE_AC), STACK);
	if (tid < 0 || kthread_priority((int)tid, 0) < 0)
		role_fail("cannot start the worker", tid);
}

int
main(int argc, char **argv)
{
	each = number(argc, argv, "--each", EACH);
	if (call_queue_begin(&q, THREADS, memory, sizeof(memory)) != 0)
		role_fail("the queue has not begun", 0);
	wait_for_servers();
	start_worker(argc, argv);
	role_run(argc, argv, run_series);
	for (int way = 0; way < WAYS; way++)
		row(names[way], (double)ns[way] * 1e-9, "s", "");
	if (wrong != 0 || call_queue_end(&q) != 0)
		role_fail("calls went wrong", (long)wrong);
	return 0;
}
