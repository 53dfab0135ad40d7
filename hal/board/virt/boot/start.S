/* SPDX-License-Identifier: MIT
 *
 * Machine start: every hart begins here in M-mode, and every trap in M-mode ends here in a report.
 */
#include <abi/limits.abi.h>
#include "../virt.h"
#include "boot.h"

	.section .text.start, "ax"
	.globl boot_start
boot_start:
	csrw	mie, zero
	csrr	a0, mhartid
	li	t0, CORES_MAX
	bgeu	a0, t0, boot_sleep
	la	t0, boot_trap
	csrw	mtvec, t0
	la	sp, boot_stacks
	addi	t0, a0, 1
	slli	t0, t0, BOOT_STACK_SHIFT
	add	sp, sp, t0
	csrw	mscratch, sp
	call	boot_main		/* enters the kernel or returns: a hart of no cluster */

	.globl boot_sleep
boot_sleep:
	csrw	mie, zero
1:	wfi
	j	1b

/* void boot_enter(core, cluster, record, entry): leave M-mode for ever */
	.globl boot_enter
boot_enter:
	csrw	mepc, a3
	li	t0, 3 << 11 | 1 << 7 | 1 << 3	/* MPP, MPIE, MIE */
	csrc	mstatus, t0
	li	t0, 1 << 11			/* MPP = S */
	csrs	mstatus, t0
	csrw	mie, zero
	csrw	satp, zero
	sfence.vma
	fence.i
	li	sp, 0
	mret

/* Nothing traps to M-mode unless something is wrong. */
	.balign 4
boot_trap:
	csrrw	sp, mscratch, sp
	csrr	a0, mcause
	csrr	a1, mepc
	csrr	a2, mtval
	call	boot_report_trap
	j	boot_sleep
