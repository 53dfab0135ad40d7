/* SPDX-License-Identifier: MIT
 *
 * Memory that is to stay: all does. What is mapped and comes when it is touched is touched.
 */
#include <base/str.h>
#include <user/personality/reach.h>

/* A fault of a look is what Linux says of memory that is not there. */
static long
look_at(uint64_t addr, uint64_t bytes)
{
	uint64_t page = personality_info.page_bytes, first = addr & ~(page - 1);

	if (addr + bytes < addr)
		return -E_INVAL;
	return reach_read(first, (addr + bytes + page - 1 - first) & ~(page - 1)) != 0 ?
		-E_NOMEM : 0;
}

static long
tell_resident(uint64_t addr, uint64_t bytes, uint64_t to)
{
	uint64_t page = personality_info.page_bytes, pages = (bytes + page - 1) / page;
	long result;

	if (addr % page != 0)
		return -E_INVAL;
	if (addr + bytes < addr)
		return -E_NOMEM;
	if (reach_write(to, pages) != 0)
		return -E_FAULT;
	result = look_at(addr, bytes);
	if (result == 0)
		memset((void *)to, 1, pages);
	return result;
}

long
memory_resident(const struct handler_event *c, unsigned long nr)
{
	switch (nr) {
	case SYS_mincore: return tell_resident(arg(c, 0), arg(c, 1), arg(c, 2));
	case SYS_munlockall: return 0;
	/* what is mapped now, will be, or only when it is touched: which alone is nothing */
	case SYS_mlockall:
		return arg(c, 0) == 0 || arg(c, 0) == 4 || arg(c, 0) > 7 ? -E_INVAL : 0;
	default: break;
	}
	return nr == SYS_mlock2 && arg(c, 2) > 1 ? -E_INVAL : look_at(arg(c, 0), arg(c, 1));
}
