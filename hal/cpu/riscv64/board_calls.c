/* SPDX-License-Identifier: MIT
 *
 * Calls of user code that never reach the kernel: board_calls.h.
 */
#include <abi/board_calls.h>
#include <hal/timer.h>
#include "cpu.h"

/*
 * Doze as an idle core does, so that whoever has work for this core rings. What was rung for between the caller's last look and here is
 * seen at the end of the nap: a doorbell stays pending and traps behind it.
 */
static void
nap(uint64_t ns)
{
	hal_wait_begin();
	hal_wait_until(hal_clock_ns() + (ns < BOARD_NAP_MAX_NS ? ns : BOARD_NAP_MAX_NS));
	if (!hal_bell_take(hal_core_area()->waiting))
		hal_bell_await();
}

bool
hal_board_call(struct hal_frame *f, uint64_t instruction)
{
	if (instruction != BOARD_CALL_NAP)
		return false;
	nap(f->x[10]);
	f->pc += 4;
	return true;
}
