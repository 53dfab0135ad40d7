/* SPDX-License-Identifier: MIT
 *
 * Head of the kernel image and the first instructions of every core in S-mode, translation off.
 * Core 0 builds the page tables and goes on; the others sleep until hal_core_start.
 */
#include <hal/board.h>
#include "layout.h"

	.section .image, "ax"
	.globl hal_image
hal_image:
	.word	HAL_IMAGE_MAGIC
	.word	start - hal_image
	.quad	image_file_end - image_start
	.quad	image_end - image_start
	.quad	CORE_BYTES

/*
 * a0 core, a1 cluster, a2 boot record (physical). Every address is still physical: pc-relative code
 * only.
 */
start:
	csrw	sie, zero
	csrw	sscratch, zero
	/* nobody saves vector registers: user code has none */
	li	t0, SSTATUS_SUM | SSTATUS_VS
	csrc	sstatus, t0
	csrci	sstatus, 2		/* SIE */
	li	t0, SSTATUS_FS_CLEAN
	csrs	sstatus, t0
	li	t0, SCOUNTEREN
	csrw	scounteren, t0
	li	t0, -1
	csrw	STIMECMP, t0
	lla	t0, early_trap
	csrw	stvec, t0
	lla	tp, image_end
	addi	t0, a0, 1
	li	t1, CORE_BYTES
	mul	t0, t0, t1
	add	tp, tp, t0
	addi	tp, tp, -(AREA_BYTES + RECORD_BYTES)
	mv	sp, tp
	csrwi	sie, SIP_SSIP		/* doorbells end a wfi; they trap in user mode only */
	bnez	a0, sleep
	mv	a0, a2
	call	hal_early		/* (record, cluster): page tables; returns satp */
	la	a1, hal_main
	j	translate

sleep:	csrci	sip, SIP_SSIP
	fence	rw, rw
	lw	t0, AREA_STARTED(tp)
	bnez	t0, 1f
	wfi
	j	sleep
1:	fence	rw, rw
	lla	t0, hal_kernel_satp
	ld	a0, 0(t0)
	la	a1, hal_main

/* a0 satp, a1 where to go (physical): turn translation on by a page fault at its first fetch. */
translate:
	lla	t0, image_start
	li	t1, KERNEL_BASE
	sub	t1, t1, t0		/* virtual - physical */
	add	tp, tp, t1
	add	a1, a1, t1
	lla	t2, 1f
	add	t2, t2, t1
	csrw	stvec, t2
	sfence.vma
	csrw	satp, a0
	.balign 4
1:	sfence.vma
	li	t0, SSTATUS_SPP		/* of this fault; each sret leaves it clear */
	csrc	sstatus, t0
	la	t0, hal_trap
	csrw	stvec, t0
	ld	sp, AREA_STACK(tp)
	jr	a1

/* A trap before the kernel can report one. */
	.balign 4
early_trap:
	csrr	a0, scause
	csrr	a1, sepc
	csrr	a2, stval
	lla	t0, 1f
	csrw	stvec, t0		/* only cluster 0 may end the machine */
	call	hal_early_trap
	.balign 4
1:	wfi
	j	1b
