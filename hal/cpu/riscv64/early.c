/* SPDX-License-Identifier: MIT
 *
 * Core 0 with translation still off: the kernel's page tables and the areas of all cores. Every
 * address here is physical, code and data are reached relative to the pc; so no tables of pointers
 * and no switch statements in this file.
 *
 * Kernel text is executable and read-only, constants are read-only, everything else is not
 * executable. Of the rest of the machine only the large pages are mapped in which something lies
 * that the boot record or the board names. What else lies in them the fence of the machine start
 * (hal/board) keeps from the cluster.
 */
#include <hal/board.h>
#include <hal/console.h>
#include <hal/noc.h>
#include "cpu.h"

#define GIGA ((uint64_t)1 << 30)
#define KERNEL_RO (PTE_AD | PTE_R)
#define KERNEL_RW (PTE_AD | PTE_R | PTE_W)
#define KERNEL_RX (PTE_AD | PTE_R | PTE_X)

extern char image_start[], image_rodata[], image_data[], image_stacks[], image_end[];

static uint64_t *
early_table(void)
{
	uint64_t *table = (uint64_t *)hal_machine.free;

	hal_machine.free += HAL_PAGE_BYTES;
	for (unsigned i = 0; i < PTE_ENTRIES; i++)
		table[i] = 0;
	return table;
}

/* Largest level whose page fits at both addresses and into the rest. */
static unsigned
early_level(uint64_t vaddr, uint64_t paddr, uint64_t bytes)
{
	uint64_t ends = vaddr | paddr;

	if ((ends & (GIGA - 1)) == 0 && bytes >= GIGA)
		return 2;
	return (ends & (HAL_LARGE_BYTES - 1)) == 0 && bytes >= HAL_LARGE_BYTES;
}

static void
early_map(uint64_t *root, uint64_t vaddr, uint64_t paddr, uint64_t bytes, uint64_t flags)
{
	while (bytes > 0) {
		unsigned level = early_level(vaddr, paddr, bytes);
		uint64_t size = (uint64_t)1 << (12 + 9 * level);
		uint64_t *table = root;

		for (unsigned l = 2; l > level; l--) {
			uint64_t *entry = &table[pte_index(vaddr, l)];

			if (*entry == 0)
				*entry = pte_make((uint64_t)early_table(), 0);
			table = (uint64_t *)pte_paddr(*entry);
		}
		table[pte_index(vaddr, level)] = pte_make(paddr, flags);
		vaddr += size;
		paddr += size;
		bytes = bytes > size ? bytes - size : 0;
	}
}

/* The large pages in which [paddr, paddr + bytes) lies, of whose memory none is the cluster's. */
static void
early_map_shared(uint64_t *root, uint64_t base, uint64_t paddr, uint64_t bytes, uint64_t flags)
{
	uint64_t first = paddr & -(uint64_t)HAL_LARGE_BYTES;
	uint64_t end = (paddr + bytes + HAL_LARGE_BYTES - 1) & -(uint64_t)HAL_LARGE_BYTES;

	early_map(root, base + first, first, end - first, flags);
}

static void
early_map_memory(uint64_t *root)
{
	uint64_t start = (uint64_t)image_start, rodata = (uint64_t)image_rodata,
		data = (uint64_t)image_data;
	uint64_t end = start + hal_machine.mem_bytes;

	early_map(root, KERNEL_BASE, start, rodata - start, KERNEL_RX);
	early_map(root, KERNEL_BASE + (rodata - start), rodata, data - rodata, KERNEL_RO);
	early_map(root, KERNEL_BASE + (data - start), data, end - data, KERNEL_RW);
}

/* Where a core's page is mapped a second time. */
static uint64_t
stack_page(uint32_t core)
{
	return STACK_BASE + (core + 1) * (uint64_t)STACK_STRIDE + CORE_BYTES;
}

static void
early_map_stacks(uint64_t *root, uint32_t cores)
{
	early_map(root, stack_page(0) - CORE_BYTES, (uint64_t)image_stacks, CORE_BYTES, KERNEL_RW);
	for (uint32_t i = 0; i < cores; i++)
		early_map(root, stack_page(i), (uint64_t)&hal_core_slots[i], CORE_BYTES, KERNEL_RW);
}

static void
early_areas(const struct boot_cluster *c, uint64_t doorbells)
{
	for (uint32_t i = 0; i < c->cores; i++) {
		struct hal_core_area *a = hal_area_of(i);

		a->core = i;
		a->tick = UINT64_MAX;
		a->cluster = hal_machine.cluster;
		a->machine_core = c->first_core + i;
		a->satp = hal_kernel_satp;
		a->stack = stack_page(i) + STACK_BYTES;
		a->waiting = &((struct hal_doorbell *)doorbells)[i].waiting;
		a->ring = (uint32_t *)(DEVICE_BASE + hal_board_bells) + c->first_core + i;
	}
}

uint64_t hal_early(const struct boot_record *r, uint32_t cluster);

/* Returns the satp value of the kernel's own page table. */
uint64_t
hal_early(const struct boot_record *r, uint32_t cluster)
{
	const struct boot_cluster *c = &r->cluster[cluster];
	struct hal_machine *m = &hal_machine;
	uint64_t *root;

	m->record = (const struct boot_record *)(PHYS_BASE + (uint64_t)r);
	m->mem_base = c->mem_base;
	m->seen = KERNEL_BASE - c->mem_base;
	m->mem_bytes = c->mem_bytes;
	m->windows = r->noc_base;
	m->noc_window_bytes = r->noc_window_bytes;
	m->clusters = r->clusters;
	m->cluster = cluster;
	m->cores = c->cores;
	m->free = (uint64_t)image_end + c->cores * (uint64_t)CORE_BYTES;
	root = early_table();
	hal_kernel_satp = SATP_SV39 | (uint64_t)root >> 12;
	early_map_memory(root);
	early_map_stacks(root, c->cores);
	for (unsigned i = 0; i < hal_board_device_count; i++)
		early_map_shared(root, DEVICE_BASE, hal_board_devices[i].base,
			hal_board_devices[i].bytes, KERNEL_RW);
	early_map_shared(root, PHYS_BASE, (uint64_t)r, sizeof(*r), KERNEL_RO);
	early_map_shared(root, PHYS_BASE, r->archive_base, r->archive_bytes, KERNEL_RO);
	early_map_shared(root, PHYS_BASE, r->noc_base, r->noc_window_bytes * r->clusters,
		KERNEL_RW);
	m->windows += PHYS_BASE;
	m->device_base = DEVICE_BASE;
	for (unsigned i = PTE_KERNEL_HALF; i < PTE_ENTRIES; i++)
		m->rows |= (uint32_t)(root[i] & PTE_V) << (i - PTE_KERNEL_HALF) / 8;
	early_areas(c, (uint64_t)hal_noc_doorbell(cluster, 0));
	return hal_kernel_satp;
}

static void
early_put(const char *name, size_t len, uint64_t value)
{
	char text[20];
	unsigned n = 0;

	hal_console_write(name, len);
	for (int shift = 60; shift >= 0; shift -= 4)
		if (shift == 0 || value >> shift != 0)
			text[n++] = (char)((value >> shift & 15) < 10 ?
				'0' + (value >> shift & 15) : 'a' - 10 + (value >> shift & 15));
	text[n++] = ' ';
	hal_console_write(text, n);
}

void hal_early_trap(uint64_t cause, uint64_t pc, uint64_t value);

/* Something is wrong before translation is on: say so and end the machine. */
void
hal_early_trap(uint64_t cause, uint64_t pc, uint64_t value)
{
	hal_machine.device_base = 0;
	early_put("\nkernel: trap before start-up, cause ", 36, cause);
	early_put("pc ", 3, pc);
	early_put("value ", 6, value);
	hal_console_write("\n", 1);
	hal_machine_halt(1);
}
