/* SPDX-License-Identifier: MIT
 *
 * Slices of the same work on an application core, one after the other, each a window of its own: in
 * cycles, what a slice takes beyond the shortest is a detour (FTQ and selfish detour with work in
 * the place of time, for a machine whose programs read no clock). Window 0: while nobody else
 * computes; 1: while the other cores call the kernel core in a loop; 2, the control: while another
 * thread of the program gives memory back, so that the kernel interrupts this core. usage: slices
 * [--slices N] [--unit N]: slices of N additions in each window. Source: seed 004 9.
 */
#include "kit.h"

#define OTHERS_MAX 16

static struct gate gate;
static uint32_t is_over, calls, unmaps;
static long slices, unit;

static int
goes_on(void)
{
	return __atomic_load_n(&is_over, __ATOMIC_RELAXED) == 0;
}

static void
call_kernel(void *arg)
{
	(void)arg;
	gate_pass(&gate);
	while (goes_on()) {
		kvoid_remote();
		__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	}
}

static void
give_memory_back(void *arg)
{
	struct cluster_info info = {0};

	(void)arg;
	kcluster_info(&info);
	gate_pass(&gate);
	while (goes_on()) {
		uint64_t at;
		long result = kmem_alloc(SELF, info.page_bytes, PAGE_READ | PAGE_WRITE, &at);

		if (result == 0) {
			*(volatile uint32_t *)(unsigned long)at = 1;
			result = kpage_unmap(SELF, (unsigned long)at, 1);
		}
		if (result < 0)
			give_up("memory cannot be given back", result);
		__atomic_add_fetch(&unmaps, 1, __ATOMIC_RELAXED);
	}
}

/* One copy of it: each slice lies in the same cache lines. */
static __attribute__((noinline)) void
slice(void)
{
	hal_mark(MARK_BEGIN);
	for (long i = 0; i < unit; i++)
		__asm__ volatile("" : "+r"(i));
	hal_mark(MARK_END);
}

static void
compute(void)
{
	for (long i = 0; i < slices; i++)
		slice();
}

static uint64_t
interrupts_counted(void)
{
	uint64_t ticks = 0, shot_down = 0;

	kcore_count(COUNT_TICKS, &ticks);
	kcore_count(COUNT_SHOT_DOWN, &shot_down);
	return ticks + shot_down;
}

/* Compute beside others that do this. */
static void
beside(void (*fn)(void *arg), long others, int label)
{
	int team[OTHERS_MAX];
	uint64_t counted;

	gate = (struct gate){0};
	is_over = 0;
	for (long i = 0; i < others; i++)
		team[i] = start(fn, NULL);
	gate_open(&gate, (uint32_t)others);
	counted = interrupts_counted();
	if (label == 1) {
		window_label(1);
		compute();
		window_is_over(1);
	} else {
		window_label(2);
		compute();
		window_is_over(2);
	}
	counted = interrupts_counted() - counted;
	__atomic_store_n(&is_over, 1, __ATOMIC_SEQ_CST);
	for (long i = 0; i < others; i++)
		join(team[i]);
	row_number(label == 1 ? "slices_interrupts" : "slices_control_interrupts", counted,
		"interrupts", "");
}

int
main(int argc, char **argv)
{
	long others = (long)user_cores() - 1;

	slices = number(argc, argv, "--slices", 100);
	unit = number(argc, argv, "--unit", 1000);
	slice();
	window_label(0);
	compute();
	window_is_over(0);
	beside(call_kernel, others < OTHERS_MAX ? others : OTHERS_MAX, 1);
	beside(give_memory_back, 1, 2);
	row_number("slices_calls", calls, "calls", "");
	row_number("slices_unmaps", unmaps, "calls", "");
	return 0;
}
