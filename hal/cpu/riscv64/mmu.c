/* SPDX-License-Identifier: MIT
 *
 * Address spaces: Sv39. Only the kernel core changes a space. The upper half of every top table is the kernel's and never changes,
 * so a core in the kernel may keep any living table loaded.
 *
 * A core that idles keeps the space of its last thread. When that space is destroyed, its top table therefore stays until the
 * core has left it: hal_space_destroy asks the core to (leave_satp and a doorbell) and puts the table on the list of
 * leavers, which the kernel core looks through whenever it makes or destroys a space, or waits.
 */
#include <abi/errors.h>
#include <abi/limits.abi.h>
#include <hal/board.h>
#include <base/check.h>
#include "cpu.h"

/* Top tables whose space is gone but which a core still has loaded. A table on the list links through its first entry. */
struct leaver {
	struct leaver *next;		/* as an entry of a page table: bit 0 is clear, so not valid */
	const struct hal_page_source *source;
};

static struct leaver *leavers;

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

static void
space_load(struct hal_core_area *a, uint64_t satp)
{
	a->satp = satp;
	csr_write(satp, satp);
	__asm__ volatile("sfence.vma\n\tfence.i" : : : "memory");
}

void
hal_space_use(struct hal_space *s)
{
	struct hal_core_area *a = hal_core_area();

	if (a->satp != s->satp)
		space_load(a, s->satp);
}

void
hal_space_leave(struct hal_core_area *a)
{
	uint64_t satp = __atomic_exchange_n(&a->leave_satp, 0, __ATOMIC_ACQ_REL);

	if (satp == 0 || a->satp != satp)
		return;
	__asm__ volatile("csrw satp, %0\n\tsfence.vma" : : "r"(hal_kernel_satp) : "memory");
	__atomic_store_n(&a->satp, hal_kernel_satp, __ATOMIC_RELEASE);
	if (a->core != 0)
		hal_notify(a->cluster, 0);
}

/* Does a core of this cluster have the table loaded? Then ask it to leave. */
static bool
space_is_loaded(uint64_t satp)
{
	bool loaded = false;

	for (uint32_t i = 0; i < hal_machine.cores; i++) {
		struct hal_core_area *a = hal_area_of(i);

		if (__atomic_load_n(&a->satp, __ATOMIC_ACQUIRE) != satp)
			continue;
		if (a == hal_core_area()) {
			space_load(a, hal_kernel_satp);
			continue;
		}
		loaded = true;
		if (a->leave_satp != satp) {
			__atomic_store_n(&a->leave_satp, satp, __ATOMIC_RELEASE);
			hal_board_ring(a->machine_core);
		}
	}
	return loaded;
}

/* Give back the tables that every core has left by now. */
void
hal_space_reap(void)
{
	struct leaver **link = &leavers;

	while (*link != NULL) {
		struct leaver *l = *link;
		const struct hal_page_source *source = l->source;

		if (space_is_loaded(SATP_SV39 | hal_paddr(l) >> 12)) {
			link = &l->next;
			continue;
		}
		*link = l->next;
		source->give(source->ctx, l);
	}
}

int
hal_space_init(struct hal_space *s, const struct hal_page_source *src)
{
	const uint64_t *kernel = hal_kaddr(hal_kernel_satp << 12);

	hal_space_reap();
	s->root = src->take(src->ctx);
	if (s->root == NULL)
		return -E_NOMEM;
	s->first = USER_FIRST;
	s->limit = USER_LIMIT;
	s->source = src;
	s->satp = SATP_SV39 | hal_paddr(s->root) >> 12;
	for (unsigned i = PTE_KERNEL_HALF; i < PTE_ENTRIES; i++)
		s->root[i] = kernel[i];
	return 0;
}

static void
table_give(const struct hal_page_source *src, uint64_t *table, unsigned level, unsigned entries)
{
	for (unsigned i = 0; i < entries && level > 0; i++)
		if ((table[i] & (PTE_V | PTE_LEAF)) == PTE_V)
			table_give(src, hal_kaddr(pte_paddr(table[i])), level - 1, PTE_ENTRIES);
	if (entries == PTE_ENTRIES)
		src->give(src->ctx, table);
}

void
hal_space_destroy(struct hal_space *s)
{
	struct leaver *l = (struct leaver *)s->root;

	table_give(s->source, s->root, 2, PTE_KERNEL_HALF);
	for (unsigned i = 0; i < PTE_KERNEL_HALF; i++)
		s->root[i] = 0;
	l->source = s->source;
	l->next = leavers;
	leavers = l;
	s->root = NULL;
	hal_space_reap();
}

/* The leaf entry that maps `addr`, with its level, or NULL. */
static uint64_t *
space_find(struct hal_space *s, uintptr_t addr, unsigned *level)
{
	uint64_t *table = s->root;

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
		table = hal_kaddr(pte_paddr(*entry));
	}
}

/* The entry of `level` for `addr`; tables on the way are made if `make`. NULL: no table, or a larger page is in the way. */
static uint64_t *
space_entry(struct hal_space *s, uintptr_t addr, unsigned level, bool make)
{
	uint64_t *table = s->root;

	for (unsigned l = 2; l > level; l--) {
		uint64_t *entry = &table[pte_index(addr, l)];

		if ((*entry & PTE_LEAF) != 0)
			return NULL;
		if ((*entry & PTE_V) == 0) {
			void *page = make ? s->source->take(s->source->ctx) : NULL;

			if (page == NULL)
				return NULL;
			*entry = pte_make(hal_paddr(page), 0);
		}
		table = hal_kaddr(pte_paddr(*entry));
	}
	return &table[pte_index(addr, level)];
}

static uint64_t
prot_flags(int prot)
{
	uint64_t flags = PTE_U | PTE_AD | PTE_R;	/* every mapped page can be read: no other kind of store exists */

	if (prot & PAGE_WRITE)
		flags |= PTE_W;
	if (prot & PAGE_EXEC)
		flags |= PTE_X;
	return flags;
}

/* Is nothing mapped where `addr` with this level would go? An empty table below a large page's place does not count. */
static bool
entry_is_free(struct hal_space *s, uintptr_t addr, unsigned level)
{
	uint64_t *table = s->root;

	for (unsigned l = 2;; l--) {
		uint64_t entry = table[pte_index(addr, l)];

		if ((entry & PTE_V) == 0)
			return true;
		if ((entry & PTE_LEAF) != 0 || l == 0)
			return false;
		table = hal_kaddr(pte_paddr(entry));
		if (l > level)
			continue;
		for (unsigned i = 0; i < PTE_ENTRIES; i++)
			if ((table[i] & PTE_V) != 0)
				return false;
		return true;
	}
}

static int
map_check(struct hal_space *s, uintptr_t addr, uint64_t paddr, size_t count, unsigned level)
{
	uintptr_t size = (uintptr_t)1 << (12 + 9 * level);

	if (((addr | paddr) & (size - 1)) != 0 || addr < s->first || addr >= s->limit || count > (s->limit - addr) / size)
		return -E_INVAL;
	for (size_t i = 0; i < count; i++)
		if (!entry_is_free(s, addr + i * size, level))
			return -E_EXIST;
	return 0;
}

/* An empty table where a large page goes: give it back. */
static void
drop_empty_table(struct hal_space *s, uint64_t *entry, unsigned level)
{
	if (level == 0 || (*entry & PTE_V) == 0)
		return;
	s->source->give(s->source->ctx, hal_kaddr(pte_paddr(*entry)));
	*entry = 0;
}

int
hal_map(struct hal_space *s, uintptr_t addr, uint64_t paddr, size_t count, int prot)
{
	unsigned level = (prot & PAGE_LARGE) != 0;
	uintptr_t size = (uintptr_t)1 << (12 + 9 * level);
	int error = map_check(s, addr, paddr, count, level);

	if (error != 0)
		return error;
	for (size_t i = 0; i < count; i++) {
		uint64_t *entry = space_entry(s, addr + i * size, level, true);

		if (entry == NULL) {
			while (i-- > 0)
				*space_entry(s, addr + i * size, level, false) = 0;
			return -E_NOMEM;
		}
		drop_empty_table(s, entry, level);
		*entry = pte_make(paddr + i * size, prot_flags(prot));
	}
	return 0;
}

/* Are `count` pages mapped one after the other from `addr` on, the first aligned to its size? */
static bool
range_is_mapped(struct hal_space *s, uintptr_t addr, size_t count)
{
	unsigned level;

	for (size_t i = 0; i < count; i++) {
		if (space_find(s, addr, &level) == NULL || (addr & (((uintptr_t)1 << (12 + 9 * level)) - 1)) != 0)
			return false;
		addr += (uintptr_t)1 << (12 + 9 * level);
	}
	return true;
}

/* Give each page of the range a new entry: 0, or the old address with new flags. */
static int
range_change(struct hal_space *s, uintptr_t addr, size_t count, uint64_t flags)
{
	unsigned level;

	if (!range_is_mapped(s, addr, count))
		return -E_INVAL;
	for (size_t i = 0; i < count; i++) {
		uint64_t *entry = space_find(s, addr, &level);

		*entry = flags == 0 ? 0 : pte_make(pte_paddr(*entry), flags);
		addr += (uintptr_t)1 << (12 + 9 * level);
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
	return range_change(s, addr, count, prot_flags(prot));
}

int
hal_query(struct hal_space *s, uintptr_t addr, uint64_t *paddr, int *prot)
{
	unsigned level;
	uint64_t *entry = space_find(s, addr, &level);

	if (entry == NULL)
		return -E_INVAL;
	*paddr = pte_paddr(*entry);
	*prot = PAGE_READ | ((*entry & PTE_W) != 0 ? PAGE_WRITE : 0) | ((*entry & PTE_X) != 0 ? PAGE_EXEC : 0);
	if (level == 1)
		*prot |= PAGE_LARGE;
	return 0;
}

void
hal_tlb_flush(void)
{
	__asm__ volatile("sfence.vma\n\tfence.i" : : : "memory");
}
