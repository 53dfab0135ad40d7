/* SPDX-License-Identifier: MIT
 *
 * Address spaces: Sv39. Only the kernel core changes a space. The upper half of every top table is
 * the kernel's and never changes, so a core in the kernel may keep any living space loaded. No
 * space has an identifier (ASID): a core that changes its space forgets all translations.
 */
#include <abi/errors.h>
#include <abi/limits.abi.h>
#include <base/str.h>
#include <hal/mmu.h>
#include "cpu.h"

uint64_t
hal_paddr(const void *kernel)
{
	uint64_t vaddr = (uint64_t)kernel;

	return vaddr >= PHYS_BASE ? vaddr - PHYS_BASE : vaddr - KERNEL_BASE + hal_machine.mem_base;
}

void *
hal_kaddr(uint64_t paddr)
{
	uint64_t offset = paddr - hal_machine.mem_base;

	return (void *)(offset < hal_machine.mem_bytes ? KERNEL_BASE + offset : PHYS_BASE + paddr);
}

void
hal_space_use(struct hal_space *s)
{
	struct hal_core_area *a = hal_core_area();
	uint64_t satp = s != NULL ? s->satp : hal_kernel_satp;

	if (a->satp == satp)
		return;
	a->satp = satp;
	csr_write(satp, satp);
	hal_tlb_flush();
}

/* Tables lie in the cluster's memory. */
static uint64_t *
table_at(uint64_t entry)
{
	return (uint64_t *)(pte_paddr(entry) + hal_machine.seen);
}

#define NO_TABLE (~(uintptr_t)0)

int
hal_space_init(struct hal_space *s, const struct hal_page_source *src)
{
	const uint64_t *kernel = (const uint64_t *)((hal_kernel_satp << 12) + hal_machine.seen) +
		PTE_KERNEL_HALF;
	uint64_t *top;

	s->root = src->take(src->ctx);
	if (s->root == NULL)
		return -E_NOMEM;
	s->gone = s->gone_below = 0;
	s->tops = 0;
	s->rows = 0;
	s->near_number = NO_TABLE;
	s->first = USER_FIRST;
	s->limit = USER_LIMIT;
	s->take = src->take;
	s->give = src->give;
	s->ctx = src->ctx;
	s->satp = SATP_SV39 | hal_paddr(s->root) >> 12;
	top = s->root + PTE_KERNEL_HALF;
	for (uint32_t rows = hal_machine.rows; rows != 0; rows >>= 1, top += 8, kernel += 8)
		if ((rows & 1) != 0)
			memcpy(top, kernel, 8 * sizeof(*top));
	return 0;
}

#define DESTROY_LOOKS 48		/* entries looked at in one step of the end of a space */
#define TABLE_LOOKS 16			/* what giving a table back costs, in these */

/* Are the eight entries of a row from here on empty? */
static bool
row_is_empty(const uint64_t *p)
{
	return ((p[0] | p[1] | p[2] | p[3] | p[4] | p[5] | p[6] | p[7]) & PTE_V) == 0;
}

/* A table is about to be linked for `addr`. */
static void
table_note(struct hal_space *s, uintptr_t addr)
{
	unsigned top = pte_index(addr, 2) + 1;

	s->tops = top > s->tops ? top : s->tops;
	s->rows |= 1ull << pte_index(addr, 1) / 8;
}

/* The first entry from `i` on of the table of `level` that may name one; their number: none. */
static unsigned
entry_named(const struct hal_space *s, unsigned level, unsigned i)
{
	if (level == 2)
		return i < s->tops ? i : PTE_ENTRIES;
	while (i < PTE_ENTRIES && (s->rows >> i / 8 & 1) == 0)
		i = (i | 7) + ((s->rows >> i / 8 & 0xff) == 0 ? 8 * 8 - 7 : 1);
	return i;
}

/*
 * Give back a table of `level` with those below its first `entries` entries. What was given back
 * has left its entry 0, so that the next step goes on behind it. False: *looks were not enough.
 */
static bool
table_give(struct hal_space *s, uint64_t *table, unsigned level, unsigned *looks)
{
	for (unsigned i = level == 2 ? s->gone : s->gone_below;
		level > 0 && (i = entry_named(s, level, i)) < PTE_ENTRIES; i++) {
		*(level == 2 ? &s->gone : &s->gone_below) = i;
		if (*looks == 0)
			return false;
		--*looks;
		if (i % 8 == 0 && row_is_empty(&table[i]))
			i += 7;
		if ((table[i] & (PTE_V | PTE_LEAF)) != PTE_V)
			continue;
		if (!table_give(s, table_at(table[i]), level - 1, looks))
			return false;
		table[i] = 0;
	}
	if (level == 1)
		s->gone_below = 0;
	s->give(s->ctx, table);
	*looks -= *looks < TABLE_LOOKS ? *looks : TABLE_LOOKS;
	return true;
}

bool
hal_space_destroy(struct hal_space *s)
{
	unsigned looks = DESTROY_LOOKS;

	if (hal_core_area()->satp == s->satp)
		hal_space_use(NULL);
	if (!table_give(s, s->root, 2, &looks))
		return false;
	s->root = NULL;
	return true;
}

/*
 * The leaf entry that maps `addr`, with its level, or NULL. Who looks for one page often looks for
 * the next: that is in the table that is near.
 */
static uint64_t *
space_find(struct hal_space *s, uintptr_t addr, unsigned *level)
{
	uint64_t *table = s->root;

	if (addr / HAL_LARGE_BYTES == s->near_number) {
		*level = 0;
		table = &s->near[pte_index(addr, 0)];
		return (*table & PTE_V) != 0 ? table : NULL;
	}
	if (addr < s->first || addr >= s->limit)
		return NULL;
	for (unsigned l = 2;; l--) {
		uint64_t *entry = &table[pte_index(addr, l)];

		if ((*entry & PTE_V) == 0)
			return NULL;
		*level = l;
		if ((*entry & PTE_LEAF) != 0)
			return entry;
		if (l == 0)
			return NULL;
		table = table_at(*entry);
		if (l == 1) {
			s->near = table;
			s->near_number = addr / HAL_LARGE_BYTES;
		}
	}
}

/*
 * The same for the page behind the one that `entry` of *level maps, which is mostly the next of its
 * table. NULL: the first.
 */
static uint64_t *
space_next(struct hal_space *s, uintptr_t addr, uint64_t *entry, unsigned *level)
{
	if (entry == NULL || *level > 0 || pte_index(addr, 0) == 0)
		return space_find(s, addr, level);
	return (entry[1] & PTE_V) != 0 ? entry + 1 : NULL;
}

/*
 * The entry of `level` for `addr`; a table that is missing on the way is the next of `spare`, if
 * there is such a list. NULL: no table, or a larger page is in the way.
 */
static uint64_t *
space_entry(struct hal_space *s, uintptr_t addr, unsigned level, uint64_t **spare)
{
	uint64_t *table = s->root;

	if (level == 0 && addr / HAL_LARGE_BYTES == s->near_number)
		return &s->near[pte_index(addr, 0)];
	for (unsigned l = 2; l > level; l--) {
		uint64_t *entry = &table[pte_index(addr, l)];

		if ((*entry & PTE_LEAF) != 0)
			return NULL;
		if ((*entry & PTE_V) == 0) {
			uint64_t *page = spare != NULL ? *spare : NULL;

			if (page == NULL)
				return NULL;
			*spare = (uint64_t *)*page;
			*page = 0;
			/* a core walks it as soon as it is linked */
			__asm__ volatile("fence w, w" : : : "memory");
			*entry = pte_make(hal_paddr(page), 0);
			table_note(s, addr);
		}
		table = table_at(*entry);
	}
	if (level == 0) {
		s->near = table;
		s->near_number = addr / HAL_LARGE_BYTES;
	}
	return &table[pte_index(addr, level)];
}

#define CHANGES (PAGE_WRITE | PAGE_EXEC)

_Static_assert(PTE_W == PAGE_WRITE << 1 && PTE_X == PAGE_EXEC << 1 && PTE_U == PAGE_READ << 4 &&
	PTE_MAY_WRITE == PAGE_WRITE << 7 && PTE_MAY_EXEC == PAGE_EXEC << 7 && HAL_MAY(1) == 1 << 5,
	"rights are bits in the same order everywhere");

/* A page of a user can be read: no other kind exists. Without that right it is the kernel's. */
static uint64_t
prot_flags(int prot)
{
	return PTE_AD | PTE_R | (uint64_t)((prot & PAGE_READ) << 4 | (prot & CHANGES) << 1);
}

static uint64_t
most_flags(int prot)
{
	return (uint64_t)(((prot | prot >> 5) & CHANGES) << 7);
}

/*
 * Is nothing mapped where `addr` with this level would go? No table is empty: hal_unmap gives those
 * back.
 */
static bool
entry_is_free(struct hal_space *s, uintptr_t addr, unsigned level)
{
	uint64_t *table = s->root;

	for (unsigned l = 2;; l--) {
		uint64_t entry = table[pte_index(addr, l)];

		if ((entry & PTE_V) == 0)
			return true;
		if ((entry & PTE_LEAF) != 0 || l == level)
			return false;
		table = table_at(entry);
	}
}

/* Entries of one table are looked at in a row; what a missing table would map is free. */
static bool
range_is_free(struct hal_space *s, uintptr_t addr, size_t count, unsigned level)
{
	unsigned shift = 12 + 9 * level, row;

	for (; count > 0; addr += (uintptr_t)row << shift, count -= row) {
		const uint64_t *entry = space_entry(s, addr, level, NULL);

		row = PTE_ENTRIES - pte_index(addr, level);
		row = row < count ? row : (unsigned)count;
		if (!entry_is_free(s, addr, level))
			return false;
		for (unsigned i = 1; entry != NULL && i < row; i++)
			if ((entry[i] & PTE_V) != 0)
				return false;
	}
	return true;
}

static int
map_check(struct hal_space *s, uintptr_t addr, uint64_t paddr, size_t count, unsigned level)
{
	uintptr_t size = (uintptr_t)1 << (12 + 9 * level);

	if (((addr | paddr) & (size - 1)) != 0 || addr < s->first || addr >= s->limit ||
		count > (s->limit - addr) / size)
		return -E_INVAL;
	return range_is_free(s, addr, count, level) ? 0 : -E_EXIST;
}

/* Tables that pages of `level` in [addr, end) need and that are not there. */
static size_t
tables_missing(struct hal_space *s, uintptr_t addr, uintptr_t end, unsigned level)
{
	size_t missing = 0;

	for (unsigned l = 2; l > level; l--) {
		uintptr_t reach = (uintptr_t)1 << (12 + 9 * l);

		for (uintptr_t a = addr; a < end; a = (a | (reach - 1)) + 1) {
			const uint64_t *entry = space_entry(s, a, l, NULL);

			missing += entry == NULL || (*entry & PTE_V) == 0;
		}
	}
	return missing;
}

/* Take that many tables, each naming the next in its first word, or none. */
static int
tables_take(struct hal_space *s, size_t count, uint64_t **spare)
{
	*spare = NULL;
	for (; count > 0; count--) {
		uint64_t *page = s->take(s->ctx), *next = *spare;

		if (page != NULL) {
			*page = (uint64_t)next;
			*spare = page;
			continue;
		}
		for (page = next; page != NULL; page = next) {
			next = (uint64_t *)*page;
			s->give(s->ctx, page);
		}
		return -E_NOMEM;
	}
	return 0;
}

/* One small page whose table is there: the usual case of a page that comes by itself. */
static bool
map_one(struct hal_space *s, uintptr_t addr, uint64_t paddr, int prot)
{
	uint64_t *entry;

	if (((addr | paddr) & (HAL_PAGE_BYTES - 1)) != 0 || addr < s->first || addr >= s->limit)
		return false;
	entry = space_entry(s, addr, 0, NULL);
	if (entry == NULL || (*entry & PTE_V) != 0)
		return false;
	*entry = pte_make(paddr, prot_flags(prot) | most_flags(prot));
	return true;
}

static __attribute__((noinline)) int
map_any(struct hal_space *s, uintptr_t addr, uint64_t paddr, size_t count, int prot)
{
	unsigned level = (prot & PAGE_LARGE) != 0;
	uintptr_t size = (uintptr_t)1 << (12 + 9 * level);
	int error = map_check(s, addr, paddr, count, level);
	uint64_t *spare, *entry = NULL;

	if (error == 0)
		error = tables_take(s, tables_missing(s, addr, addr + count * size, level), &spare);
	if (error != 0)
		return error;
	for (size_t i = 0; i < count; i++) {
		entry = entry != NULL && pte_index(addr + i * size, level) != 0 ? entry + 1 :
			space_entry(s, addr + i * size, level, &spare);
		*entry = pte_make(paddr + i * size, prot_flags(prot) | most_flags(prot));
	}
	return 0;
}

int
hal_map(struct hal_space *s, uintptr_t addr, uint64_t paddr, size_t count, int prot)
{
	if (count == 1 && (prot & PAGE_LARGE) == 0 && map_one(s, addr, paddr, prot))
		return 0;
	return map_any(s, addr, paddr, count, prot);
}

/* Is every page from `addr` to `end` mapped, the last not beyond it, the first not before? */
static bool
range_is_mapped(struct hal_space *s, uintptr_t addr, uintptr_t end)
{
	uint64_t *entry = NULL;
	unsigned level;

	while (addr < end) {
		uintptr_t size;

		entry = space_next(s, addr, entry, &level);
		if (entry == NULL)
			return false;
		size = (uintptr_t)1 << (12 + 9 * level);
		if ((addr & (size - 1)) != 0 || end - addr < size)
			return false;
		addr += size;
	}
	return true;
}

static bool
range_is_sane(struct hal_space *s, uintptr_t addr, size_t count)
{
	if (addr < s->first || addr >= s->limit || count > (s->limit - addr) / HAL_PAGE_BYTES)
		return false;
	return range_is_mapped(s, addr, addr + count * HAL_PAGE_BYTES);
}

/*
 * Is nothing in the table? What lies behind entry `near` is looked at first: it says no most often.
 */
static bool
table_is_empty(const uint64_t *table, unsigned near)
{
	bool is_empty = (table[(near + 1) % PTE_ENTRIES] & PTE_V) == 0;

	for (const uint64_t *p = table; is_empty && p < table + PTE_ENTRIES; p += 8)
		is_empty = row_is_empty(p);
	return is_empty;
}

/*
 * Give the table behind `addr` back if no page is left in it. The table above it stays for what is
 * mapped next: it has room for 1 GB, and a look at all of its entries would take as long again.
 */
static void
drop_table(struct hal_space *s, uintptr_t addr)
{
	uint64_t *entry = space_entry(s, addr, 1, NULL);
	void *table;

	if (entry == NULL || (*entry & (PTE_V | PTE_LEAF)) != PTE_V)
		return;
	table = table_at(*entry);
	if (!table_is_empty(table, pte_index(addr, 0)))
		return;
	*entry = 0;
	s->near_number = NO_TABLE;
	s->give(s->ctx, table);
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
	uintptr_t end = addr + count * HAL_PAGE_BYTES, reach = HAL_LARGE_BYTES - 1;
	uint64_t *entry = NULL;
	unsigned level;

	if (!range_is_sane(s, addr, count))
		return -E_INVAL;
	while (addr < end) {
		uintptr_t at = addr;

		entry = space_next(s, addr, entry, &level);
		*entry = 0;
		addr += (uintptr_t)1 << (12 + 9 * level);
		if (addr == end || (addr & reach) == 0)
			drop_table(s, at);
	}
	return 0;
}

static void
entry_protect(uint64_t *entry, uint64_t flags)
{
	*entry = (*entry & ~(uint64_t)(PTE_LEAF | PTE_U | PTE_AD)) | flags;
}

/* Small pages of one table: 0, -E_INVAL or -E_ACCES. */
static int
row_protect(uint64_t *entry, size_t count, int prot)
{
	uint64_t most = most_flags(prot), flags = prot_flags(prot), all = PTE_V | most;

	for (size_t i = 0; i < count; i++)
		all &= entry[i];
	if ((all & PTE_V) == 0)
		return -E_INVAL;
	if (all != (PTE_V | most))
		return -E_ACCES;
	for (size_t i = 0; i < count; i++)
		entry_protect(&entry[i], flags);
	return 0;
}

int
hal_protect(struct hal_space *s, uintptr_t addr, size_t count, int prot)
{
	uintptr_t end = addr + count * HAL_PAGE_BYTES;
	uint64_t most = most_flags(prot), *entry = space_find(s, addr, &(unsigned){0});
	unsigned level;

	if (addr / HAL_LARGE_BYTES == s->near_number && entry != NULL &&
		pte_index(addr, 0) + count <= PTE_ENTRIES)
		return row_protect(entry, count, prot);
	if (!range_is_sane(s, addr, count))
		return -E_INVAL;
	for (uintptr_t a = addr; a < end; a += (uintptr_t)1 << (12 + 9 * level)) {
		entry = space_next(s, a, a == addr ? NULL : entry, &level);
		if ((most & ~*entry) != 0)
			return -E_ACCES;
	}
	for (entry = NULL; addr < end; addr += (uintptr_t)1 << (12 + 9 * level)) {
		entry = space_next(s, addr, entry, &level);
		entry_protect(entry, prot_flags(prot));
	}
	return 0;
}

int
hal_remap(struct hal_space *s, uintptr_t addr, uint64_t was, uint64_t paddr, int prot)
{
	uint64_t *entry = space_entry(s, addr, 0, NULL);

	if (entry == NULL || (*entry & (PTE_V | PTE_W)) != PTE_V || pte_paddr(*entry) != was)
		return -E_EXIST;
	*entry = pte_make(paddr,
		prot_flags(prot) | (*entry & (PTE_MAY_WRITE | PTE_MAY_EXEC)));
	return 0;
}

#define PTE_NEXT (HAL_PAGE_BYTES >> 2)	/* from the entry of a page to that of the next */

int
hal_split(struct hal_space *s, uintptr_t addr)
{
	unsigned level = 0;
	uint64_t *entry = space_find(s, addr, &level), *table, leaf;

	if (entry == NULL || level != 1)
		return -E_INVAL;
	table = s->take(s->ctx);
	if (table == NULL)
		return -E_NOMEM;
	leaf = *entry;
	for (unsigned i = 0; i < PTE_ENTRIES; i++, leaf += PTE_NEXT)
		table[i] = leaf;
	__asm__ volatile("fence w, w" : : : "memory");
	*entry = pte_make(hal_paddr(table), 0);
	table_note(s, addr);
	return 0;
}

int
hal_join(struct hal_space *s, uintptr_t addr)
{
	unsigned level = 0;
	const uint64_t *first = space_find(s, addr, &level);
	uint64_t *entry = space_entry(s, addr, 1, NULL), leaf;

	if (first == NULL || level != 0 || ((addr | pte_paddr(*first)) &
		(HAL_LARGE_BYTES - 1)) != 0)
		return -E_INVAL;
	leaf = *first;
	for (unsigned i = 1; i < PTE_ENTRIES; i++)
		if (first[i] != leaf + i * PTE_NEXT)
			return -E_INVAL;
	*entry = leaf;
	s->near_number = NO_TABLE;
	s->give(s->ctx, (void *)first);
	return 0;
}

static int
entry_prot(uint64_t entry)
{
	int e = (int)entry;

	return (e >> 4 & PAGE_READ) | (e >> 1 & CHANGES) | HAL_MAY(PAGE_READ | (e >> 7 & CHANGES));
}

int
hal_query(struct hal_space *s, uintptr_t addr, uint64_t *paddr, int *prot)
{
	unsigned level;
	uint64_t *entry = space_find(s, addr, &level);

	if (entry == NULL)
		return -E_INVAL;
	*paddr = pte_paddr(*entry);
	*prot = entry_prot(*entry) | (level == 1 ? PAGE_LARGE : 0);
	return 0;
}

size_t
hal_query_run(struct hal_space *s, uintptr_t addr, size_t count, int alike, uint64_t *paddr,
	int *prot)
{
	uint64_t differs = (prot_flags(alike) & (PTE_W | PTE_X)) | PTE_V | PTE_U, seen = 0, first;
	size_t in_table = PTE_ENTRIES - pte_index(addr, 0);
	unsigned level;
	const uint64_t *entry = space_find(s, addr, &level), *end;
	uint64_t *to = paddr;

	if (entry == NULL || level > 0)
		return 0;
	if (alike != 0)
		differs |= PTE_MAY_WRITE | PTE_MAY_EXEC;
	end = entry + (count < in_table ? count : in_table);
	first = *entry;
	/* by four, of which those are looked at alone that are not all alike, and the last */
	for (; end - entry >= 4; entry += 4, to += 4) {
		uint64_t a = entry[0], b = entry[1], c = entry[2], d = entry[3],
			all = (a ^ first) | (b ^ first) | (c ^ first) | (d ^ first);

		if ((all & differs) != 0)
			break;
		seen |= all;
		to[0] = pte_paddr(a);
		to[1] = pte_paddr(b);
		to[2] = pte_paddr(c);
		to[3] = pte_paddr(d);
	}
	for (; entry < end && ((*entry ^ first) & differs) == 0; entry++) {
		seen |= *entry ^ first;
		*to++ = pte_paddr(*entry);
	}
	seen |= first;
	*prot = entry_prot(seen);
	return (size_t)(to - paddr);
}

int
hal_share(struct hal_space *s, uintptr_t addr, size_t count, struct hal_space *to, uintptr_t at)
{
	uint64_t *entry = space_entry(to, at, 0, NULL),
		*own = space_find(s, addr, &(unsigned){0});

	/* a page that is mapped has a table */
	if (entry == NULL && hal_map(to, at, pte_paddr(*own), 1, 0) == 0)
		entry = space_entry(to, at, 0, NULL);
	if (entry == NULL)
		return -E_NOMEM;
	if (count % 2 != 0)
		*entry++ = *own++ &= ~(uint64_t)PTE_W;
	for (const uint64_t *end = own + count / 2 * 2; own < end; own += 2, entry += 2) {
		entry[0] = own[0] &= ~(uint64_t)PTE_W;
		entry[1] = own[1] &= ~(uint64_t)PTE_W;
	}
	return 0;
}

size_t
hal_hole(const struct hal_space *s, uintptr_t addr, unsigned looks)
{
	const uint64_t *table = s->root;
	unsigned level = 2, first, i;
	size_t bytes;

	if (addr / HAL_LARGE_BYTES == s->near_number) {
		table = s->near;
		level = 0;
	}
	for (; level > 0 && (table[pte_index(addr, level)] & (PTE_V | PTE_LEAF)) == PTE_V; level--)
		table = table_at(table[pte_index(addr, level)]);
	i = first = pte_index(addr, level);
	if ((table[i] & PTE_V) != 0)
		return 0;
	/* up to the next row one by one, then a row for each look */
	do
		i += i % 8 == 0 && i != first && row_is_empty(&table[i]) ? 8 : 1;
	while (--looks > 0 && i < PTE_ENTRIES && (table[i] & PTE_V) == 0);
	bytes = HAL_PAGE_BYTES << 9 * level;
	return (i - first) * bytes - addr % bytes;
}

void
hal_tlb_flush(void)
{
	__asm__ volatile("sfence.vma\n\tfence.i" : : : "memory");
}

void
hal_zero_pages(void *kernel, size_t bytes)
{
	uint64_t *p = kernel;

	for (const uint64_t *end = p + bytes / sizeof(*p); p < end; p += 16) {
		p[0] = p[1] = p[2] = p[3] = p[4] = p[5] = p[6] = p[7] = 0;
		p[8] = p[9] = p[10] = p[11] = p[12] = p[13] = p[14] = p[15] = 0;
	}
}
