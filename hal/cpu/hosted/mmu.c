/* SPDX-License-Identifier: MIT
 *
 * Address spaces, hosted. Each space is a range of the process's addresses, reserved without
 * access; a mapping lays pages of the cluster's memory file (or of the windows, or of the archive)
 * over it. The kernel's pages of the table say what is mapped where:
 *
 *	level 2, 1, 0	512 entries each: 1 GB, 2 MB, 4 KB per entry
 *	entry		0, or address of the next table, or physical address | protection |
 *			ENTRY_PAGE; large pages at level 1.
 *			The protection, and the same shifted by HAL_MAY: the mapping's maximum
 *
 * Every check comes before the first change, and every change is one system call, so that each call
 * happens as a whole or not at all.
 */
#include <string.h>
#include <sys/mman.h>
#include <hal/each.h>
#include "hosted.h"

#define SPACE_BYTES ((size_t)64 << 30)
#define TABLE_BITS 9
#define TABLE_ENTRIES (1 << TABLE_BITS)
#define TOP_LEVEL 2
#define LARGE_LEVEL 1
#define LARGE_PAGES (HAL_LARGE_BYTES / HAL_PAGE_BYTES)

#define ENTRY_PROT (PAGE_READ | PAGE_WRITE | PAGE_EXEC | PAGE_LARGE)
#define ENTRY_PAGE 16
#define ENTRY_ADDR (~(uint64_t)(HAL_PAGE_BYTES - 1))
#define ACCESS (PAGE_READ | PAGE_WRITE | PAGE_EXEC)

uint64_t
hal_paddr(const void *kernel)
{
	return (uintptr_t)kernel;
}

void *
hal_kaddr(uint64_t paddr)
{
	return (void *)(uintptr_t)paddr;
}

static long
reserve(uintptr_t addr, size_t bytes, int fixed)
{
	return host_call6(SYS_mmap, addr, bytes, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
}

int
hal_space_init(struct hal_space *s, const struct hal_page_source *src)
{
	long area = reserve(0, SPACE_BYTES + HAL_LARGE_BYTES, 0);

	if (area < 0 && area > -4096)
		return -E_NOMEM;
	s->root = src->take(src->ctx);
	if (s->root == NULL) {
		host_call2(SYS_munmap, area, SPACE_BYTES + HAL_LARGE_BYTES);
		return -E_NOMEM;
	}
	s->first = ((uintptr_t)area + HAL_LARGE_BYTES - 1) & ~(HAL_LARGE_BYTES - 1);
	s->limit = s->first + SPACE_BYTES;
	s->take = src->take;
	s->give = src->give;
	s->ctx = src->ctx;
	if (s->first > (uintptr_t)area)
		host_call2(SYS_munmap, area, s->first - (uintptr_t)area);
	host_call2(SYS_munmap, s->limit, (uintptr_t)area + HAL_LARGE_BYTES - s->first);
	return 0;
}

static bool
is_table(uint64_t entry)
{
	return entry != 0 && (entry & ENTRY_PAGE) == 0;
}

static uint64_t *
table_of(uint64_t entry)
{
	return (uint64_t *)(uintptr_t)(entry & ENTRY_ADDR);
}

static void
give_tables(struct hal_space *s, uint64_t *table, int level)
{
	for (int i = 0; level > 0 && i < TABLE_ENTRIES; i++)
		if (is_table(table[i]))
			give_tables(s, table_of(table[i]), level - 1);
	s->give(s->ctx, table);
}

/*
 * At once: what Linux does for it takes longer than the tables, and cannot be divided without
 * splitting mappings.
 */
bool
hal_space_destroy(struct hal_space *s)
{
	give_tables(s, s->root, TOP_LEVEL);
	s->root = NULL;
	if (host_call2(SYS_munmap, s->first, SPACE_BYTES) == 0)
		return true;
	host_spare_drop();
	if (host_call2(SYS_munmap, s->first, SPACE_BYTES) != 0)
		host_refuse("cannot take back the addresses of a process (vm.max_map_count "
			"reached?)");
	host_spare_make();
	return true;
}

static unsigned
shift_of(int level)
{
	return HAL_PAGE_SHIFT + (unsigned)level * TABLE_BITS;
}

static uint64_t *
entry_in(const struct hal_space *s, uint64_t *table, uintptr_t addr, int level)
{
	return &table[(addr - s->first) >> shift_of(level) & (TABLE_ENTRIES - 1)];
}

/*
 * The entry that decides about an address: a page, or an empty entry at whatever level the walk
 * ends.
 */
static uint64_t *
find(const struct hal_space *s, uintptr_t addr, int *level)
{
	uint64_t *table = s->root;
	uint64_t *entry;

	for (*level = TOP_LEVEL;; (*level)--) {
		entry = entry_in(s, table, addr, *level);
		if (*level == 0 || !is_table(*entry))
			return entry;
		table = table_of(*entry);
	}
}

/*
 * The entry at a level; `make`: make the tables above it. NULL: a table is missing and shall not or
 * cannot be made, or a larger page is in the way.
 */
static uint64_t *
reach(struct hal_space *s, uintptr_t addr, int level, bool make)
{
	uint64_t *table = s->root;

	for (int l = TOP_LEVEL; l > level; l--) {
		uint64_t *entry = entry_in(s, table, addr, l);

		if (*entry == 0 && make)
			*entry = (uintptr_t)s->take(s->ctx);
		if (!is_table(*entry))
			return NULL;
		table = table_of(*entry);
	}
	return entry_in(s, table, addr, level);
}

/* Give the table behind an entry back if nothing is in it. */
static void
drop_if_empty(struct hal_space *s, uint64_t *entry)
{
	uint64_t *table;

	if (!is_table(*entry))
		return;
	table = table_of(*entry);
	for (int i = 0; i < TABLE_ENTRIES; i++)
		if (table[i] != 0)
			return;
	*entry = 0;
	s->give(s->ctx, table);
}

/* Give empty tables of a range back, from the bottom up. */
static void
prune(struct hal_space *s, uintptr_t addr, size_t bytes)
{
	for (int level = 1; level <= TOP_LEVEL; level++) {
		uintptr_t unit = (uintptr_t)1 << shift_of(level);
		uintptr_t at = addr - ((addr - s->first) & (unit - 1));

		for (; at < addr + bytes; at += unit) {
			uint64_t *entry = reach(s, at, level, false);

			if (entry != NULL)
				drop_if_empty(s, entry);
		}
	}
}

static bool
range_ok(const struct hal_space *s, uintptr_t addr, size_t count, size_t unit)
{
	if (addr < s->first || addr >= s->limit || (addr & (unit - 1)) != 0 || count == 0)
		return false;
	return count <= (s->limit - addr) / unit;
}

/* The file behind a physical address and the place in it, or -1. */
static int
file_of(uint64_t paddr, size_t bytes, uint64_t *offset)
{
	const struct host_machine *m = host.machine;
	const struct { uintptr_t base; size_t bytes; int fd; } region[] = {
		{host.memory, host.memory_bytes, host.memory_fd},
		{(uintptr_t)m->noc, host.noc_bytes, m->noc_fd},
		{(uintptr_t)m->archive, host.archive_bytes, m->archive_fd},
	};

	for (size_t i = 0; i < sizeof(region) / sizeof(region[0]); i++) {
		*offset = paddr - region[i].base;
		if (*offset < region[i].bytes && bytes <= region[i].bytes - *offset)
			return region[i].fd;
	}
	return -1;
}

static int
host_protection(int prot)
{
	return (prot & PAGE_READ ? PROT_READ : 0) | (prot & PAGE_WRITE ? PROT_WRITE : 0) |
		(prot & PAGE_EXEC ? PROT_EXEC : 0);
}

/* Is there nothing in the range? Makes the tables that the entries will need. */
static int
make_room(struct hal_space *s, uintptr_t addr, size_t count, int level)
{
	for (size_t i = 0; i < count; i++) {
		uintptr_t a = addr + (i << shift_of(level));
		int at;
		uint64_t *entry = find(s, a, &at);

		if (*entry & ENTRY_PAGE)
			return -E_EXIST;
		entry = reach(s, a, level, true);
		if (entry == NULL)
			return -E_NOMEM;
		if (*entry != 0)
			return -E_EXIST;
	}
	return 0;
}

int
hal_map(struct hal_space *s, uintptr_t addr, uint64_t paddr, size_t count, int prot)
{
	int level = prot & PAGE_LARGE ? LARGE_LEVEL : 0;
	size_t unit = (size_t)1 << shift_of(level);
	uint64_t offset;
	int fd, error;
	long mapped;

	if (!range_ok(s, addr, count, unit) || (paddr & (unit - 1)) != 0 ||
		(prot & ~(ENTRY_PROT | HAL_MAY_ALL)) != 0)
		return -E_INVAL;
	fd = file_of(paddr, count * unit, &offset);
	if (fd < 0)
		return -E_INVAL;
	error = make_room(s, addr, count, level);
	if (error == 0) {
		mapped = host_call6(SYS_mmap, addr, count * unit, host_protection(prot),
			MAP_SHARED | MAP_FIXED, fd, offset);
		if (mapped != (long)addr)
			error = -E_NOMEM;
	}
	if (error != 0) {
		prune(s, addr, count * unit);
		return error;
	}
	for (size_t i = 0; i < count; i++)
		*reach(s, addr + i * unit, level, false) = (paddr + i * unit) |
			(uint64_t)(prot | HAL_MAY(prot & ACCESS)) | ENTRY_PAGE;
	return 0;
}

/*
 * Pages that the entry for an address covers from there on, if it is mapped and lies inside the
 * range as a whole; else 0.
 */
static size_t
pages_at(const struct hal_space *s, uintptr_t addr, size_t left)
{
	int level;
	uint64_t *entry = find(s, addr, &level);

	if ((*entry & ENTRY_PAGE) == 0)
		return 0;
	if (level == 0)
		return 1;
	return (addr & (HAL_LARGE_BYTES - 1)) == 0 && left >= LARGE_PAGES ? LARGE_PAGES : 0;
}

static bool
all_mapped(const struct hal_space *s, uintptr_t addr, size_t count)
{
	if (!range_ok(s, addr, count, HAL_PAGE_BYTES))
		return false;
	while (count > 0) {
		size_t pages = pages_at(s, addr, count);

		if (pages == 0)
			return false;
		addr += pages * HAL_PAGE_BYTES;
		count -= pages;
	}
	return true;
}

/* Change every entry of a range that is mapped: keep what is in `keep`, add what is in `set`. */
static void
change_entries(struct hal_space *s, uintptr_t addr, size_t count, uint64_t keep, uint64_t set)
{
	while (count > 0) {
		size_t pages = pages_at(s, addr, count);
		int level;
		uint64_t *entry = find(s, addr, &level);

		*entry = (*entry & keep) | set;
		addr += pages * HAL_PAGE_BYTES;
		count -= pages;
	}
}

/*
 * Linux takes all access to a range away, or gives each page of it what its entry says: that needs
 * no more mappings than there were.
 */
static long
shut(uintptr_t addr, size_t bytes)
{
	return host_call3(SYS_mprotect, addr, bytes, PROT_NONE);
}

static void
reopen(struct hal_space *s, uintptr_t addr, size_t count)
{
	uintptr_t end = addr + count * HAL_PAGE_BYTES, from = addr;
	int level, prot = 0;

	for (; addr <= end; addr += HAL_PAGE_BYTES) {
		uint64_t entry = addr < end ? *find(s, addr, &level) : 0;
		int now = entry & ENTRY_PAGE ? host_protection((int)(entry & ACCESS)) : PROT_NONE;

		if (now == prot && addr < end)
			continue;
		if (prot != PROT_NONE && host_call3(SYS_mprotect, from, addr - from, prot) != 0)
			host_refuse("cannot give a mapping its protection back");
		from = addr;
		prot = now;
	}
}

/* What is shut needs no second split, so that hal_unmap finds room. */
int
hal_unmap_ready(struct hal_space *s, uintptr_t addr, size_t count)
{
	if (shut(addr, count * HAL_PAGE_BYTES) == 0)
		return 0;
	reopen(s, addr, count);
	return -E_NOMEM;
}

/*
 * Without room the spare mappings make way. There is then enough for a range that hal_unmap_ready
 * has shut, which has ends already, and for one that was mapped just now.
 */
static void
take_back(uintptr_t addr, size_t bytes)
{
	if (reserve(addr, bytes, MAP_FIXED) == (long)addr)
		return;
	host_spare_drop();
	if (reserve(addr, bytes, MAP_FIXED) != (long)addr && shut(addr, bytes) != 0)
		host_refuse("cannot take back a mapping (vm.max_map_count reached?)");
	host_spare_make();
}

int
hal_unmap(struct hal_space *s, uintptr_t addr, size_t count)
{
	if (!all_mapped(s, addr, count))
		return -E_INVAL;
	take_back(addr, count * HAL_PAGE_BYTES);
	change_entries(s, addr, count, 0, 0);
	prune(s, addr, count * HAL_PAGE_BYTES);
	return 0;
}

/* May every page of a range that is mapped have this protection? */
static bool
all_may(const struct hal_space *s, uintptr_t addr, size_t count, int prot)
{
	while (count > 0) {
		size_t pages = pages_at(s, addr, count);
		int level;

		if ((HAL_MAY(prot) & ~*find(s, addr, &level)) != 0)
			return false;
		addr += pages * HAL_PAGE_BYTES;
		count -= pages;
	}
	return true;
}

int
hal_protect(struct hal_space *s, uintptr_t addr, size_t count, int prot)
{
	if ((prot & ~ACCESS) != 0 || !all_mapped(s, addr, count))
		return -E_INVAL;
	if (!all_may(s, addr, count, prot))
		return -E_ACCES;
	if (host_call3(SYS_mprotect, addr, count * HAL_PAGE_BYTES, host_protection(prot)) != 0) {
		reopen(s, addr, count);
		return -E_NOMEM;
	}
	change_entries(s, addr, count, ~(uint64_t)ACCESS, (uint64_t)prot);
	return 0;
}

int
hal_remap(struct hal_space *s, uintptr_t addr, uint64_t was, uint64_t paddr, int prot)
{
	int level, fd;
	uint64_t *entry = find(s, addr, &level), offset;

	if (level != 0 || (*entry & (ENTRY_PAGE | PAGE_WRITE)) != ENTRY_PAGE ||
		(*entry & ENTRY_ADDR) != was)
		return -E_EXIST;
	fd = file_of(paddr, HAL_PAGE_BYTES, &offset);
	if (host_call6(SYS_mmap, addr, HAL_PAGE_BYTES, host_protection(prot),
		MAP_SHARED | MAP_FIXED, fd, offset) != (long)addr)
		return -E_NOMEM;
	*entry = paddr | (*entry & HAL_MAY_ALL) | (uint64_t)(prot & ACCESS) | ENTRY_PAGE;
	return 0;
}

/* What Linux has mapped does not change: only how the table says it. */
int
hal_split(struct hal_space *s, uintptr_t addr)
{
	int level;
	uint64_t *entry, *table;

	if (addr < s->first || addr >= s->limit)
		return -E_INVAL;
	entry = find(s, addr, &level);
	if ((*entry & ENTRY_PAGE) == 0 || level != LARGE_LEVEL)
		return -E_INVAL;
	table = s->take(s->ctx);
	if (table == NULL)
		return -E_NOMEM;
	for (unsigned i = 0; i < TABLE_ENTRIES; i++)
		table[i] = (*entry & ~(uint64_t)PAGE_LARGE) + i * HAL_PAGE_BYTES;
	*entry = (uintptr_t)table;
	return 0;
}

int
hal_join(struct hal_space *s, uintptr_t addr)
{
	uint64_t *table;
	uint64_t *entry = range_ok(s, addr, 1, HAL_LARGE_BYTES) ?
		reach(s, addr, LARGE_LEVEL, false) :
		NULL;

	if (entry == NULL || !is_table(*entry))
		return -E_INVAL;
	table = table_of(*entry);
	if ((table[0] & ENTRY_PAGE) == 0 || (table[0] & ENTRY_ADDR) % HAL_LARGE_BYTES != 0)
		return -E_INVAL;
	for (unsigned i = 1; i < TABLE_ENTRIES; i++)
		if (table[i] != table[0] + i * HAL_PAGE_BYTES)
			return -E_INVAL;
	*entry = table[0] | PAGE_LARGE;
	s->give(s->ctx, table);
	return 0;
}

int
hal_query(struct hal_space *s, uintptr_t addr, uint64_t *paddr, int *prot)
{
	int level;
	uint64_t *entry;

	if (addr < s->first || addr >= s->limit)
		return -E_INVAL;
	entry = find(s, addr, &level);
	if ((*entry & ENTRY_PAGE) == 0)
		return -E_INVAL;
	*paddr = *entry & ENTRY_ADDR;
	*prot = (int)(*entry & (ENTRY_PROT | HAL_MAY_ALL));
	return 0;
}

size_t
hal_query_run(struct hal_space *s, uintptr_t addr, size_t count, int alike, uint64_t *paddr,
	int *prot)
{
	return query_each(s, addr, count, alike, paddr, prot);
}

int
hal_share(struct hal_space *s, uintptr_t addr, size_t count, struct hal_space *to, uintptr_t at)
{
	return share_each(s, addr, count, to, at);
}

size_t
hal_hole(const struct hal_space *s, uintptr_t addr, unsigned looks)
{
	int level;
	size_t bytes;

	(void)looks;
	if ((*find(s, addr, &level) & ENTRY_PAGE) != 0)
		return 0;
	bytes = (size_t)1 << shift_of(level);
	return bytes - (addr - s->first) % bytes;
}

void
hal_space_use(struct hal_space *s)
{
	host_core_self()->space = s;
}

void
hal_tlb_flush(void)
{
}

/* Long runs are given back to Linux, which hands out zeroed pages at the next touch. */
#define PUNCH_BYTES (4 * HAL_PAGE_BYTES)
#define PUNCH_HOLE 3			/* FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE */

void
hal_zero_pages(void *kernel, size_t bytes)
{
	uintptr_t offset = (uintptr_t)kernel - host.memory;

	if (bytes < PUNCH_BYTES || host_call4(SYS_fallocate, host.memory_fd, PUNCH_HOLE, offset,
		bytes) != 0)
		memset(kernel, 0, bytes);
}
