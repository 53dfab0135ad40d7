/* SPDX-License-Identifier: MIT
 *
 * For tests of the HAL without a kernel: guests are tested with the kernel that has them.
 */
#include <abi/errors.h>
#include <hal/guest.h>

int
kernel_guest_enter(void *home, unsigned core, uintptr_t image, struct guest_thread *g)
{
	(void)home;
	(void)core;
	(void)image;
	(void)g;
	return -E_SRCH;
}

bool
kernel_guest_leave(void)
{
	return true;
}
