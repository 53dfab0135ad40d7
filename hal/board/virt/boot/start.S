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
 * What a function may change is saved: an order may come anywhere, and then mean nothing any more.
 * A call gets its arguments and leaves its result in what is saved of a0 to a4.
 */
	.macro saved op
	\op	a0, 0(sp)
	\op	a1, 8(sp)
	\op	a2, 16(sp)
	\op	a3, 24(sp)
	\op	a4, 32(sp)
	\op	a5, 40(sp)
	\op	a6, 48(sp)
	\op	a7, 56(sp)
	\op	ra, 64(sp)
	\op	t0, 72(sp)
	\op	t1, 80(sp)
	\op	t2, 88(sp)
	\op	t3, 96(sp)
	\op	t4, 104(sp)
	\op	t5, 112(sp)
	\op	t6, 120(sp)
	.endm

	.balign 4
boot_trap:
	csrrw	sp, mscratch, sp
	addi	sp, sp, -SAVED_BYTES
	saved	sd
	csrr	t0, mcause
	li	t1, CAUSE_MSI
	beq	t0, t1, 1f
	li	t1, CAUSE_KERNEL_CALL
	beq	t0, t1, 2f
	li	t1, CAUSE_FETCH_ACCESS
	bne	t0, t1, 4f
	call	monitor_fetch		/* returns: it is nothing that is waited for */
	csrr	t0, mcause
4:	mv	a0, t0
	csrr	a1, mepc
	csrr	a2, mtval
	call	boot_report_trap
	j	boot_sleep
1:	call	monitor_interrupt
	j	3f
2:	csrr	t0, mepc
	addi	t0, t0, 4
	csrw	mepc, t0
	mv	a0, sp
	call	monitor_call
	sd	a0, 0(sp)
3:	saved	ld
	addi	sp, sp, SAVED_BYTES
	csrrw	sp, mscratch, sp
	mret

/* The stack of this hart is empty again. */
	.macro stack_empty
	csrr	t0, mhartid
	addi	t0, t0, 1
	slli	t0, t0, BOOT_STACK_SHIFT
	la	t1, boot_stacks
	add	t0, t0, t1
	csrw	mscratch, t0
	.endm

/* void boot_leave(arg, base, bytes, pc): nothing of the kernel's is left in a register */
	.globl boot_leave
boot_leave:
	csrw	mepc, a3
	stack_empty
	.irp	n, 1,2,3,4,5,6,7,8,9,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	li	x\n, 0
	.endr
	fence.i
	mret

/* void boot_return(result, pc, sp, tp): the kernel's call returns; it knows nothing of the rest */
	.globl boot_return
boot_return:
	csrw	mepc, a1
	stack_empty
	mv	sp, a2
	mv	tp, a3
	fence.i
	mret
