/* SPDX-License-Identifier: MIT
 *
 * Copies between kernel and user memory. User memory is whatever the process can reach (a libc's heap is not in the space), but for the
 * kernel's own view of the cluster and of the NoC: a wild pointer must not destroy the kernel by way of a kernel call.
 */
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

/* What a copy has come to. A fault outside the user's range is an error of the kernel's own. */
static int
outcome(int failed, uintptr_t addr, size_t len)
{
	if (failed == 0)
		return 0;
	if (host_core_self()->copy_fault - addr >= len)
		hal_panic(__FILE__, __LINE__, "a fault in a copy, outside the user's range");
	return -E_FAULT;
}

int
hal_copy_in(void *to, uintptr_t from_user, size_t len)
{
	if (!is_user(from_user, len))
		return -E_FAULT;
	return outcome(host_copy(to, (const void *)from_user, len), from_user, len);
}

int
hal_copy_out(uintptr_t to_user, const void *from, size_t len)
{
	if (!is_user(to_user, len))
		return -E_FAULT;
	return outcome(host_copy((void *)to_user, from, len), to_user, len);
}

/* A page of bytes lies in two pages at most: its ends say whether all of it can be written. */
int
hal_user_probe(uintptr_t to_user, size_t len)
{
	if (!is_user(to_user, len))
		return -E_FAULT;
	return outcome(host_touch((void *)to_user, (void *)(to_user + len - 1)), to_user, len);
}

int
hal_user_load32(uintptr_t from_user, uint32_t *value)
{
	if (!is_user(from_user, sizeof(*value)))
		return -E_FAULT;
	return outcome(host_load32((const volatile uint32_t *)from_user, value), from_user, sizeof(*value));
}
