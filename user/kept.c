/* SPDX-License-Identifier: MIT
 *
 * The page that a server leaves to its successor.
 */
#include <abi/errors.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>

int
kept_map(void **page)
{
	struct cluster_info here;
	uint64_t addr = 0;
	long result;

	kcluster_info(&here);
	result = kmem_alloc(SELF, here.page_bytes, 0, &addr);
	if (result >= 0)
		result = kpage_map(SELF, (uintptr_t)addr, atoll_startup()->kept, 0, 1,
			PAGE_READ | PAGE_WRITE);
	*page = (void *)(uintptr_t)addr;
	return result < 0 ? (int)result : 0;
}
