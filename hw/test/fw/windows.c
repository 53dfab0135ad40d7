/* SPDX-License-Identifier: MIT
 *
 * Windows, labels and the profile, for the tests of the harness: core 0 opens 5 windows labelled 20 around a loop of known length and one
 * labelled 21 around another; `busy` runs far longer than `idle`.
 */
#include "fw.h"

static volatile uint32_t sink;

uint32_t
fw_exception(uint32_t vector, uint32_t address, uint32_t *regs)
{
	(void)vector;
	(void)regs;
	return address;
}

static __attribute__((noinline)) void
busy(int n)
{
	for (int i = 0; i < n; i++)
		sink = i;
}

static __attribute__((noinline)) void
idle(void)
{
	sink = 1;
}

void
fw_main(int core)
{
	if (core != 0)
		for (;;)
			reg_read(CD_PERF + CD_PERF_WAIT);
	for (int i = 0; i < 5; i++) {
		mark(20);
		mark(1);
		busy(200);
		mark(2);
	}
	mark(21);
	mark(1);
	idle();
	mark(2);
	mark(3);
	mark(3);
	fw_exit(0);
}
