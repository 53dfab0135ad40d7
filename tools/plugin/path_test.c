/* SPDX-License-Identifier: MIT
 *
 * The critical path: a core that wakes goes on behind the doorbell that woke it, and no other.
 */
#include <base/test.h>
#include "insn.h"

#define HARTS_MAX 3

enum { USER, KERNEL, COUNTERS };

struct hart {
	uint64_t count[COUNTERS];
	uint64_t waited_for;
};

static struct hart harts[HARTS_MAX];
static unsigned harts_used = HARTS_MAX;

static uint64_t
insns_of(const uint64_t *now, const uint64_t *before)
{
	return now[USER] - before[USER] + now[KERNEL] - before[KERNEL];
}

#include "path.h"

/* The address of the access that is told of. */
static uint64_t phys;

struct qemu_plugin_hwaddr *
qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t vaddr)
{
	(void)info;
	(void)vaddr;
	return (struct qemu_plugin_hwaddr *)&phys;
}

bool
qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *at)
{
	(void)at;
	return phys < 0x80000000;
}

uint64_t
qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *at)
{
	(void)at;
	return phys;
}

static void
work(unsigned hart, uint64_t insns)
{
	harts[hart].count[KERNEL] += insns;
}

static void
ring(unsigned from, uint64_t at)
{
	phys = at;
	on_path_ring(from, 0, 0, NULL);
}

static uint64_t
woken(unsigned hart)
{
	path_wake(&harts[hart]);
	return path_now(&harts[hart]);
}

TEST(a_core_goes_on_behind_its_own_doorbell)
{
	path_begin();
	work(0, 100);
	ring(0, SSWI + 4);
	work(0, 1000);
	ring(0, SSWI + 8);
	expect_eq(woken(1), 100);
	expect_eq(woken(2), 1100);
	work(1, 2000);
	ring(1, SSWI + 8);
	expect_eq(woken(2), 2100);
	expect_eq(woken(0), 1100);
}

TEST(what_is_no_doorbell_wakes_nobody)
{
	path_begin();
	work(0, 100);
	ring(0, 0x80000000 + 4);
	ring(0, SSWI + 4 * HARTS_MAX);
	ring(0, SSWI - 4);
	for (unsigned i = 1; i < HARTS_MAX; i++)
		expect_eq(woken(i), 0);
}

TEST(a_window_begins_without_doorbells)
{
	path_begin();
	work(0, 100);
	ring(0, SSWI + 4);
	path_begin();
	expect_eq(woken(1), 0);
	expect_eq(path_now(&harts[0]), 0);
}

TEST(a_store_behind_a_fence_is_one_for_ever)
{
	expect(!path_is_ring(0x1000, 0));
	expect(path_is_ring(0x1000, FENCE_W_O));
	expect(path_is_ring(0x1000, 0));
	expect(!path_is_ring(0x1004, 0));
}

int
main(void)
{
	RUN(a_core_goes_on_behind_its_own_doorbell);
	RUN(what_is_no_doorbell_wakes_nobody);
	RUN(a_window_begins_without_doorbells);
	RUN(a_store_behind_a_fence_is_one_for_ever);
	return TEST_FAILED;
}
