/* SPDX-License-Identifier: MIT
 *
 * Memory, and what of it a child of fork gets. mmap without access only reserves
 * addresses; mprotect puts memory behind reserved pages. Pages that have memory keep it without
 * access, too. In the place of others, what has no access is one page of zeros many times, private:
 * who gets the right to write there, and writes, has a page of his own then.
 */
#include <abi/layout.h>
#include <abi/startup.h>
#include <base/str.h>
#include <user/personality/limits.h>
#include <user/personality/lock.h>
#include <user/personality/personality.h>

#define MAP_SHARED 1
#define MAP_FIXED 0x10
#define MAP_FIXED_NOREPLACE 0x100000
#define MREMAP_MAYMOVE 1
#define ADVICE_LAST 25
#define MSYNC_FLAGS 7
#define MSYNC_BOTH 5			/* at once, and not */
#define LINUX_PROT_MASK 7	/* read 1, write 2, execute 4: the same bits as PAGE_* */

static unsigned long
pages_of(unsigned long bytes)
{
	return (bytes + personality_info.page_bytes - 1) / personality_info.page_bytes;
}

int
memory_prot(unsigned long prot)
{
	return (prot & LINUX_PROT_MASK) == 0 ? 0 : (int)((prot & LINUX_PROT_MASK) | PAGE_READ);
}

static bool
is_sane(unsigned long addr, unsigned long len)
{
	return addr % personality_info.page_bytes == 0 && len != 0 && len <= (1ul << 40);
}

/* --- what there is --- */

static struct lock lock;

static struct space_area
area_of(unsigned long addr, unsigned long bytes)
{
	return (struct space_area){.first = (uint32_t)(addr / personality_info.page_bytes),
		.end = (uint32_t)((addr + bytes + personality_info.page_bytes - 1) /
			personality_info.page_bytes)};
}

/* What the program began with: its stack has an unmapped page below it. */
static void
note_first(const struct job_rank *r)
{
	const struct startup *s = (const struct startup *)r->startup;
	uint64_t page = personality_info.page_bytes;

	space_add(&kept.space, area_of(s->shared, s->shared_bytes));
	space_add(&kept.space, area_of(s->image_base, s->image_bytes));
	space_add(&kept.space, area_of(r->stack_first - page,
		r->stack_limit - r->stack_first + page));
}

/* With the lock. Does anybody ask for it? A child of several ranks there is not. */
static bool
is_noted(void)
{
	const struct job_rank *r = only_rank();

	if (r != NULL && kept.space.count == 0)
		note_first(r);
	return r != NULL;
}

static void
note(unsigned long addr, unsigned long bytes, bool is_shared)
{
	struct space_area a = area_of(addr, bytes);

	a.is_shared = is_shared;
	if (is_noted())
		space_add(&kept.space, a);
}

/* Pages [addr, addr + bytes) are given up. */
static long
give_up(unsigned long addr, unsigned long bytes)
{
	struct space_area a = area_of(addr, bytes);
	long result = kpage_unmap(SELF, addr, (int)pages_of(bytes));

	if (result >= 0 && is_noted())
		space_remove(&kept.space, a.first, a.end);
	return result;
}

void
memory_note(unsigned long addr, unsigned long bytes, bool is_shared)
{
	lock_take(&lock);
	note(addr, bytes, is_shared);
	lock_give(&lock);
}

int
memory_hold(void)
{
	lock_take(&lock);
	if (is_noted() && !kept.space.is_lost)
		return 0;
	lock_give(&lock);
	return kept.space.is_lost ? -E_NOMEM : -E_NOSYS;
}

void
memory_go_on(void)
{
	lock_give(&lock);
}

void
memory_end_file(unsigned long addr, unsigned long bytes, const struct file_end *e)
{
	struct space_area a = area_of(addr, bytes);

	lock_take(&lock);
	a.is_shared = e->key != 0;
	a.behind = is_noted() ? space_free_file(&kept.space) & SPACE_FILES : 0;
	if (a.behind != 0 && kpage_protect(SELF, addr, (int)(a.end - a.first), 0) >= 0) {
		space_remove(&kept.space, a.first, a.end);
		space_add(&kept.space, a);
		kept.file_end[a.behind - 1] = *e;
		kept.takes_faults = 1;
	}
	lock_give(&lock);
}

bool
memory_grow_file(uint32_t page, uint32_t end)
{
	struct space_area a;
	bool result;

	lock_take(&lock);
	a = space_find(&kept.space, page);
	if (end > a.end)
		end = a.end;
	result = a.behind != 0 && page < end && kpage_protect(SELF, a.first *
		personality_info.page_bytes, (int)(end - a.first),
		(int)kept.file_end[a.behind - 1].prot) >= 0;
	lock_give(&lock);
	return result;
}

struct space_area
memory_area(unsigned long addr)
{
	struct space_area a;

	lock_take(&lock);
	a = space_find(&kept.space, area_of(addr, 1).first);
	lock_give(&lock);
	return a;
}

unsigned long
memory_futex(unsigned long addr)
{
	return memory_area(addr).is_shared ? addr | FUTEX_SHARED : addr;
}

/* With the lock. */
static bool
is_allowed(const struct handler_event *c, unsigned long bytes)
{
	return (kept.limits_changed & (1u << RLIMIT_AS | 1u << RLIMIT_DATA)) == 0 || !is_noted() ||
		limits_allow(c, bytes);
}

bool
memory_is_allowed(const struct handler_event *c, unsigned long bytes)
{
	bool result;

	lock_take(&lock);
	result = is_allowed(c, bytes);
	lock_give(&lock);
	return result;
}

/* --- the calls --- */

/* Memory at free addresses, in as large pieces as there are. */
static long
map_there(unsigned long addr, unsigned long left, int prot)
{
	unsigned long take = left;
	long result = 0;

	while (left > 0 && result >= 0) {
		long memory;

		take = take < left ? take : left;
		memory = kmemory_create((int)take);
		if (memory < 0 && take > 1) {
			take /= 2;
			continue;
		}
		result = memory < 0 ? memory :
			kpage_map(SELF, addr, (int)memory, 0, (int)take, prot);
		if (memory >= 0)
			khandle_close((int)memory);
		addr += take * personality_info.page_bytes;
		left -= take;
	}
	return result;
}

/* Pages of zeros without access, at free addresses. */
static long
map_nothing(unsigned long addr, unsigned long pages)
{
	long memory = kmemory_create(1), result = memory;

	for (; pages > 0 && result >= 0; pages--, addr += personality_info.page_bytes)
		result = kpage_map(SELF, addr, (int)memory, 0, 1, PAGE_PRIVATE);
	if (memory >= 0)
		khandle_close((int)memory);
	return result;
}

/*
 * At the address that is asked for, in the place of what is there. With prot 0 the addresses are
 * free then, for who maps there at once.
 */
static long
place_fixed(const struct handler_event *c, int prot)
{
	unsigned long addr = arg(c, 0), pages = pages_of(arg(c, 1));
	bool may_replace = (arg(c, 3) & MAP_FIXED_NOREPLACE) == 0;
	long result = 0;

	if (addr == 0 || !is_sane(addr, arg(c, 1)))
		return -E_INVAL;
	if (may_replace)
		result = give_up(addr, arg(c, 1));
	if (result >= 0 && prot != 0)
		result = map_there(addr, pages, prot);
	if (result < 0 && may_replace)
		give_up(addr, arg(c, 1));
	return result == -E_EXIST || result >= 0 ? result : -E_NOMEM;
}

static long
place_held(const struct handler_event *c, int prot, uint64_t *addr)
{
	*addr = arg(c, 0);
	return (arg(c, 3) & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0 ? place_fixed(c, prot) :
		kmem_alloc(SELF, arg(c, 1), prot, addr);
}

long
memory_place(const struct handler_event *c, int prot, uint64_t *addr)
{
	long result;

	lock_take(&lock);
	result = place_held(c, prot, addr);
	lock_give(&lock);
	return result;
}

/* Memory that processes share is there from the start: all of them are to find the same. */
long
memory_mmap(const struct handler_event *c)
{
	bool is_shared = (arg(c, 3) & MAP_SHARED) != 0,
		is_fixed = (arg(c, 3) & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0;
	int asked = memory_prot(arg(c, 2)), prot = asked | (is_shared ? PAGE_READ : 0);
	unsigned long pages = pages_of(arg(c, 1));
	uint64_t addr;
	long result;

	if (!is_sane(0, arg(c, 1)))
		return -E_INVAL;
	lock_take(&lock);
	if (!is_allowed(c, arg(c, 1))) {
		lock_give(&lock);
		return -E_NOMEM;
	}
	result = place_held(c, prot, &addr);
	if (result >= 0 && is_fixed && prot == 0 && map_nothing(addr, pages) < 0)
		result = -E_NOMEM;
	if (result >= 0 && is_shared && asked == 0)
		result = kpage_protect(SELF, addr, (int)pages, 0);
	if (result >= 0)
		note(addr, arg(c, 1), is_shared);
	lock_give(&lock);
	return result >= 0 ? (long)addr : is_fixed ? result : -E_NOMEM;
}

long
memory_munmap(const struct handler_event *c)
{
	long result;

	if (!is_sane(arg(c, 0), arg(c, 1)))
		return -E_INVAL;
	lock_take(&lock);
	result = give_up(arg(c, 0), arg(c, 1));
	lock_give(&lock);
	return result;
}

/* One page gets a new protection, or memory if it had none. */
static long
protect_page(unsigned long addr, int prot)
{
	struct page_info info;
	long memory, result;

	if (kpage_query(SELF, addr, &info) >= 0)
		return kpage_protect(SELF, addr, 1, prot);
	if (prot == 0)
		return 0;
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
	int prot = memory_prot(arg(c, 2));
	long result = 0;

	if (arg(c, 1) == 0 && addr % personality_info.page_bytes == 0)
		return 0;
	if (!is_sane(addr, arg(c, 1)))
		return -E_INVAL;
	if (kpage_protect(SELF, addr, (int)pages, prot) >= 0)
		return 0;
	for (; pages > 0 && result >= 0; pages--, addr += personality_info.page_bytes)
		result = protect_page(addr, prot);
	return result < 0 ? result : 0;
}

/* Advice is heard and has no effect: of Linux's kinds the first five, and those from 8 on. */
long
memory_madvise(const struct handler_event *c)
{
	unsigned long advice = arg(c, 2);

	return arg(c, 0) % personality_info.page_bytes != 0 || advice > ADVICE_LAST ||
		(advice > 4 && advice < 8) ? -E_INVAL : 0;
}

/* What is written to shared memory is in the file at once. */
long
memory_msync(const struct handler_event *c)
{
	unsigned long addr = arg(c, 0), pages = pages_of(arg(c, 1)), flags = arg(c, 2);
	struct page_info info;

	if ((flags & ~(unsigned long)MSYNC_FLAGS) != 0 || addr % personality_info.page_bytes != 0 ||
		(flags & MSYNC_BOTH) == MSYNC_BOTH)
		return -E_INVAL;
	for (unsigned long i = 0; i < pages; i++, addr += personality_info.page_bytes)
		if (kpage_query(SELF, addr, &info) < 0)
			return -E_NOMEM;
	return 0;
}

/* What processes share does not grow: its new pages would be one process's. */
static long
resize(unsigned long old, unsigned long bytes, unsigned long wanted, bool may_move)
{
	uint64_t addr;

	if (wanted < bytes && give_up(old + wanted, bytes - wanted) < 0)
		return -E_FAULT;
	if (wanted <= bytes)
		return (long)old;
	if (!may_move || space_find(&kept.space, area_of(old, 1).first).is_shared ||
		kmem_alloc(SELF, wanted, PAGE_READ | PAGE_WRITE, &addr) < 0)
		return -E_NOMEM;
	note(addr, wanted, false);
	memcpy((void *)addr, (const void *)old, bytes);
	give_up(old, bytes);
	return (long)addr;
}

long
memory_mremap(const struct handler_event *c)
{
	unsigned long page = personality_info.page_bytes, bytes = pages_of(arg(c, 1)) * page,
		wanted = pages_of(arg(c, 2)) * page;
	long result;

	if (!is_sane(arg(c, 0), arg(c, 1)) || !is_sane(0, arg(c, 2)))
		return -E_INVAL;
	lock_take(&lock);
	if (wanted > bytes && !is_allowed(c, wanted - bytes)) {
		lock_give(&lock);
		return -E_NOMEM;
	}
	result = resize(arg(c, 0), bytes, wanted, (arg(c, 3) & MREMAP_MAYMOVE) != 0);
	lock_give(&lock);
	return result;
}
