/* SPDX-License-Identifier: MIT
 *
 * HAL contract tests: user programs of riscv64 are copied into the code page; a trap instruction
 * calls the kernel.
 */
#include "../copied.h"

bool
user_can(enum user_program p)
{
	(void)p;
	return true;
}

void hal_user_trap(struct hal_frame *f, uint64_t cause, uint64_t value);

void
user_page_fault(struct hal_frame *f, uintptr_t addr, uint32_t write)
{
	static const uint64_t cause[] = {13, 15, 12};

	hal_user_trap(f, cause[write], addr);
}

unsigned
litmus_rounds(void)
{
	return 30;
}

uint64_t
soon_ns(void)
{
	return 20000;
}
