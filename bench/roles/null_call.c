/* SPDX-License-Identifier: MIT
 *
 * A kernel call that does nothing, of a thread on an AC or a TC: served by the core itself (on a
 * TC the trap of the source) and by the kernel core. usage: null_call [--calls N]. Options of
 * roles.h. Windows of one call each: label 17 by the core itself, 18 by the kernel core; 16 all.
 * Source: seed 004 Table 1 (calls one by one).
 */
#include <atoll/kcalls.h>
#include <hal/perf.h>
#include "roles.h"

#define WINDOWS 10

static long calls;
static uint64_t local_ns, remote_ns;

static void
call_counted(void)
{
	hal_mark(LABEL + 1);
	for (int i = 0; i < WINDOWS; i++) {
		hal_mark(MARK_BEGIN);
		kthread_self();
		hal_mark(MARK_END);
	}
	hal_mark(LABEL + 2);
	for (int i = 0; i < WINDOWS; i++) {
		hal_mark(MARK_BEGIN);
		kvoid_remote();
		hal_mark(MARK_END);
	}
}

static uint64_t
call_timed(long (*call)(void))
{
	uint64_t from = 0, to = 0;

	kclock(&from);
	for (long i = 0; i < calls; i++)
		call();
	kclock(&to);
	return to - from;
}

static long
call_self(void)
{
	return kthread_self();
}

static long
call_remote(void)
{
	return kvoid_remote();
}

static void
call_kernel(void)
{
	for (int i = 0; i < WINDOWS; i++)
		kvoid_remote();
	call_counted();
	window_begin();
	local_ns = call_timed(call_self);
	remote_ns = call_timed(call_remote);
	window_end();
}

int
main(int argc, char **argv)
{
	calls = number(argc, argv, "--calls", 500);
	role_measure(argc, argv, call_kernel);
	row("null_call_local", (double)local_ns / (double)calls, "ns", "");
	row("null_call_remote", (double)remote_ns / (double)calls, "ns", "");
	return 0;
}
