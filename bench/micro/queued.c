/* SPDX-License-Identifier: MIT
 *
 * Queued kernel calls, by one worker on another core, beside calls that wait. usage:
 * queued [--calls N]. Source: seed 004 7. Windows of the user's core: label 16, call_submit to a
 * worker that is awake; 17, call_reply of a call that was made; 18, a call that waits; 19,
 * call_submit to a worker that sleeps. Times: calls of which PLACES are under way, and calls that
 * wait.
 */
#include <abi/kcalls.h>
#include <abi/layout.h>
#include <atoll/call_queue.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <hal/perf.h>
#include <mpi.h>
#include "micro.h"

#define WINDOWS 10
#define PLACES 16
#define CROWD 200
#define STACK 16384
#define AWAKE 100000000			/* looks before the worker sleeps */
#define NS 1e-9

static _Alignas(64) unsigned char memory[8192];
static struct call_queue q;
static struct queued_call call[PLACES];

static void
serves(void *arg)
{
	if (call_queue_serve(arg) != 0)
		abort();
}

static void
submit(int i)
{
	if (call_submit(&q, &call[i]) != 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

static void
reply(uint64_t until)
{
	struct queued_call *c;

	if (call_reply(&q, &c, until) != 0)
		MPI_Abort(MPI_COMM_WORLD, 2);
}

/* Until the worker has done what it had to. */
static void
pause_a_while(void)
{
	uint64_t now = 0;

	kclock(&now);
	kthread_sleep(1, now + 200000);
}

static void
count_each(void)
{
	hal_mark(LABEL);
	for (int n = 0; n < WINDOWS; n++) {
		hal_mark(MARK_BEGIN);
		submit(0);
		hal_mark(MARK_END);
		reply(FOREVER);
	}
	hal_mark(LABEL + 1);
	for (int n = 0; n < WINDOWS; n++) {
		submit(0);
		pause_a_while();
		hal_mark(MARK_BEGIN);
		reply(FOREVER);
		hal_mark(MARK_END);
	}
	hal_mark(LABEL + 2);
	for (int n = 0; n < WINDOWS; n++) {
		hal_mark(MARK_BEGIN);
		kvoid_remote();
		hal_mark(MARK_END);
	}
}

/* A worker that sleeps when it has looked so often for calls. */
static void
begin(uint32_t looks)
{
	if (call_queue_begin(&q, PLACES, memory, sizeof(memory)) != 0)
		MPI_Abort(MPI_COMM_WORLD, 4);
	q.words.looks = looks;
	if (thread_start(serves, &q, ANY_CORE, STACK) < 0)
		MPI_Abort(MPI_COMM_WORLD, 5);
	pause_a_while();
	q.words.looks = SEM_LOOKS;
}

static void
end(void)
{
	if (call_queue_end(&q) != 0)
		MPI_Abort(MPI_COMM_WORLD, 6);
	pause_a_while();
}

static void
count_asleep(void)
{
	hal_mark(LABEL + 3);
	for (int n = 0; n < WINDOWS; n++) {
		pause_a_while();
		hal_mark(MARK_BEGIN);
		submit(0);
		hal_mark(MARK_END);
		reply(FOREVER);
	}
}

static void
make_crowd(long calls)
{
	int i = 0;

	for (; i < PLACES; i++)
		submit(i);
	for (; i < calls; i++) {
		struct queued_call *c = NULL;

		if (call_reply(&q, &c, FOREVER) != 0 || call_submit(&q, c) != 0)
			MPI_Abort(MPI_COMM_WORLD, 3);
	}
	for (i = 0; i < PLACES; i++)
		reply(FOREVER);
}

static void
wait_for_crowd(long calls)
{
	while (calls-- > 0)
		kvoid_remote();
}

static void
time_of(const char *name, void (*crowd)(long calls), long calls)
{
	double start = MPI_Wtime();

	crowd(calls);
	row(name, (MPI_Wtime() - start) / NS / (double)calls, "ns", "");
}

int
main(int argc, char **argv)
{
	long calls = number(argc, argv, "--calls", 20000);

	MPI_Init(&argc, &argv);
	for (int i = 0; i < PLACES; i++)
		call[i] = (struct queued_call){.make = queued_kernel_call,
			.number = KC_VOID_REMOTE};
	begin(AWAKE);
	make_crowd(CROWD);
	count_each();
	time_of("queued_call", make_crowd, calls);
	time_of("call_that_waits", wait_for_crowd, calls);
	end();
	begin(0);
	count_asleep();
	end();
	MPI_Finalize();
	return 0;
}
