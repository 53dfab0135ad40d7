/* SPDX-License-Identifier: MIT
 *
 * Where the kernel call gate is (hosted).
 */
#include <abi/startup.h>
#include <user/start/start.h>
#include <usercpu/kcall.h>

kcall_gate *kcall_gate_address;

void
startup_cpu(const struct startup *s)
{
	kcall_gate_address = (kcall_gate *)(uintptr_t)s->gate;
}
