/* SPDX-License-Identifier: MIT
 *
 * Address spaces: two levels of tables, read by the refill handlers (trap.S) and by the kernel
 * itself, which runs untranslated and finds user memory through them. Only the kernel core changes
 * a space. The TLBs know no address-space identifiers: a core that enters another space forgets all
 * translations.
 */
#include <abi/errors.h>
#include <abi/limits.abi.h>
#include <hal/each.h>
#include "cpu.h"

#define ENTRIES (HAL_PAGE_BYTES / sizeof(uint32_t))
#define ADDRESS (~(uint32_t)(HAL_PAGE_BYTES - 1))
#define DESTROY_TABLES 8	/* given back in one step of the end of a space */

_Static_assert(ENTRIES << HAL_PAGE_SHIFT == HAL_LARGE_BYTES,
	"a table reaches as far as a large page");
_Static_assert((USER_LIMIT - USER_FIRST) / HAL_LARGE_BYTES == HAL_SPACE_TABLES, "page.h");

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

/*
 * Translations are looked up when a thread is entered; what the kernel copies goes through the
 * tables.
 */
void
hal_space_use(struct hal_space *s)
{
	struct hal_core_area *a = hal_core_area();

	a->space = s;
	if (a->cached != s)
		a->cached = NULL;
}

int
hal_space_init(struct hal_space *s, const struct hal_page_source *src)
{
	s->first = USER_FIRST;
	s->limit = USER_LIMIT;
	s->take = src->take;
	s->give = src->give;
	s->ctx = src->ctx;
	for (unsigned i = 0; i < HAL_SPACE_TABLES; i++)
		s->table[i] = 0;
	return 0;
}

static bool
is_table(uint32_t entry)
{
	return entry != 0 && (entry & PTE_VALID) == 0;
}

static uint32_t *
table_of(uint32_t entry)
{
	return (uint32_t *)entry;
}

static void
table_give(struct hal_space *s, uint32_t *entry)
{
	if (is_table(*entry))
		s->give(s->ctx, table_of(*entry));
	*entry = 0;
}

bool
hal_space_destroy(struct hal_space *s)
{
	struct hal_core_area *a = hal_core_area();
	unsigned given = 0;

	if (a->space == s || a->cached == s)
		hal_space_use(NULL);
	for (unsigned i = 0; i < HAL_SPACE_TABLES; i++) {
		if (is_table(s->table[i]) && given++ == DESTROY_TABLES)
			return false;
		table_give(s, &s->table[i]);
	}
	return true;
}

static uint32_t *
first_level(const struct hal_space *s, uintptr_t addr)
{
	return (uint32_t *)&s->table[(addr - USER_FIRST) >> HAL_LARGE_SHIFT];
}

static unsigned
second_index(uintptr_t addr)
{
	return addr >> HAL_PAGE_SHIFT & (ENTRIES - 1);
}

/* The entry that maps `addr`, large or not, or NULL. */
static uint32_t *
space_find(const struct hal_space *s, uintptr_t addr, bool *large)
{
	uint32_t *entry;

	if (addr < USER_FIRST || addr >= USER_LIMIT)
		return NULL;
	entry = first_level(s, addr);
	hal_table_refresh(entry);
	*large = !is_table(*entry);
	if (!*large) {
		entry = &table_of(*entry)[second_index(addr)];
		hal_table_refresh(entry);
	}
	return (*entry & PTE_VALID) != 0 ? entry : NULL;
}

void *
hal_space_reach(const struct hal_space *s, uintptr_t addr, bool write, size_t *left)
{
	uintptr_t into;
	bool large;
	const uint32_t *entry = s != NULL ? space_find(s, addr, &large) : NULL;

	if (entry == NULL || (write && (*entry & PTE_WRITE) == 0))
		return NULL;
	into = addr & (large ? HAL_LARGE_BYTES - 1 : HAL_PAGE_BYTES - 1);
	*left = HAL_PAGE_BYTES - (addr & (HAL_PAGE_BYTES - 1));
	return (char *)(*entry & ADDRESS) + into;
}

static uint32_t
prot_flags(int prot)
{
	uint32_t flags = PTE_VALID;

	if (prot & PAGE_READ)
		flags |= PTE_READ;
	if (prot & PAGE_WRITE)
		flags |= PTE_WRITE;
	if (prot & PAGE_EXEC)
		flags |= PTE_EXEC;
#ifdef HAL_CACHES
	if ((prot & PAGE_WRITE) || !(prot & PAGE_EXEC))
		/* only code stays as it is until its users' caches are forgotten */
		flags |= PTE_UNCACHED;
#endif
	return flags;
}

static uint32_t
most_flags(int prot)
{
	uint32_t flags = 0;

	if (prot & (PAGE_WRITE | HAL_MAY(PAGE_WRITE)))
		flags |= PTE_MAY_WRITE;
	if (prot & (PAGE_EXEC | HAL_MAY(PAGE_EXEC)))
		flags |= PTE_MAY_EXEC;
	return flags;
}

/*
 * Does nothing lie in the way of a page at `addr`? No table is empty: hal_unmap gives those back.
 */
static bool
is_free(const struct hal_space *s, uintptr_t addr, bool large)
{
	uint32_t entry = *first_level(s, addr);

	if (large || !is_table(entry))
		return entry == 0;
	return table_of(entry)[second_index(addr)] == 0;
}

static int
map_check(const struct hal_space *s, uintptr_t addr, uint64_t paddr, size_t count, bool large)
{
	unsigned shift = large ? HAL_LARGE_SHIFT : HAL_PAGE_SHIFT;
	uintptr_t size = (uintptr_t)1 << shift;

	if (((addr | paddr) & (size - 1)) != 0 || addr < USER_FIRST || addr >= USER_LIMIT ||
		count > (USER_LIMIT - addr) >> shift)
		return -E_INVAL;
	for (size_t i = 0; i < count; i++)
		if (!is_free(s, addr + (i << shift), large))
			return -E_EXIST;
	return 0;
}

/*
 * Take all tables that small pages in [addr, end) need, each naming the next in its first word, or
 * none.
 */
static int
tables_take(struct hal_space *s, uintptr_t addr, uintptr_t end, uint32_t **spare)
{
	*spare = NULL;
	for (uintptr_t a = addr; a < end; a = (a | (HAL_LARGE_BYTES - 1)) + 1) {
		uint32_t *page, *next = *spare;

		if (*first_level(s, a) != 0)
			continue;
		page = s->take(s->ctx);
		if (page != NULL) {
			*page = (uint32_t)next;
			*spare = page;
			continue;
		}
		for (page = next; page != NULL; page = next) {
			next = (uint32_t *)*page;
			s->give(s->ctx, page);
		}
		return -E_NOMEM;
	}
	return 0;
}

/* The table for small pages behind a first-level entry, which may be the next of `spare`. */
static uint32_t *
table_reach(uint32_t *entry, uint32_t **spare)
{
	uint32_t *page = *spare;

	if (*entry != 0)
		return table_of(*entry);
	*spare = (uint32_t *)*page;
	*page = 0;
	hal_table_publish(page, sizeof(*page));
	*entry = (uint32_t)page;
	hal_table_publish(entry, sizeof(*entry));
	return page;
}

/*
 * New code: instruction caches that may hold what was there before learn of it at the next entry of
 * a thread.
 */
static void
note_code(int prot)
{
	if (prot & PAGE_EXEC)
		hal_add32(&hal_machine.code_epoch, 1);
}

int
hal_map(struct hal_space *s, uintptr_t addr, uint64_t paddr, size_t count, int prot)
{
	bool large = (prot & PAGE_LARGE) != 0;
	unsigned shift = large ? HAL_LARGE_SHIFT : HAL_PAGE_SHIFT;
	uint32_t value = (uint32_t)paddr | prot_flags(prot) | most_flags(prot);
	int error = map_check(s, addr, paddr, count, large);
	uint32_t *spare = NULL;

	if (error == 0 && !large)
		error = tables_take(s, addr, addr + (count << shift), &spare);
	if (error != 0)
		return error;
	for (size_t i = 0; i < count; i++, addr += (uintptr_t)1 << shift,
		value += (uint32_t)1 << shift) {
		uint32_t *entry = first_level(s, addr);

		if (!large)
			entry = &table_reach(entry, &spare)[second_index(addr)];
		*entry = value;
		hal_table_publish(entry, sizeof(*entry));
	}
	note_code(prot);
	return 0;
}

/* Is every page from `addr` to `end` mapped, the last not beyond it, the first not before? */
static bool
range_is_mapped(const struct hal_space *s, uintptr_t addr, uintptr_t end)
{
	bool large;

	while (addr < end) {
		uintptr_t size;

		if (space_find(s, addr, &large) == NULL)
			return false;
		size = large ? HAL_LARGE_BYTES : HAL_PAGE_BYTES;
		if ((addr & (size - 1)) != 0 || end - addr < size)
			return false;
		addr += size;
	}
	return true;
}

static bool
range_is_sane(const struct hal_space *s, uintptr_t addr, size_t count)
{
	if (addr < USER_FIRST || addr >= USER_LIMIT ||
		count > (USER_LIMIT - addr) >> HAL_PAGE_SHIFT)
		return false;
	return range_is_mapped(s, addr, addr + (count << HAL_PAGE_SHIFT));
}

/*
 * Is nothing in the table? What lies behind entry `near` is looked at first: it says no most often.
 */
static bool
table_is_empty(const uint32_t *table, unsigned near)
{
	for (unsigned i = 1; i <= ENTRIES; i++)
		if (table[(near + i) & (ENTRIES - 1)] != 0)
			return false;
	return true;
}

/* Give the table for `addr` back if nothing is left in it. */
static void
drop_table(struct hal_space *s, uintptr_t addr)
{
	uint32_t *entry = first_level(s, addr);

	if (!is_table(*entry) || !table_is_empty(table_of(*entry), second_index(addr)))
		return;
	table_give(s, entry);
	hal_table_publish(entry, sizeof(*entry));
}

int
hal_unmap_ready(struct hal_space *s, uintptr_t addr, size_t count)
{
	(void)s;
	(void)addr;
	(void)count;
	return 0;
}

int
hal_unmap(struct hal_space *s, uintptr_t addr, size_t count)
{
	uintptr_t end = addr + (count << HAL_PAGE_SHIFT);
	bool large;

	if (!range_is_sane(s, addr, count))
		return -E_INVAL;
	while (addr < end) {
		uint32_t *entry = space_find(s, addr, &large);
		uintptr_t at = addr;

		*entry = 0;
		hal_table_publish(entry, sizeof(*entry));
		addr += large ? HAL_LARGE_BYTES : HAL_PAGE_BYTES;
		if (addr == end || (addr & (HAL_LARGE_BYTES - 1)) == 0)
			drop_table(s, at);
	}
	return 0;
}

int
hal_protect(struct hal_space *s, uintptr_t addr, size_t count, int prot)
{
	uintptr_t end = addr + (count << HAL_PAGE_SHIFT);
	uint32_t most = most_flags(prot), flags = prot_flags(prot);
	bool large;

	if (!range_is_sane(s, addr, count))
		return -E_INVAL;
	for (uintptr_t a = addr; a < end; a += large ? HAL_LARGE_BYTES : HAL_PAGE_BYTES)
		if ((most & ~*space_find(s, a, &large)) != 0)
			return -E_ACCES;
	for (; addr < end; addr += large ? HAL_LARGE_BYTES : HAL_PAGE_BYTES) {
		uint32_t *entry = space_find(s, addr, &large);

		*entry = (*entry & (ADDRESS | PTE_MAY_WRITE | PTE_MAY_EXEC)) | flags;
		hal_table_publish(entry, sizeof(*entry));
	}
	note_code(prot);
	return 0;
}

int
hal_remap(struct hal_space *s, uintptr_t addr, uint64_t was, uint64_t paddr, int prot)
{
	bool large;
	uint32_t *entry = space_find(s, addr, &large);

	if (entry == NULL || large || (*entry & PTE_WRITE) != 0 || (*entry & ADDRESS) != was)
		return -E_EXIST;
	*entry = (uint32_t)paddr | prot_flags(prot) | (*entry & (PTE_MAY_WRITE | PTE_MAY_EXEC));
	hal_table_publish(entry, sizeof(*entry));
	note_code(prot);
	return 0;
}

int
hal_split(struct hal_space *s, uintptr_t addr)
{
	(void)s;
	(void)addr;
	return -E_INVAL;
}

int
hal_join(struct hal_space *s, uintptr_t addr)
{
	(void)s;
	(void)addr;
	return -E_INVAL;
}

int
hal_query(struct hal_space *s, uintptr_t addr, uint64_t *paddr, int *prot)
{
	bool large;
	const uint32_t *entry = space_find(s, addr, &large);

	if (entry == NULL)
		return -E_INVAL;
	*paddr = *entry & ADDRESS;
	*prot = ((*entry & PTE_READ) != 0 ? PAGE_READ : 0) |
		((*entry & PTE_WRITE) != 0 ? PAGE_WRITE : 0) |
		((*entry & PTE_EXEC) != 0 ? PAGE_EXEC : 0);
	*prot |= HAL_MAY(PAGE_READ) | ((*entry & PTE_MAY_WRITE) != 0 ? HAL_MAY(PAGE_WRITE) : 0) |
		((*entry & PTE_MAY_EXEC) != 0 ? HAL_MAY(PAGE_EXEC) : 0);
	if (large)
		*prot |= PAGE_LARGE;
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
	bool large;
	unsigned n = 0;

	if (*first_level(s, addr) == 0)
		return HAL_LARGE_BYTES - addr % HAL_LARGE_BYTES;
	while (n < looks && addr + n * HAL_PAGE_BYTES < USER_LIMIT &&
		space_find(s, addr + n * HAL_PAGE_BYTES, &large) == NULL)
		n++;
	return n * HAL_PAGE_BYTES;
}

void
hal_tlb_flush(void)
{
	for (uint32_t i = 0, last = spr_read(SHADOW_DSETS); i <= last; i++)
		spr_write_at(SPR_DTLBMR, i, 0);
	for (uint32_t i = 0, last = spr_read(SHADOW_ISETS); i <= last; i++)
		spr_write_at(SPR_ITLBMR, i, 0);
	hal_cache_forget();		/* pages that become something else */
}

void
hal_icache_flush(void)
{
	uint32_t config = spr_read(SPR_ICCFGR);
	uint32_t line = (config & 128) != 0 ? 32 : 16;

	if ((spr_read(SPR_UPR) & UPR_ICACHE) == 0)
		return;
	for (uint32_t sets = 1u << (config >> 3 & 15), at = 0; sets > 0; sets--, at += line)
		spr_write(SPR_ICBIR, at);
	hal_cache_forget();
}

void
hal_zero_pages(void *kernel, size_t bytes)
{
	volatile uint32_t *p = kernel;

	for (const volatile uint32_t *end = p + bytes / sizeof(*p); p < end; p += 8) {
		p[0] = p[1] = p[2] = p[3] = 0;
		p[4] = p[5] = p[6] = p[7] = 0;
	}
	hal_table_publish(kernel, bytes);	/* it may become a table */
}
