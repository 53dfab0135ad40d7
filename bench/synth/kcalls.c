/* SPDX-License-Identifier: MIT
 *
 * L-Kcall and R-Kcall from one thread: kernel calls in a row, served here and by the kernel core.
 * Windows 0 local, 1 remote. usage: kcalls [--calls N]. Source: seed 000 IV-A, seed 001 III
 * (R-Kcall).
 */
#include "kit.h"

#define WARM 4

static uint64_t
local_calls(long n)
{
	uint64_t begin;

	for (int i = 0; i < WARM; i++)
		kthread_self();
	begin = now_ns();
	window_open(0);
	for (long i = 0; i < n; i++)
		kthread_self();
	window_close(0);
	return now_ns() - begin;
}

static uint64_t
remote_calls(long n)
{
	uint64_t begin;

	for (int i = 0; i < WARM; i++)
		kvoid_remote();
	begin = now_ns();
	window_open(1);
	for (long i = 0; i < n; i++)
		kvoid_remote();
	window_close(1);
	return now_ns() - begin;
}

int
main(int argc, char **argv)
{
	long calls = number(argc, argv, "--calls", 100);

	row("l_kcall", local_calls(calls), (uint64_t)calls, "");
	row("r_kcall", remote_calls(calls), (uint64_t)calls, "");
	return 0;
}
