/* SPDX-License-Identifier: MIT
 *
 * All threads of a program are the system's.
 */
#include <atoll/guest.h>

bool
guests_admit(unsigned ranks)
{
	(void)ranks;
	return true;
}

int
guest_enter(void)
{
	return 0;
}
