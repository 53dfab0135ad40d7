/* SPDX-License-Identifier: MIT
 *
 * Machine start: every hart begins here in M-mode. Traps to M-mode come here, too: the order to
 * stop, a call of cluster 0's kernel, or what ends in a report.
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
	li	a1, 0
	.globl boot_again
boot_again:
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

/* void boot_enter(core, cluster, record, entry): leave M-mode, until the hart is ordered to stop */
	.globl boot_enter
boot_enter:
	csrw	mepc, a3
	li	t0, 3 << 11 | 1 << 7 | 1 << 3	/* MPP, MPIE, MIE */
	csrc	mstatus, t0
	li	t0, 1 << 11			/* MPP = S */
	csrs	mstatus, t0
	li	t0, MIE_MSIE
	csrw	mie, t0
	csrw	satp, zero
	sfence.vma
	fence.i
	li	sp, 0
	mret

/*
 * An order to stop keeps nothing. A call is a function call for who makes it: a0 and a1 hold its
 * arguments, and what a function may change is free.
 */
	.balign 4
boot_trap:
	csrrw	sp, mscratch, sp
	csrr	t0, mcause
	li	t1, CAUSE_MSI
	beq	t0, t1, 1f
	li	t1, CAUSE_KERNEL_CALL
	beq	t0, t1, 2f
	mv	a0, t0
	csrr	a1, mepc
	csrr	a2, mtval
	call	boot_report_trap
	j	boot_sleep
1:	call	monitor_interrupt
2:	csrr	t0, mepc
	addi	t0, t0, 4
	csrw	mepc, t0
	call	monitor_call
	csrrw	sp, mscratch, sp
	mret
