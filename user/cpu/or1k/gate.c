/* SPDX-License-Identifier: MIT
 *
 * Nothing to remember: on or1k a kernel call is an instruction.
 */
#include <user/start/start.h>

void
startup_cpu(const struct startup *s)
{
	(void)s;
}
