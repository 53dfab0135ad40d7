/* SPDX-License-Identifier: MIT
 *
 * Ports with a trap instruction have no call gate. A port that has one defines hal_gate itself.
 */
#include <hal/trap.h>

__attribute__((weak)) uintptr_t
hal_gate(void)
{
	return 0;
}
