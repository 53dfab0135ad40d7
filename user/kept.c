/* SPDX-License-Identifier: MIT
 *
 * The pages that a server leaves to its successor.
 */
#include <abi/errors.h>
#include <abi/layout.h>
#include <atoll/kcalls.h>
#include <atoll/server.h>
#include <atoll/startup.h>

int
kept_map(void **to, size_t bytes)
{
	struct cluster_info here;
	uint64_t addr = 0;
	int pages;
	long result;

	kcluster_info(&here);
	pages = (int)((bytes + here.page_bytes - 1) / here.page_bytes);
	result = kmem_alloc(SELF, (uint64_t)pages * here.page_bytes, 0, &addr);
	if (result >= 0)
		result = kpage_map(SELF, (uintptr_t)addr, atoll_startup()->kept, 0, pages,
			PAGE_READ | PAGE_WRITE);
	*to = (void *)(uintptr_t)addr;
	return result < 0 ? (int)result : 0;
}
