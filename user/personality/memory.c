/* SPDX-License-Identifier: MIT
 *
 * Anonymous memory. mmap without access only reserves addresses; mprotect puts memory behind
 * reserved pages. Taking all access away from pages that have memory leaves them readable: the
 * kernel knows no mapping without access.
 */
#include <abi/layout.h>
#include <base/str.h>
#include <user/personality/personality.h>

#define MAP_FIXED 0x10
#define MAP_ANONYMOUS 0x20
#define MREMAP_MAYMOVE 1
#define LINUX_PROT_MASK 7	/* read 1, write 2, execute 4: the same bits as PAGE_* */

static unsigned long
pages_of(unsigned long bytes)
{
	return (bytes + personality_info.page_bytes - 1) / personality_info.page_bytes;
}

/* The kernel's protection for Linux's; 0 stays 0, everything else can be read. */
static int
prot_of(unsigned long prot)
{
	return (prot & LINUX_PROT_MASK) == 0 ? 0 : (int)((prot & LINUX_PROT_MASK) | PAGE_READ);
}

static bool
is_sane(unsigned long addr, unsigned long len)
{
	return addr % personality_info.page_bytes == 0 && len != 0 && len <= (1ul << 40);
}

long
memory_mmap(const struct handler_event *c)
{
	uint64_t addr;
	long result;

	if ((arg(c, 3) & MAP_ANONYMOUS) == 0)
		return -LINUX_ENODEV;
	if ((arg(c, 3) & MAP_FIXED) != 0 || !is_sane(0, arg(c, 1)))
		return -E_INVAL;
	result = kmem_alloc(SELF, arg(c, 1), prot_of(arg(c, 2)), &addr);
	return result < 0 ? -E_NOMEM : (long)addr;
}

long
memory_munmap(const struct handler_event *c)
{
	if (!is_sane(arg(c, 0), arg(c, 1)))
		return -E_INVAL;
	return kpage_unmap(SELF, arg(c, 0), (int)pages_of(arg(c, 1)));
}

/* One page gets a new protection, or memory if it had none. */
static long
protect_page(unsigned long addr, int prot)
{
	struct page_info info;
	long memory, result;

	if (kpage_query(SELF, addr, &info) >= 0)
		return kpage_protect(SELF, addr, 1, prot);
	memory = kmemory_create(1);
	if (memory < 0)
		return memory;
	result = kpage_map(SELF, addr, (int)memory, 0, 1, prot);
	khandle_close((int)memory);
	return result;
}

long
memory_mprotect(const struct handler_event *c)
{
	unsigned long addr = arg(c, 0), pages = pages_of(arg(c, 1));
	int prot = prot_of(arg(c, 2));
	struct page_info info;

	if (!is_sane(addr, arg(c, 1)))
		return -E_INVAL;
	if (prot != 0 && kpage_protect(SELF, addr, (int)pages, prot) >= 0)
		return 0;
	for (unsigned long i = 0; i < pages; i++, addr += personality_info.page_bytes) {
		long result = 0;

		if (prot != 0)
			result = protect_page(addr, prot);
		else if (kpage_query(SELF, addr, &info) >= 0)
			result = kpage_protect(SELF, addr, 1, PAGE_READ);
		if (result < 0)
			return result;
	}
	return 0;
}

long
memory_mremap(const struct handler_event *c)
{
	unsigned long old = arg(c, 0), old_pages = pages_of(arg(c, 1)),
		new_pages = pages_of(arg(c, 2));
	unsigned long page = personality_info.page_bytes;
	uint64_t addr;

	if (!is_sane(old, arg(c, 1)) || !is_sane(0, arg(c, 2)))
		return -E_INVAL;
	if (new_pages < old_pages &&
		kpage_unmap(SELF, old + new_pages * page, (int)(old_pages - new_pages)) < 0)
		return -E_FAULT;
	if (new_pages <= old_pages)
		return (long)old;
	if ((arg(c, 3) & MREMAP_MAYMOVE) == 0 ||
		kmem_alloc(SELF, new_pages * page, PAGE_READ | PAGE_WRITE, &addr) < 0)
		return -E_NOMEM;
	memcpy((void *)addr, (const void *)old, old_pages * page);
	kpage_unmap(SELF, old, (int)old_pages);
	return (long)addr;
}
