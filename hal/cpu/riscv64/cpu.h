/* SPDX-License-Identifier: MIT
 *
 * What the files of the riscv64 back end share. Private to this folder. The back end has mutable
 * data of its own: each cluster runs its own copy of the image, so it is the cluster's.
 */
#ifndef CPU_RISCV64_H
#define CPU_RISCV64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <abi/boot.h>
#include <hal/atomic.h>
#include <hal/core.h>
#include <hal/mmu.h>
#include <hal/trap.h>
#include "layout.h"

#define csr_read(csr) \
	({ uint64_t v_; __asm__ volatile("csrr %0, " #csr : "=r"(v_) : : "memory"); v_; })
#define csr_write(csr, value) \
	__asm__ volatile("csrw " #csr ", %0" : : "r"((uint64_t)(value)) : "memory")
#define csr_set(csr, bits) \
	__asm__ volatile("csrs " #csr ", %0" : : "r"((uint64_t)(bits)) : "memory")
#define csr_clear(csr, bits) \
	__asm__ volatile("csrc " #csr ", %0" : : "r"((uint64_t)(bits)) : "memory")

/* page table entries */
#define PTE_V 1
#define PTE_R 2
#define PTE_W 4
#define PTE_X 8
#define PTE_U 16
/* accessed, dirty: set at once, no hardware update needed */
#define PTE_AD 0xc0
#define PTE_MAY_WRITE 0x100		/* for software: what hal_protect may give */
#define PTE_MAY_EXEC 0x200
#define PTE_LEAF (PTE_R | PTE_W | PTE_X)
#define PTE_ENTRIES 512
#define PTE_KERNEL_HALF 256		/* first entry of the top table that is the kernel's */
#define SATP_SV39 (8ULL << 60)

static inline uint64_t
pte_make(uint64_t paddr, uint64_t flags)
{
	return paddr >> 12 << 10 | flags | PTE_V;
}

/* The bits above the address are 0 in every entry that is made here. */
static inline uint64_t
pte_paddr(uint64_t pte)
{
	return pte >> 10 << 12;
}

static inline unsigned
pte_index(uint64_t vaddr, unsigned level)
{
	return vaddr >> (12 + 9 * level) & (PTE_ENTRIES - 1);
}

/* The machine as this cluster sees it; set by core 0 before anything else runs. */
struct hal_machine {
	const struct boot_record *record;
	uint64_t mem_base, mem_bytes;
	/* what an address in that memory is more here than outside */
	uint64_t seen;
	/* physical address of the first byte that the HAL did not take */
	uint64_t free;
	/* where cluster 0's NoC window appears; the others follow */
	uint64_t windows;
	uint64_t noc_window_bytes;
	uint64_t device_base;		/* where physical 0 appears to device accesses */
	uint32_t clusters;
	uint32_t cluster;
	uint32_t cores;
	uint32_t rows;			/* of the kernel's half of a top table: eights in use */
};

extern struct hal_machine hal_machine;
extern uint64_t hal_kernel_satp;

/* Interrupt a core of this cluster: INTERRUPT_*. */
void hal_core_ring(struct hal_core_area *a, uint32_t why);

/* lend.c: ask the machine start, which stays resident. It keeps what a function call keeps. */
int hal_monitor_ask(unsigned long what, unsigned long about);

/* Let this core stop for ever, asleep. */
_Noreturn void hal_core_stop(void);


/* trap.S, usercopy.S */
_Noreturn void hal_resume(void);
long hal_frame_resume_slowly(struct hal_frame *f);
void hal_fp_load(const struct hal_frame *f);
void hal_fp_clear(void);
int hal_copy_user(void *to, const void *from, size_t len);
int hal_touch_user(uintptr_t first, uintptr_t last);
int hal_load_user(const void *from, uint32_t *value);

#endif
