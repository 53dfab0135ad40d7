/* SPDX-License-Identifier: MIT
 *
 * Address spaces: two levels of tables, read by the refill handlers (trap.S) and by the kernel itself, which runs untranslated and finds
 * user memory through them. Only the kernel core changes a space. The TLBs know no address-space identifiers: a core that enters
 * another space forgets all translations.
 */
#include <abi/errors.h>
#include <abi/limits.abi.h>
#include "cpu.h"

#define ENTRIES (HAL_PAGE_BYTES / sizeof(uint32_t))
#define ADDRESS (~(uint32_t)(HAL_PAGE_BYTES - 1))

_Static_assert(ENTRIES << HAL_PAGE_SHIFT == HAL_LARGE_BYTES, "a table reaches as far as a large page");
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

/* Translations are looked up when a thread is entered; what the kernel copies goes through the tables. */
void
hal_space_use(struct hal_space *s)
{
	struct hal_core_area *a = hal_core_area();

	a->space = s;
	if (s == NULL)
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

void
hal_space_destroy(struct hal_space *s)
{
	struct hal_core_area *a = hal_core_area();

	if (a->space == s || a->cached == s)
		hal_space_use(NULL);
	for (unsigned i = 0; i < HAL_SPACE_TABLES; i++)
		table_give(s, &s->table[i]);
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
	uint32_t flags = PTE_VALID | PTE_READ;		/* every mapped page can be read: no other kind of store exists */

	if (prot & PAGE_WRITE)
		flags |= PTE_WRITE;
	if (prot & PAGE_EXEC)
		flags |= PTE_EXEC;
#ifdef HAL_CACHES
	if ((prot & PAGE_WRITE) || !(prot & PAGE_EXEC))
		flags |= PTE_UNCACHED;		/* only code stays as it is until its users' caches are forgotten */
#endif
	return flags;
}

static bool
table_is_empty(uint32_t entry)
{
	if (!is_table(entry))
		return entry == 0;
	for (unsigned i = 0; i < ENTRIES; i++)
		if (table_of(entry)[i] != 0)
			return false;
	return true;
}

/* What lies in the way of a page at `addr`? An empty table is no obstacle to a large page. */
static bool
is_free(const struct hal_space *s, uintptr_t addr, bool large)
{
	uint32_t entry = *first_level(s, addr);

	if (large || !is_table(entry))
		return table_is_empty(entry);
	return table_of(entry)[second_index(addr)] == 0;
}

static int
map_check(const struct hal_space *s, uintptr_t addr, uint64_t paddr, size_t count, bool large)
{
	unsigned shift = large ? HAL_LARGE_SHIFT : HAL_PAGE_SHIFT;
	uintptr_t size = (uintptr_t)1 << shift;

	if (((addr | paddr) & (size - 1)) != 0 || addr < USER_FIRST || addr >= USER_LIMIT || count > (USER_LIMIT - addr) >> shift)
		return -E_INVAL;
	for (size_t i = 0; i < count; i++)
		if (!is_free(s, addr + (i << shift), large))
			return -E_EXIST;
	return 0;
}

/* Make all tables that small pages in [addr, end) need, or none. */
static int
make_tables(struct hal_space *s, uintptr_t addr, uintptr_t end)
{
	for (uintptr_t a = addr; a < end; a = (a | (HAL_LARGE_BYTES - 1)) + 1) {
		uint32_t *entry = first_level(s, a);

		if (*entry != 0)
			continue;
		*entry = (uint32_t)s->take(s->ctx);
		hal_table_publish(entry, sizeof(*entry));
		if (*entry != 0)
			continue;
		for (uintptr_t b = addr; b < a; b = (b | (HAL_LARGE_BYTES - 1)) + 1)
			if (table_is_empty(*first_level(s, b)))
				table_give(s, first_level(s, b));
		return -E_NOMEM;
	}
	return 0;
}

/* New code: instruction caches that may hold what was there before learn of it at the next entry of a thread. */
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
	uint32_t value = (uint32_t)paddr | prot_flags(prot);
	int error = map_check(s, addr, paddr, count, large);

	if (error == 0 && !large)
		error = make_tables(s, addr, addr + (count << shift));
	if (error != 0)
		return error;
	for (size_t i = 0; i < count; i++, addr += (uintptr_t)1 << shift, value += (uint32_t)1 << shift) {
		uint32_t *entry = first_level(s, addr);

		if (large)
			table_give(s, entry);
		else
			entry = &table_of(*entry)[second_index(addr)];
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

/* Give each page of the range a new entry: none, or the old address with new flags. */
static int
range_change(struct hal_space *s, uintptr_t addr, size_t count, uint32_t flags)
{
	uintptr_t end = addr + (count << HAL_PAGE_SHIFT);
	bool large;

	if (addr < USER_FIRST || addr >= USER_LIMIT || count > (USER_LIMIT - addr) >> HAL_PAGE_SHIFT || !range_is_mapped(s, addr, end))
		return -E_INVAL;
	while (addr < end) {
		uint32_t *entry = space_find(s, addr, &large);

		*entry = flags == 0 ? 0 : (*entry & ADDRESS) | flags;
		hal_table_publish(entry, sizeof(*entry));
		addr += large ? HAL_LARGE_BYTES : HAL_PAGE_BYTES;
	}
	return 0;
}

int
hal_unmap(struct hal_space *s, uintptr_t addr, size_t count)
{
	return range_change(s, addr, count, 0);
}

int
hal_protect(struct hal_space *s, uintptr_t addr, size_t count, int prot)
{
	int error = range_change(s, addr, count, prot_flags(prot));

	if (error == 0)
		note_code(prot);
	return error;
}

int
hal_query(struct hal_space *s, uintptr_t addr, uint64_t *paddr, int *prot)
{
	bool large;
	const uint32_t *entry = space_find(s, addr, &large);

	if (entry == NULL)
		return -E_INVAL;
	*paddr = *entry & ADDRESS;
	*prot = PAGE_READ | ((*entry & PTE_WRITE) != 0 ? PAGE_WRITE : 0) | ((*entry & PTE_EXEC) != 0 ? PAGE_EXEC : 0);
	if (large)
		*prot |= PAGE_LARGE;
	return 0;
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
