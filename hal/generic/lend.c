/* SPDX-License-Identifier: MIT
 *
 * CPUs without a lend.c of their own have nothing below the kernel that could take a core back.
 */
#include <abi/errors.h>
#include <hal/core.h>

long
hal_core_lend(struct hal_frame *frame, uint64_t paddr, uint64_t bytes, uint64_t entry,
	unsigned long arg)
{
	(void)frame;
	(void)paddr;
	(void)bytes;
	(void)entry;
	(void)arg;
	return -E_NOSYS;
}

void
hal_core_take_back(unsigned core)
{
	(void)core;
}
