/* SPDX-License-Identifier: MIT
 *
 * Cores that are lent to a program as bare hardware: what the kernel gets back with the core is
 * kept here, where the program cannot reach it.
 */
#include <abi/errors.h>
#include "../virt.h"
#include "boot.h"

/* of mstatus: interrupts and floating point of S-mode, and what it may reach of U-mode's pages */
#define MSTATUS_SIE 0x2
#define MSTATUS_SPIE 0x20
#define MSTATUS_MPP_S 0x800
#define MSTATUS_MPP 0x1800
#define MSTATUS_FS 0x6000
#define MSTATUS_FS_INITIAL 0x2000
#define MSTATUS_SUM_MXR 0xc0000

static struct lent {
	bool is_lent;
	uint64_t pc, sp, tp, satp, stvec, mstatus;
} lent[CORES_MAX];

static struct lent *
own(void)
{
	return &lent[csr_read(mhartid)];
}

static const struct boot_cluster *
own_cluster(const struct boot_record *r)
{
	unsigned hart = (unsigned)csr_read(mhartid), i = 0;

	while (hart - r->cluster[i].first_core >= r->cluster[i].cores)
		i++;
	return &r->cluster[i];
}

bool
lend_is_lent(void)
{
	return own()->is_lent;
}

void
lend_forget(void)
{
	own()->is_lent = false;
}

static bool
lend_is_inside(const struct boot_cluster *c, uint64_t base, uint64_t bytes, uint64_t entry)
{
	return bytes >= VIRT_PAGE && (bytes & (bytes - 1)) == 0 && (base & (bytes - 1)) == 0 &&
		base >= c->mem_base && bytes <= c->mem_bytes &&
		base - c->mem_base <= c->mem_bytes - bytes && entry < bytes && (entry & 1) == 0;
}

long
lend_core(const struct boot_record *r, const uint64_t *args)
{
	struct lent *l = own();
	uint64_t base = args[1], bytes = args[2], entry = args[3], arg = args[4];

	if (!lend_is_inside(own_cluster(r), base, bytes, entry))
		return -E_INVAL;
	l->pc = csr_read(mepc);
	l->sp = csr_read(mscratch);
	__asm__("mv %0, tp" : "=r"(l->tp));
	l->satp = csr_read(satp);
	l->stvec = csr_read(stvec);
	l->mstatus = csr_read(mstatus);
	l->is_lent = true;
	csr_write(satp, 0);
	csr_write(stvec, 0);
	csr_write(sie, 0);
	csr_write(mstatus, (l->mstatus & ~(uint64_t)(MSTATUS_SIE | MSTATUS_SPIE | MSTATUS_FS |
		MSTATUS_SUM_MXR)) | MSTATUS_FS_INITIAL);
	boot_delegate(true);
	boot_fence_piece(base, bytes);
	boot_leave(arg, base, bytes, base + entry);
}

void
lend_take_back(long result)
{
	struct lent *l = own();
	const struct boot_record *r = (const struct boot_record *)VIRT_RECORD;

	if (!l->is_lent)
		return;
	l->is_lent = false;
	boot_fence(r, own_cluster(r));
	boot_delegate(false);
	csr_write(stvec, l->stvec);
	csr_write(mstatus, (l->mstatus & ~(uint64_t)MSTATUS_MPP) | MSTATUS_MPP_S);
	csr_write(satp, l->satp);
	__asm__ volatile("sfence.vma" : : : "memory");
	boot_return(result, l->pc, l->sp, l->tp);
}
