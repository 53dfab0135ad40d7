/* SPDX-License-Identifier: MIT
 *
 * Copies between kernel and user memory. User memory is whatever the process can reach (a libc's
 * heap is not in the space), but for the kernel's own view of the cluster and of the NoC: a wild
 * pointer must not destroy the kernel by way of a kernel call.
 */
#include <abi/layout.h>
#include "hosted.h"

static bool
overlaps(uintptr_t addr, size_t len, uintptr_t base, size_t bytes)
{
	return addr < base + bytes && base < addr + len;
}

static bool
is_user(uintptr_t addr, size_t len)
{
	return host_core_self()->space != NULL && addr < USER_LIMIT && len <= USER_LIMIT - addr
		&& !overlaps(addr, len, host.memory, host.memory_bytes)
		&& !overlaps(addr, len, (uintptr_t)host.machine->noc, host.noc_bytes);
}

/* An access to the user's memory that is not to be, or was not. */
static int
no_access(uintptr_t addr, bool write)
{
	host_core_self()->copy_fault = addr;
	host_core_self()->copy_write = write;
	return -E_FAULT;
}

/* What a copy has come to. A fault outside the user's range is an error of the kernel's own. */
static int
outcome(int failed, uintptr_t addr, size_t len, bool write)
{
	uintptr_t fault;

	if (failed == 0)
		return 0;
	fault = host_core_self()->copy_fault;
	if (fault - addr >= len)
		hal_panic(__FILE__, __LINE__, "a fault in a copy, outside the user's range");
	fault &= ~(uintptr_t)(HAL_PAGE_BYTES - 1);
	return no_access(addr > fault ? addr : fault, write);
}

void
hal_user_fault(struct hal_trap *t)
{
	const struct host_core *c = host_core_self();

	*t = (struct hal_trap){.kind = TRAP_FAULT, .cause = CRASH_ACCESS, .write = c->copy_write,
		.addr = c->copy_fault};
}

int
hal_copy_in(void *to, uintptr_t from_user, size_t len)
{
	if (!is_user(from_user, len))
		return no_access(from_user, false);
	return outcome(host_copy(to, (const void *)from_user, len), from_user, len, false);
}

int
hal_copy_out(uintptr_t to_user, const void *from, size_t len)
{
	if (!is_user(to_user, len))
		return no_access(to_user, true);
	return outcome(host_copy((void *)to_user, from, len), to_user, len, true);
}

/* A page of bytes lies in two pages at most: its ends say whether all of it can be written. */
int
hal_user_probe(uintptr_t to_user, size_t len)
{
	if (!is_user(to_user, len))
		return no_access(to_user, true);
	return outcome(host_touch((void *)to_user, (void *)(to_user + len - 1)), to_user, len,
		true);
}

int
hal_user_load32(uintptr_t from_user, uint32_t *value)
{
	if (!is_user(from_user, sizeof(*value)))
		return no_access(from_user, false);
	return outcome(host_load32((const volatile uint32_t *)from_user, value), from_user,
		sizeof(*value), false);
}
