/* SPDX-License-Identifier: MIT
 *
 * HAL contract tests: user programs of the hosted port are copied into the code page; they call the
 * kernel through the gate.
 */
#include "../copied.h"

bool
user_can(enum user_program p)
{
	return p != USER_PAGE_FAULTS;
}

void
user_page_fault(struct hal_frame *f, uintptr_t addr, uint32_t write)
{
	(void)f;
	(void)addr;
	(void)write;
}

unsigned
litmus_rounds(void)
{
	return 300;
}

uint64_t
soon_ns(void)
{
	return 20000;
}

bool
user_device_can(void)
{
	return false;
}

void
user_device_raise(bool up)
{
	(void)up;
}

enum machine_lives
machine_lives(void)
{
	return LIVES_WITH_IMAGES;
}
